"""Means over seeds, by system, cap and policy."""

import pandas as pd

from lbtheory.study.means import cap_names, over_seeds

KEYS = ["factor", "workload", "workers", "slots", "overtake", "policy"]
COLUMNS = {
    "factor": "part",
    "workload": "workload",
    "workers": "G",
    "slots": "B",
    "overtake": "cap D",
    "policy": "policy",
    "imbalance": "mean imbalance",
    "imbalance_half": "±",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "barrier_idle": "idle, token work",
    "tpot_p95": "TPOT P95 s",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait, iterations",
    "mean_admitted": "mean admitted prompt",
    "mean_offered": "mean offered prompt",
}


def table(records):
    """One row a system, cap and policy."""
    data = pd.DataFrame(records)
    data["overtake"] = cap_names(data["overtake"])
    means = ["barrier_idle", "tpot_p95", "wait_mean", "mean_admitted", "mean_offered"]
    return over_seeds(data, KEYS, means, ["imbalance", "ratio"], ["wait_max"])[list(COLUMNS)]
