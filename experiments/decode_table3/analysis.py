"""Means over seeds; half-widths of independent runs combine in quadrature."""

import pandas as pd

from lbtheory.study.means import cap_names, over_seeds

KEYS = ["part", "workload", "policy", "overtake"]
MEANS = [
    "tpot_p95",
    "throughput",
    "barrier_idle",
    "barrier_idle_time",
    "wait_mean",
    "prompt_cv",
    "t_fixed",
    "t_token",
]
COLUMNS = {
    "part": "part",
    "workload": "workload",
    "policy": "policy",
    "overtake": "cap D",
    "imbalance": "mean imbalance",
    "imbalance_half": "±",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "tpot_p95": "TPOT P95 s",
    "throughput": "tok/s",
    "barrier_idle": "idle, token work",
    "barrier_idle_time": "idle, time",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait, iterations",
    "prompt_cv": "prompt CV",
    "t_fixed": "t_fixed s",
    "t_token": "t_token s",
}


def table(records):
    """One row a workload, policy and cap, in the order of the sweep."""
    data = pd.DataFrame(records)
    data["part"] = data["factor"].fillna("calibrated") if "factor" in data else "calibrated"
    data["overtake"] = cap_names(data["overtake"])
    return over_seeds(data, KEYS, MEANS, ["imbalance", "ratio"], ["wait_max"])[list(COLUMNS)]
