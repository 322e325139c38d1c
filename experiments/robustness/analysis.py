"""Means over seeds by factor, value and policy; gains over JSQ are paired by seed."""

import numpy as np
import pandas as pd
from scipy.stats import t

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
    "throughput_gain": "tok/s over JSQ, %",
    "throughput_gain_half": "±",
    "tpot_p95": "TPOT P95 s",
    "tpot_gain": "TPOT P95 over JSQ, %",
    "tpot_gain_half": "±",
    "occupancy": "share of slots in use",
    "paused": "share of requests paused",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait, iterations",
}


def table(records):
    """One row a factor, value and policy."""
    keys = ["factor", "value", "policy"]
    data = pd.DataFrame(records)
    for name, column in (("throughput_gain", "throughput"), ("tpot_gain", "tpot_p95")):
        reference = data[column].where(data["policy"] == "jsq").groupby([data[k] for k in ("factor", "value", "seed")])
        data[name] = 100 * (data[column] / reference.transform("max") - 1)
    rows = over_seeds(data, keys, [*MEANS, "throughput_gain", "tpot_gain"], ["imbalance", "ratio"], ["wait_max"])
    groups = data.groupby(keys, sort=False)
    for name in ("throughput_gain", "tpot_gain"):
        rows[f"{name}_half"] = groups[name].agg(_half).to_numpy()
    return rows[list(COLUMNS)]


def _half(values):
    """Half-width of the 95 % interval of the mean over independent seeds; NaN for one seed."""
    n = len(values)
    return t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
