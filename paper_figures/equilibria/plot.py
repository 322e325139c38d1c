"""Cells and flows on a map, one panel a cost."""

from lbtheory.plots.equilibria import COSTS, network_map

TITLE = "Three equilibria on a map"
REFERENCE = "DLB paper, sections 2.3 and 3.3"

COLUMNS = {
    "cost": "cost",
    "mean": "mean latency, s",
    "price": "price of anarchy",
    "worst": "worst equilibrium",
    "abroad": "share sent elsewhere",
    "load": "highest load",
    "unique": "routing unique",
    "wardrop_gap": "Wardrop gap",
    "apart": "methods apart",
}


def draw(tables):
    """Three maps."""
    return network_map(tables["equilibria"])


def compare(tables):
    """One row a cost."""
    import pandas as pd

    rows = []
    for cost, part in tables["equilibria"].groupby("cost", sort=False):
        cells, arcs = part[part["kind"] == "cell"], part[part["kind"] == "arc"]
        away = arcs[arcs["source"] != arcs["cell"]]["flow"].sum()
        first = part.iloc[0]
        rows.append(
            {
                "cost": COSTS[cost][0],
                "mean": first["mean_latency"],
                "price": first["price"],
                "worst": first["worst"],
                "abroad": away / cells["flow"].sum(),
                "load": cells["load"].max(),
                "unique": "yes" if first["unique"] else "no",
                "wardrop_gap": first["wardrop_gap"],
                "apart": first["apart"],
            }
        )
    return pd.DataFrame(rows)


def numbers(tables):
    """What the caption says."""
    rows = compare(tables).set_index("cost")
    return {
        f"{name}_{what}": value * (100 if what == "abroad" else 1000 if what == "mean" else 1)
        for name in ("RIF", "latency", "gradient")
        for what, value in rows.loc[name, ["mean", "price", "worst", "abroad"]].items()
    } | {"gap": rows["wardrop_gap"].max()}
