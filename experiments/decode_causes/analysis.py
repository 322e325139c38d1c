"""Means over seeds by factor and value."""

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
    "wait_max": "longest wait, iterations",
}


def table(records):
    """One row a factor, value and policy."""
    keys = ["factor", "value", "policy"]
    return over_seeds(pd.DataFrame(records), keys, ["barrier_idle"], ["imbalance", "ratio"], ["wait_max"])[list(COLUMNS)]
