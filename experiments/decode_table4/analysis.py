"""Means over seeds, and the gain in throughput over the best baseline of each configuration."""

import pandas as pd

from lbtheory.study.means import cap_names, over_seeds

KEYS = ["part", "workload", "workers", "policy", "overtake"]
MEANS = ["tpot_p95", "throughput", "barrier_idle", "barrier_idle_time", "wait_mean"]
BASELINES = ("random", "rr", "p2c", "jsq")
COLUMNS = {
    "part": "part",
    "workload": "workload",
    "workers": "G",
    "policy": "policy",
    "overtake": "cap D",
    "imbalance": "mean imbalance",
    "imbalance_half": "±",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "tpot_p95": "TPOT P95 s",
    "throughput": "tok/s",
    "gain": "tok/s over best baseline, %",
    "barrier_idle": "idle, token work",
    "barrier_idle_time": "idle, time",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait, iterations",
}


def table(records):
    """One row a number of workers, policy and cap."""
    data = pd.DataFrame(records)
    data["part"] = data["factor"].fillna("calibrated") if "factor" in data else "calibrated"
    data["overtake"] = cap_names(data["overtake"])
    rows = over_seeds(data, KEYS, MEANS, ["imbalance", "ratio"], ["wait_max"])
    best = rows[rows["policy"].isin(BASELINES)].groupby(["workload", "workers", "overtake"])["throughput"].max()
    against = [best[(row.workload, row.workers, row.overtake)] for row in rows.itertuples()]
    rows["gain"] = 100 * (rows["throughput"] / against - 1)
    return rows[list(COLUMNS)]
