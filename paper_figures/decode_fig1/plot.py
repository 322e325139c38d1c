"""Loads of 32 workers in one iteration, and idle shares."""

from lbtheory.plots.sweeps import worker_loads

TITLE = "Figure 1: loads of 32 workers and idle time at the barrier"
REFERENCE = "decode paper, Figure 1"

COLUMNS = {
    "workload": "workload",
    "workers": "G",
    "policy": "policy",
    "barrier_idle": "idle, share of token work",
    "barrier_idle_time": "idle, share of execution time",
    "needed": "t_fixed ms at which it would be 40 %",
    "t_fixed": "t_fixed s",
    "t_token": "t_token s",
    "published": "published, execution time",
    "wait_max": "longest wait, iterations",
}


def compare(tables):
    """Idle shares; the fixed time at which idle would take 40 % of execution time, where that is possible."""
    rows = tables["decode-fig1"]
    rows = rows[rows["what"] == "idle"].copy()
    # share = t_token I/G / (t_fixed + t_token M): solve for t_fixed, with M = (I/G) / idle share of token work (ratio of means)
    wasted = rows["t_token"] * rows["imbalance"] / rows["workers"]
    rows["needed"] = 1e3 * (wasted / 0.4 - (wasted / rows["barrier_idle_time"] - rows["t_fixed"]))
    rows["needed"] = rows["needed"].where(rows["needed"] >= 0)
    rows["published"] = [
        0.4 if policy == "jsq" and g == 32 else None for policy, g in zip(rows["policy"], rows["workers"], strict=True)
    ]
    return rows[list(COLUMNS)]


def draw(tables):
    """A panel a workload."""
    rows = tables["decode-fig1"]
    return worker_loads(rows[rows["what"] == "load"])


def numbers(tables):
    """Idle shares of Count-JSQ."""
    rows = compare(tables).set_index(["workload", "workers", "policy"])
    found = {}
    for name, workload in (("prop", "proprietary-like"), ("azure", "azure2024-like")):
        for g in (8, 32):
            found[f"{name}_work_{g}"] = 100 * rows.loc[(workload, g, "jsq"), "barrier_idle"]
            found[f"{name}_time_{g}"] = 100 * rows.loc[(workload, g, "jsq"), "barrier_idle_time"]
    return found
