"""Exact rules in long runs beside the others: imbalance, how the queue's composition drifts, who is left waiting."""

import pandas as pd

from lbtheory.plots.rules import long_runs

TITLE = "Exact minimisation at every step, in the long run"
REFERENCE = "decode paper, sections 3 and 5; ours: the comparison"

COLUMNS = {
    "system": "system",
    "policy": "policy",
    "imbalance": "imbalance",
    "over_first": "above IO_0",
    "over_first_low": "low",
    "over_first_high": "high",
    "waiting_first": "mean size waiting, first fifth",
    "waiting_last": "last fifth",
    "wait_max": "longest wait, iterations",
    "oldest": "oldest still waiting",
    "unproved": "decisions unproved",
}


def compare(tables):
    """One row a system and policy."""
    return _rows(tables)[list(COLUMNS)]


def draw(tables):
    """A row of panels a system."""
    rows = _rows(tables)
    base = rows["system"].map(rows[rows["policy"] == "io"].set_index("system")["imbalance"])
    for column, source in (("value", "over_first"), ("low", "over_first_low"), ("high", "over_first_high")):
        rows[column] = 1 + rows[source].astype(float).fillna(0.0) / base
    tenths = [name for name in rows.columns if name.startswith("waiting_") and name.split("_")[1].isdigit()]
    drift = [
        {"system": r["system"], "policy": r["policy"], "time": (j + 0.5) / len(tenths), "size": r[name] / r["offered"]}
        for _, r in rows.iterrows()
        for j, name in enumerate(tenths)
    ]
    return long_runs(rows, pd.DataFrame(drift))


def numbers(tables):
    """Numbers of the caption: of the first system, and of the sweep."""
    data = _rows(tables)
    first = data[data["system"] == data["system"].iloc[0]].set_index("policy")
    wide = data.pivot_table(index="system", columns="policy", values="imbalance", sort=False)
    sizes = (data["waiting_9"] / data["offered"]).groupby(data["policy"]).mean()
    exact, clear = data[data["policy"] == "io"], data[data["over_first_high"] < 0].groupby("policy").size()
    unproved = int(exact["unproved"].sum())
    return {
        "system": first["system"].iloc[0],
        "iterations": int(tables["longrun"]["iterations"].iloc[0]),
        **{f"{name}_size": sizes[policy] for name, policy in _NAMED.items()},
        **{f"{name}_oldest": int(first.loc[policy, "oldest"]) for name, policy in _NAMED.items()},
        "systems": len(wide),
        "level_wins": int((wide["io"] > wide["level"]).sum()),
        "level_certain": int(clear.get("level", 0)),
        "certain": int(clear.get("level-x", 0)),
        "ratios": ", ".join(f"{ratio:.2f}" for ratio in wide["level-x"] / wide["io"]),
        "jsq_ratios": ", ".join(f"{ratio:.1f}" for ratio in wide["jsq"] / wide["io"]),
        "proofs": f"Of {int(exact['decisions'].sum()):,} decisions of IO_0 "
        + (
            f"{unproved:,} are not proved: each may lose {exact['gap'].sum() / unproved:.2g} tokens of I on average"
            if unproved
            else "all are proved optimal"
        ),
    }


_NAMED = {"io": "io", "level": "level", "x": "level-x", "jsq": "jsq"}


def _rows(tables):
    data = tables["longrun"].copy()
    data["system"] = [
        f"G = {g}, B = {b}, p = {p}, {sizes}, queue {queue}"
        for g, b, p, sizes, queue in zip(data["workers"], data["slots"], data["p"], data["prompts"], data["queue"], strict=True)
    ]
    data["policy"] = [name.split(":")[0] for name in data["policy"]]
    return data
