"""Means over seeds by factor, value and policy."""

import pandas as pd

from lbtheory.study.means import over_seeds

MEANS = ["barrier_idle", "barrier_idle_time", "throughput", "tpot_p95", "occupancy", "paused", "wait_mean"]
COLUMNS = {
    "factor": "factor",
    "value": "value",
    "policy": "policy",
    "imbalance": "mean imbalance",
    "imbalance_half": "±",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "barrier_idle": "idle, token work",
    "barrier_idle_time": "idle, time",
    "throughput": "tok/s",
    "tpot_p95": "TPOT P95 s",
    "occupancy": "share of slots in use",
    "paused": "share of requests paused",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait, iterations",
}


def table(records):
    """One row a factor, value and policy."""
    keys = ["factor", "value", "policy"]
    return over_seeds(pd.DataFrame(records), keys, MEANS, ["imbalance", "ratio"], ["wait_max"])[list(COLUMNS)]
