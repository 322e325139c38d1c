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
    """Numbers of the caption."""
    data = tables["worst-gap"]
    share = data.set_index(["workers", "slots", "largest", "queue", "policy"])["share"]
    one, three, many, all_go = (8, 1, 100, 256), (8, 3, 100, 256), (8, 64, 100, 192), (8, 64, 100, 64)
    of = {
        f"{name}_{rule.replace('-', '_')}": float(share[(*system, rule)])
        for name, system in (("one", one), ("three", three), ("many", many), ("all", all_go))
        for rule in ("br0", "level-plus", "level-x", "token-jsq", "jsq")
    }
    seen = data[(data["slots"] == 3) & (data["queue"] == 32)].set_index("policy")["share"]
    size = data[(data["slots"] == 64) & (data["largest"] == 100) & (data["queue"] == 192)].set_index("policy")
    return of | {
        "instances": int(data["evaluations"].sum()),
        "solved": int(data["solved"].sum()),
        "unproved": int(data["unproved"].sum()),
        "zero": int(((data["optimum"] == 0) & (data["gap"] > 0)).sum()),
        "pairs": len(data),
        "seen_br0": float(seen["br0"]),
        "seen_level_plus": float(seen["level-plus"]),
        "seen_level_x": float(seen["level-x"]),
        "br0_sizes": float(size.loc["br0", "unit"]),
        "br0_mean": float(size.loc["br0", "mean"] / size.loc["br0", "bound"]),
        "largest": float(
            data.loc[data["policy"].isin(["br0", "level-plus", "level-x"]) & (data["slots"] >= 64), "share"].max()
        ),
    }
