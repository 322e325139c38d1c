"""Throughput and latency when heavy workers may pause requests, against the threshold of pausing."""

import pandas as pd

from lbtheory.plots.sweeps import curves

TITLE = "Robustness: a relaxed barrier"
REFERENCE = "lbtheory; the decode paper's conclusion lists it as open"
TABLES = ("robustness",)

LABELS = {
    "jsq": "JSQ with pauses",
    "level-plus": "LEVEL+ with pauses",
    "level-plus, full barrier": "LEVEL+, full barrier",
}
TINTS = {"level-plus, full barrier": "#f2b27a"}
COLUMNS = {
    "panel": "step time",
    "value": "δ",
    "method": "method",
    "paused": "share of requests paused",
    "throughput_gain": "tok/s over JSQ, %",
    "throughput_gain_half": "±",
    "tpot_gain": "TPOT P95 over JSQ, %",
    "tpot_gain_half": "±",
    "barrier_idle_time": "idle, time",
}


def compare(tables):
    """One row a step time, δ and method; gains against JSQ with the full barrier."""
    return _rows(tables)[list(COLUMNS)]


def draw(tables):
    """Throughput above, TPOT below; a column a step time."""
    rows = _rows(tables)
    parts = [
        rows.assign(
            gain=rows[column],
            low=rows[column] - rows[f"{column}_half"],
            high=rows[column] + rows[f"{column}_half"],
            panel=name + rows["panel"],
        )
        for name, column in (("throughput, ", "throughput_gain"), ("TPOT P95, ", "tpot_gain"))
    ]
    return curves(
        pd.concat(parts),
        x="value",
        y="gain",
        series="method",
        panel="panel",
        labels=LABELS,
        tints=TINTS,
        xlabel="δ: pauses above 1 + δ times the mean load",
        ylabel="% over JSQ",
        reference=0.0,
        across=2,
        height=2.2,
        sharey=False,
    )


def numbers(tables):
    """JSQ and LEVEL+ with pauses at their best threshold and at 0, and LEVEL+ without, by step time."""
    rows = _rows(tables)
    found = {}
    for key, panel in zip(("calibrated", "token"), dict.fromkeys(rows["panel"]), strict=True):
        part = rows[rows["panel"] == panel]
        by = {name: part[part["method"] == name] for name in LABELS}
        shown = {"full": by["level-plus, full barrier"].iloc[0], "strict": by["jsq"].iloc[0]}
        shown |= {
            name: by[rule].loc[by[rule]["throughput_gain"].idxmax()] for name, rule in (("best", "jsq"), ("both", "level-plus"))
        }
        for name, row in shown.items():
            found |= {f"{key}_{name}": row["throughput_gain"], f"{key}_{name}_half": row["throughput_gain_half"]}
            found |= {
                f"{key}_{name}_tpot": row["tpot_gain"],
                f"{key}_{name}_at": row["value"],
                f"{key}_{name}_paused": 100 * row["paused"],
            }
    return found


def _rows(tables):
    rows = tables["robustness"]
    rows = rows[rows["factor"].str.startswith("pause, ")].copy()
    rows["panel"] = rows["factor"].str.removeprefix("pause, ")
    paused = rows["policy"].str.contains("pause=")
    rows["method"] = rows["policy"].str.partition(":")[0] + paused.map({True: "", False: ", full barrier"})
    return rows[rows["method"] != "jsq, full barrier"]
