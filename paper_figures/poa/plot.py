"""Prices of anarchy by load, spread, search and noise."""

from lbtheory.plots.equilibria import COSTS, anarchy

TITLE = "Price of anarchy"
REFERENCE = "DLB paper, section 3.3 and Figure 7"

COLUMNS = {
    "cost": "cost",
    "load": "load",
    "price": "mean price",
    "most": "largest",
    "worst": "at the worst equilibrium",
    "found": "worst two cells found",
    "supremum": "supremum",
}


def draw(tables):
    """Four panels."""
    rows = tables["poa"]
    whole = rows[(rows["study"] == "search") & (rows["smallest"] == 1)]
    return anarchy(rows[rows["study"] == "random"], whole, rows[rows["study"] == "noise"])


def compare(tables):
    """One row a cost and load of random networks of middle spread, with the search beside."""
    import pandas as pd

    rows = tables["poa"]
    drawn = rows[(rows["study"] == "random") & (rows["spread"] == 0.5)]
    search = rows[(rows["study"] == "search") & (rows["smallest"] == 1)].set_index(["cost", "load"])
    made = []
    for _, row in drawn.sort_values("load").iterrows():
        key = (row["cost"], row["load"])
        made.append(
            {
                "cost": COSTS[row["cost"]][0],
                "load": row["load"],
                "price": row["price"],
                "most": row["most"],
                "worst": row["worst"],
            }
            | {"found": search["price"].get(key), "supremum": search["supremum"].get(key)}
        )
    return pd.DataFrame(made).sort_values("cost", kind="stable")


def numbers(tables):
    """What the caption says."""
    rows = tables["poa"]
    search = rows[(rows["study"] == "search") & (rows["smallest"] == 1)]
    small = rows[(rows["study"] == "search") & (rows["smallest"] < 1)].iloc[0]
    drawn = rows[(rows["study"] == "random") & (rows["spread"] == 0.5)].set_index(["cost", "load"])["price"]
    noise = rows[rows["study"] == "noise"].set_index(["cost", "noise"])
    top = noise.index.get_level_values("noise").max()
    return {
        "short": 100 * float((1 - search["price"] / search["supremum"]).max()),
        "small": small["price"],
        "small_load": small["load"],
        "small_bound": (1 + (1 - small["load"]) ** -0.5) / 2,
        "latency_low": drawn["latency", 0.1],
        "latency_high": drawn["latency", 0.99],
        "latency_most": drawn["latency"].max(),
        "rif_low": drawn["rif", 0.1],
        "rif_high": drawn["rif", 0.99],
        "top": top,
        "latency_noise": noise.loc[("latency", top), "price"],
        "gradient_noise": noise.loc[("gradient", top), "price"],
        "rif_noise": noise.loc[("rif", top), "price"],
        "latency_clean": noise.loc[("latency", 0.0), "price"],
        "broken": 100 * noise.loc[("gradient", top), "broken"],
    }
