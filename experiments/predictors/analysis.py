"""One tidy table of five kinds of rows: accuracy, calibration, cost, censoring, regret."""

import pandas as pd

from lbtheory.study.means import over_seeds

COLUMNS = {
    "what": "what",
    "workload": "workload",
    "family": "rule",
    "forecast": "forecast",
    "bucket": "age",
    "looks": "looks",
    "finishing": "share finishing within H",
    "mae": "MAE",
    "rmse": "RMSE",
    "bias": "bias",
    "brier": "Brier",
    "auc": "AUC",
    "chance": "mean p̂",
    "iteration": "iteration",
    "imbalance": "mean imbalance",
    "imbalance_half": "±",
    "excess": "imbalance − oracle's",
    "excess_half": "±",
    "wait_max": "longest wait, iterations",
    "bytes": "bytes",
    "fit_seconds": "seconds to fit",
    "nanoseconds": "ns a forecast",
}
MEASURED = ("fit_seconds", "nanoseconds")


def table(records):
    """Regrets are averaged over seeds; the rest is as it was recorded."""
    data = pd.DataFrame(records)
    runs, rest = data[data["what"].isna()].copy(), data[data["what"].notna()].copy()
    rest["forecast"] = rest["predictor"]
    runs["family"] = [_family(name) for name in runs["policy"]]
    runs["forecast"] = [_forecast(name) for name in runs["policy"]]
    means = over_seeds(runs, ["workload", "family", "forecast"], [], ["imbalance", "excess"], ["wait_max"])
    result = pd.concat([rest, means.assign(what="regret")], ignore_index=True)
    return result.reindex(columns=list(COLUMNS))


def _family(policy):
    return "BR-H" if policy.startswith("br") else "LEVEL-H+"


def _forecast(policy):
    return policy.partition("predictor=")[2] or "none"
