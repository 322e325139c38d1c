"""Small systems: the long-run optimum beside IO_0, SpreadLex, LEVEL, LEVEL+, BR-0 and first come."""

import pandas as pd

from lbtheory.plots.optimum import above_optimum

TITLE = "Minimising today's imbalance in the long run: small systems, exactly"
REFERENCE = "decode paper, section 3; the long-run optimum is ours"

COLUMNS = {
    "system": "system",
    "optimum": "optimum",
    "hidden": "hidden by the cap, at most",
    "io": "IO_0, best ties",
    "io_worst": "IO_0, worst ties",
    "spread": "SpreadLex",
    "io_h": "IO_H",
    "level": "LEVEL",
    "level_plus": "LEVEL+",
    "br0": "BR-0",
    "first_come": "FCFS",
    "loss": "IO_0 over the optimum, %",
    "level_plus_gap": "LEVEL+, worst step",
    "br0_gap": "BR-0, worst step",
    "where": "smallest state where IO_0 errs",
}
EQUAL = 1e-4
"""Percent below which a rule counts as optimal."""


def compare(tables):
    """One row a system."""
    data = tables["optimum"].copy()
    supply = ["rich" if pd.isna(queue) else f"queue {int(queue)}" for queue in data["queue"]]
    look = [f", lives {int(h)} ahead" if h else "" for h in data["look"]]
    data["system"] = [
        f"G = {g}, B = {b}, p = {p}, sizes {sizes}, {kind}{more}"
        for g, b, p, sizes, kind, more in zip(
            data["workers"], data["slots"], data["p"], data["sizes"], supply, look, strict=True
        )
    ]
    data["loss"] = 100 * (data["io"] / data["optimum"] - 1).where(data["io"] > data["optimum"] + 2 * data["span"].max(), 0.0)
    data["hidden"] = data[["below", "above"]].max(axis=1)
    return data[list(COLUMNS)]


def draw(tables):
    """Percent above the optimum, a row a system."""
    return above_optimum(tables["optimum"])


def numbers(tables):
    """Numbers of the caption."""
    data, known = compare(tables), tables["optimum"]
    blind, seeing = data[(known["look"] == 0).to_numpy()], data[(known["look"] > 0).to_numpy()]
    wrong, optimum = blind[blind["loss"] > EQUAL], blind["optimum"]
    ties = 100 * (blind["io_worst"] / optimum - 1)
    over = {name: 100 * (blind[name] / optimum - 1) for name in ("level", "level_plus", "br0", "first_come")}
    clear = known["below"] + known["above"]  # a larger difference is one of the systems without the cap too
    others = known[["spread", "level", "level_plus", "br0"]].min(axis=1)
    return {
        "systems": len(data),
        "blind": len(blind),
        "best": len(blind) - len(wrong),
        "worst": float(blind["loss"].max()),
        "ties": float(ties.max()),
        "level": float(over["level"].max()),
        "level_plus": float(over["level_plus"].max()),
        "br0": float(over["br0"].max()),
        "first_come": float(over["first_come"].max()),
        "step": int(blind["br0_gap"].max()),
        "step_plus": int(blind["level_plus_gap"].max()),
        "beaten": int((others < known["io"] - clear)[known["look"] == 0].sum()),
        "seeing": len(seeing),
        "ahead": float(seeing["loss"].max()),
        "reached": int((seeing["io_h"] < seeing["optimum"] * (1 + EQUAL / 100)).sum()),
        "hurts": int((known["io_h"] > known["io"] + clear).sum()),
        "span": float(known["span"].max()),
        "hidden": float(data["hidden"].max()),
        "where": blind.loc[wrong.index[0], "where"] if len(wrong) else "none",
    }
