"""Imbalance of each rule over that of LEVEL+, tuning half and held-out half apart."""

import numpy as np

from lbtheory.plots.rules import relative

TITLE = "LEVEL-X: the best prediction-free rule from weak to strong control"
REFERENCE = "lbtheory; BR-0 and IO_0 as in the decode paper"

FLOOR = 0.002
"""Ratios below this are drawn here; exact balance has none."""

PARTS = {
    "tuning": "Workloads used to tune",
    "held out": "Held-out workloads and seeds",
    "held out, exact": "Held-out, short runs with exact IO",
}
COLUMNS = {
    "part": "part",
    "workload": "workload",
    "workers": "G",
    "slots": "B",
    "control": "control β²/ν²",
    "policy": "policy",
    "relative": "÷ LEVEL+",
    "relative_low": "low",
    "relative_high": "high",
    "imbalance": "mean imbalance",
    "wait_max": "longest wait, iterations",
    "cheating": "mean admitted ÷ offered prompt",
}


def compare(tables):
    """The evidence, weak control first."""
    data = tables["best-rule"].copy()
    data["cheating"] = data["mean_admitted"] / data["mean_offered"]
    data["part"] = data["part"].map(PARTS)
    order = {name: i for i, name in enumerate(PARTS.values())}
    return data.sort_values(["part", "control"], key=lambda c: c.map(order) if c.name == "part" else c, kind="stable")[
        list(COLUMNS)
    ]


def draw(tables):
    """A panel a half; systems by increasing control."""
    rows = compare(tables)
    rows = rows[rows["policy"] != "level-plus"].rename(
        columns={"relative": "value", "relative_low": "low", "relative_high": "high"}
    )
    rows["policy"] = [name.split(":")[0] for name in rows["policy"]]
    rows["system"] = [f"{r.workload}, {r.workers} × {r.slots} ({r.control:.2g})" for r in rows.itertuples()]
    rows[["value", "low"]] = rows[["value", "low"]].clip(lower=FLOOR)
    return relative(rows, xlabel="mean imbalance ÷ that of LEVEL+")


def numbers(tables):
    """Geometric means of both halves, and where LEVEL-X does not win."""
    rows = compare(tables)
    found = {"systems": 0}
    for key, part in PARTS.items():
        mine = rows[rows["part"] == part]
        wide = mine.pivot_table(index=["workload", "workers", "slots"], columns="policy", values="relative")
        wide.columns = [name.split(":")[0] for name in wide.columns]
        means, short = np.exp(np.log(wide.clip(lower=1e-3)).mean()), key.split(",")[-1].strip().replace(" ", "_")
        for name, column in (("x", "level-x"), ("br0", "br0"), ("jsq", "jsq"), ("io", "io")):
            found[f"{name}_{short}"] = float(means.get(column, float("nan")))
        x = mine[mine["policy"] == "level-x"]
        found[f"n_{short}"] = len(x)
        found[f"better_{short}"] = int((x["relative_high"] < 1).sum())
        found[f"worse_{short}"] = _names(x[x["relative_low"] > 1])
        found[f"even_{short}"] = _names(x[(x["relative_low"] <= 1) & (x["relative_high"] >= 1)])
        if "br0" in wide:
            found[f"br0_wins_{short}"] = int((wide["br0"] < wide["level-x"]).sum())
        if "io" in wide:
            found["io_wins"] = int((wide["io"] < wide["level-x"]).sum())
    return found


def _names(rows):
    """Systems with their ratio."""
    return ", ".join(f"{r.workload} {r.workers} × {r.slots} ({r.relative:.2f})" for r in rows.itertuples()) or "none"
