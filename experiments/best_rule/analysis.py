"""One row a system and policy: imbalance over that of LEVEL+."""

import pandas as pd

from lbtheory.study.means import over_seeds

KEYS = ["part", "workload", "workers", "slots", "policy"]
COLUMNS = {
    "part": "part",
    "workload": "workload",
    "workers": "G",
    "slots": "B",
    "control": "control β²/ν²",
    "policy": "policy",
    "imbalance": "mean imbalance",
    "relative": "÷ LEVEL+",
    "relative_low": "low",
    "relative_high": "high",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait, iterations",
    "mean_admitted": "mean admitted prompt",
    "mean_offered": "mean offered prompt",
}


def table(records):
    """Means over seeds; the imbalance of each rule less that of LEVEL+ is paired, relative to the mean of LEVEL+."""
    data = over_seeds(
        pd.DataFrame(records),
        KEYS,
        ["control", "wait_mean", "mean_admitted", "mean_offered"],
        ["imbalance", "excess"],
        ["wait_max"],
    )
    first = data[data["policy"] == "level-plus"].set_index(KEYS[:-1])["imbalance"]
    base = data.set_index(KEYS[:-1]).index.map(first).to_numpy()
    data["relative"] = 1 + data["excess"] / base
    data["relative_low"] = (data["relative"] - data["excess_half"] / base).clip(lower=0)
    data["relative_high"] = data["relative"] + data["excess_half"] / base
    return data[list(COLUMNS)]
