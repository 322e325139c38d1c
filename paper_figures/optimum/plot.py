"""Small systems: the long-run optimum beside IO_0, SpreadLex, LEVEL, LEVEL+, BR-0 and FCFS; a table alone."""

import pandas as pd

TITLE = "Minimising today's imbalance in the long run: small systems, exactly"
REFERENCE = "decode paper, section 3; the long-run optimum is ours"

COLUMNS = {
    "system": "system",
    "optimum": "optimum",
    "io": "IO_0, best ties",
    "io_worst": "IO_0, worst ties",
    "spread": "SpreadLex",
    "io_h": "IO_H",
    "level": "LEVEL",
    "level_plus": "LEVEL+",
    "br0": "BR-0",
    "first_come": "FCFS",
    "loss": "IO_0 over the optimum, %",
    "where": "smallest state where IO_0 errs",
}


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
    data["loss"] = 100 * (data["io"] / data["optimum"] - 1)
    return data[list(COLUMNS)]


def draw(tables):
    """A table alone."""
    return None


def numbers(tables):
    """Numbers of the caption."""
    data = compare(tables)
    known = tables["optimum"]
    blind = data[(known["look"] == 0).to_numpy()]
    seeing = data[(known["look"] > 0).to_numpy()]
    return {
        "systems": len(data),
        "apart": int((blind["loss"] > 1e-4).sum()),
        "blind": len(blind),
        "worst": float(blind["loss"].max()),
        "seeing": len(seeing),
        "ahead": float(seeing["loss"].max()),
        "hurts": int((seeing["io_h"] > seeing["io"] + 1e-6).sum()),
        "span": float(known["span"].max()),
        "above": float(known["above"].max()),
    }
