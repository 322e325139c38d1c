"""Waits when each request is bound to a worker on release, against one common queue."""

from lbtheory.plots.sweeps import curves

TITLE = "Robustness: separate queues"
REFERENCE = "lbtheory; the decode paper's router has one common queue"
TABLES = ("robustness",)

LABELS = {
    "jsq": "common queue, JSQ",
    "level-plus": "common queue, LEVEL+",
    "separate": "separate, fewest requests",
    "separate:bind=rr": "separate, in turn",
    "separate:bind=tokens": "separate, fewest tokens",
}
TINTS = {"separate": "#1a1a1a", "separate:bind=rr": "#8a8a8a", "separate:bind=tokens": "#009e73"}
COLUMNS = {
    "value": "load",
    "method": "method",
    "occupancy": "share of slots in use",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait, iterations",
    "throughput": "tok/s",
}


def compare(tables):
    """One row a load and method."""
    rows = _rows(tables)
    rows["method"] = rows["policy"].map(LABELS)
    return rows[list(COLUMNS)]


def draw(tables):
    """Mean waits on the left, ratios of imbalance on the right."""
    import pandas as pd

    rows = _rows(tables)
    parts = [
        rows.assign(shown=rows["wait_mean"], panel="mean wait, iterations"),
        rows.assign(shown=rows["ratio"], panel="imbalance of JSQ ÷"),
    ]
    return curves(
        pd.concat(parts),
        x="value",
        y="shown",
        series="policy",
        panel="panel",
        labels=LABELS,
        tints=TINTS,
        xlabel="load, share of the rate that fills all slots",
        across=2,
        height=2.6,
        sharey=False,
    )


def numbers(tables):
    """Waits and ratios at 60 and 90 % load."""
    rows = _rows(tables).set_index(["value", "policy"])
    found = {}
    for load, when in ((0.6, "six"), (0.9, "nine")):
        for key, policy in (
            ("jsq", "jsq"),
            ("plus", "level-plus"),
            ("join", "separate"),
            ("rr", "separate:bind=rr"),
            ("tokens", "separate:bind=tokens"),
        ):
            row = rows.loc[(load, policy)]
            found |= {
                f"{key}_wait_{when}": row["wait_mean"],
                f"{key}_{when}": row["ratio"],
                f"{key}_used_{when}": 100 * row["occupancy"],
            }
    return found


def _rows(tables):
    rows = tables["robustness"]
    return rows[(rows["factor"] == "load") & rows["policy"].isin(LABELS)].copy()
