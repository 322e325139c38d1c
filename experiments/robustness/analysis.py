"""Means over seeds by factor, value and policy."""

import pandas as pd

from lbtheory.study.means import over_seeds

COLUMNS = {
    "factor": "factor",
    "value": "value",
    "policy": "policy",
    "imbalance": "mean imbalance",
    "imbalance_half": "±",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "barrier_idle": "idle, token work",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait, iterations",
}


def table(records):
    """One row a factor, value and policy."""
    keys = ["factor", "value", "policy"]
    means = ["barrier_idle", "wait_mean"]
    return over_seeds(pd.DataFrame(records), keys, means, ["imbalance", "ratio"], ["wait_max"])[list(COLUMNS)]
