"""Means over seeds; the swept value is read from the options of each policy."""

import pandas as pd

from lbtheory.study.means import over_seeds

OPTION = {"published β": "beta", "published γ": "gamma", "H": "horizon", "S_greedy": "greedy", "R_max": "window", "map": "beta"}
MEANS = ["tpot_p95", "throughput", "barrier_idle"]
COLUMNS = {
    "factor": "swept",
    "workers": "G",
    "value": "value",
    "series": "forecast or γ",
    "policy": "policy",
    "imbalance": "mean imbalance",
    "imbalance_half": "±",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "tpot_p95": "TPOT P95 s",
    "throughput": "tok/s",
    "wait_max": "longest wait, iterations",
}


def table(records):
    """One row a sweep, number of workers and policy."""
    rows = over_seeds(pd.DataFrame(records), ["factor", "workers", "policy"], MEANS, ["imbalance", "ratio"], ["wait_max"])
    options = [dict(item.split("=", 1) for item in p.partition(":")[2].split(",") if item) for p in rows["policy"]]
    rows["value"] = [
        float(o[OPTION[f]]) if o and f in OPTION else float("nan") for f, o in zip(rows["factor"], options, strict=True)
    ]
    rows["series"] = [
        o.get("gamma") if f == "map" else o.get("predictor", "oracle") if o else "none"
        for f, o in zip(rows["factor"], options, strict=True)
    ]
    return rows[list(COLUMNS)]
