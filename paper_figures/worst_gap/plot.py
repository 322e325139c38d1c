"""Worst decisions of rules without forecasts, found by search, beside the mean of random instances."""

from lbtheory.plots import style
from lbtheory.plots.worst import worst_beside_mean

TITLE = "The worst single decision of a rule, found by search"
REFERENCE = "lbtheory; BR-0 and IO_0 as in the decode paper, sections 3 and 5"

COLUMNS = {
    "system": "system",
    "policy": "rule",
    "gap": "worst gap found, tokens",
    "sizes": "in largest sizes s",
    "unit": "÷ (G − 1) s",
    "share": "÷ largest gap of any assignment",
    "mean_share": "mean of random instances, same unit",
    "optimum": "I* there",
    "ratio": "I ÷ I*",
    "evaluations": "instances",
    "unproved": "unproved, not counted",
}


def compare(tables):
    """One row a system and rule."""
    data = _shares(tables["worst-gap"])
    return data.assign(policy=data["policy"].map(style.label))[list(COLUMNS)]


def draw(tables):
    """Shares of the largest gap of any assignment."""
    return worst_beside_mean(_shares(tables["worst-gap"]))


def _shares(data):
    return data.assign(mean_share=data["mean"] / data["bound"])


def numbers(tables):
    """Numbers of the caption; percent of the largest gap of any assignment by system and rule."""
    data = _shares(tables["worst-gap"])
    data[["share", "mean_share"]] *= 100
    keys = ["slots", "queue", "policy"]
    rows = data[(data["workers"] == 8) & (data["largest"] == 100)].set_index(keys)
    rules = ["br0", "level-plus", "level-x"]
    systems = {"one": (1, 256), "seen": (3, 32), "many": (64, 192), "all": (64, 64)}
    shares = {
        f"{name}_{rule.replace('-', '_')}": float(rows.loc[(*system, rule), "share"])
        for name, system in systems.items()
        for rule in rules
    }
    first_come = data[data["policy"].isin(["jsq", "token-jsq"])]
    return shares | {
        "instances": int(data["evaluations"].sum()),
        "solved": int(data["solved"].sum()),
        "unproved": int(data["unproved"].sum()),
        "pairs": len(data),
        "zero": int(((data["optimum"] == 0) & (data["gap"] > 0)).sum()),
        "reached": int((first_come.groupby("system")["share"].max() > 100 - 1e-9).sum()),
        "systems": int(first_come["system"].nunique()),
        "units": float(rows.loc[(64, 192, "br0"), "unit"]),
        "whole_level_plus": float(rows.loc[(64, 192, "level-plus:window=0"), "share"]),
        "whole_level_x": float(rows.loc[(64, 192, "level-x:window=256"), "share"]),
        "mean_br0": float(rows.loc[(64, 192, "br0"), "mean_share"]),
        "mean_level_plus": float(rows.loc[(64, 192, "level-plus"), "mean_share"]),
        "mean_level_x": float(rows.loc[(64, 192, "level-x"), "mean_share"]),
    }
