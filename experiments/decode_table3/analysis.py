"""Means over seeds; half-widths of independent runs combine in quadrature."""

import numpy as np
import pandas as pd

KEYS = ["workload", "policy", "overtake"]
MEANS = [
    "imbalance",
    "ratio",
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
    data["overtake"] = data["overtake"].map(lambda cap: "none" if cap is None or cap != cap else str(int(cap)))
    for name in ("imbalance", "ratio"):
        data[f"{name}_half"] = (data[f"{name}_high"].astype(float) - data[f"{name}_low"].astype(float)) / 2
    groups = data.groupby(KEYS, sort=False)
    result = groups[MEANS].mean()
    for name in ("imbalance", "ratio"):
        result[f"{name}_half"] = groups[f"{name}_half"].agg(lambda h: np.sqrt((h**2).sum()) / len(h)).fillna(0.0)
    result["wait_max"] = groups["wait_max"].max()
    return result.reset_index()[list(COLUMNS)]
