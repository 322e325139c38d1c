"""Two kinds of rows: the loads of one iteration, and mean idle shares with the calibrated step times."""

import pandas as pd

from lbtheory.study.means import over_seeds

MEANS = ["barrier_idle", "barrier_idle_time", "t_fixed", "t_token", "imbalance"]
COLUMNS = {
    "what": "what",
    "workload": "workload",
    "workers": "G",
    "policy": "policy",
    "worker": "worker",
    "load": "tokens",
    "barrier_idle": "idle, token work",
    "barrier_idle_time": "idle, execution time",
    "imbalance": "mean imbalance",
    "t_fixed": "t_fixed s",
    "t_token": "t_token s",
    "wait_max": "longest wait, iterations",
}


def table(records):
    """Loads, then idle shares."""
    data = pd.DataFrame(records)
    shots, runs = data[data["iteration"].notna()], data[data["iteration"].isna()]
    workers = [c for c in data.columns if c.startswith("worker_")]
    loads = [
        {"what": "load", "workload": row["workload"], "workers": 32, "policy": row["policy"], "worker": g, "load": row[name]}
        for _, row in shots.iterrows()
        for g, name in enumerate(workers)
    ]
    idle = over_seeds(runs, ["workload", "workers", "policy"], MEANS, largest=["wait_max"]).assign(what="idle")
    return pd.concat([pd.DataFrame(loads), idle], ignore_index=True).reindex(columns=list(COLUMNS))
