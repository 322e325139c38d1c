"""Cells over time through three disruptions."""

import pandas as pd

from lbtheory.plots.cell_runs import timelines

TITLE = "Per-cell load, latency and errors through a burst, an outage and an unhealthy cell"
REFERENCE = "DLB paper, sections 3.4 and 5.4; the figure is ours"

WINDOWS = ((60, 120, "burst"), (180, 240, "outage"), (300, 360, "unhealthy"))
SWITCHED = "mnlb,flow-grad@150"
QUIET = ((120, 150, "quiet, before the switch"), (150, 180, "quiet, after the switch"))
COLUMNS = {"policy": "policy", "aversion": "aversion", "window": "window", "latency": "mean latency, s", "errors": "errors"}


def draw(tables):
    """A column a run."""
    return timelines(tables["timeline"], WINDOWS)


def compare(tables):
    """Mean latency and error rate of each run in each window and in the quiet time around the switch, weighted by requests."""
    data = tables["timeline"]
    rows = []
    for (policy, aversion), part in data.groupby(["policy", "aversion"], sort=False):
        for start, end, text in sorted([*WINDOWS, *QUIET]):
            inside = part[(part["time"] >= start) & (part["time"] < end)].fillna({"latency": 0.0, "errors": 0.0})
            done = inside["sent"] * (1 - inside["errors"])
            rows.append(
                {
                    "policy": policy,
                    "aversion": bool(aversion),
                    "window": text,
                    "latency": (inside["latency"] * done).sum() / done.sum(),
                    "errors": (inside["errors"] * inside["sent"]).sum() / inside["sent"].sum(),
                }
            )
    return pd.DataFrame(rows)


def numbers(tables):
    """Numbers of the caption."""
    rows = compare(tables).set_index(["policy", "aversion", "window"])
    return {
        "off": rows.loc[("flow-grad", False, "unhealthy"), "errors"],
        "on": rows.loc[("flow-grad", True, "unhealthy"), "errors"],
        "mnlb": rows.loc[("mnlb", True, "unhealthy"), "errors"],
        "burst_mnlb": rows.loc[("mnlb", True, "burst"), "latency"],
        "burst_grad": rows.loc[("flow-grad", True, "burst"), "latency"],
        "outage_mnlb": rows.loc[("mnlb", True, "outage"), "latency"],
        "outage_grad": rows.loc[("flow-grad", True, "outage"), "latency"],
        "outage_switched": rows.loc[(SWITCHED, True, "outage"), "latency"],
        "before": rows.loc[(SWITCHED, True, QUIET[0][2]), "latency"],
        "after": rows.loc[(SWITCHED, True, QUIET[1][2]), "latency"],
        "after_mnlb": rows.loc[("mnlb", True, QUIET[1][2]), "latency"],
        "after_grad": rows.loc[("flow-grad", True, QUIET[1][2]), "latency"],
    }
