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
    """Geometric means of the parts, and where LEVEL-X does not win."""
    rows = compare(tables)
    rows["policy"] = [name.split(":")[0] for name in rows["policy"]]
    found = {}
    for key, part in (("tuning", "tuning"), ("held_out", "held out"), ("exact", "held out, exact")):
        mine = rows[rows["part"] == PARTS[part]]
        for name, policy in (("x", "level-x"), ("br0", "br0"), ("jsq", "jsq"), ("io", "io")):
            found[f"{name}_{key}"] = _mean(mine.loc[mine["policy"] == policy, "relative"])
        x = mine[mine["policy"] == "level-x"]
        found[f"n_{key}"] = len(x)
        found[f"better_{key}"] = int((x["relative_high"] < 1).sum())
        found[f"worse_{key}"] = _names(x[x["relative_low"] > 1])
        found[f"even_{key}"] = _names(x[(x["relative_low"] <= 1) & (x["relative_high"] >= 1)])
    held = rows[(rows["part"] == PARTS["held out"]) & (rows["control"] < 1)]
    wide = rows.pivot_table(index=["part", "workload", "workers", "slots"], columns="policy", values=["relative", "wait_max"])
    ratio, waits = wide["relative"], wide["wait_max"]["level-x"] / wide["wait_max"]["level-plus"]
    beaten = ratio.index[ratio["br0"] < ratio["level-x"]]
    return {
        **found,
        "x_weak": _mean(held.loc[held["policy"] == "level-x", "relative"]),
        "systems": int(ratio["br0"].notna().sum()),
        "br0_wins": len(beaten),
        "br0_where": "".join(f" ({name} {g} × {b})" for _, name, g, b in beaten),
        "io_wins": int((ratio["io"] < ratio["level-x"]).sum()) if "io" in ratio else 0,
        "wait": _mean(waits),
        "wait_worst": float(waits.max()),
    }


def _mean(ratios):
    """Geometric mean; ratios below the floor count as the floor."""
    return float(np.exp(np.log(ratios.clip(lower=FLOOR)).mean()))


def _names(rows):
    """Systems with their ratio."""
    return ", ".join(f"{r.workload} {r.workers} × {r.slots} ({r.relative:.2f})" for r in rows.itertuples()) or "none"
