"""Waits of two tenants against the bonus on waits."""

import pandas as pd

from lbtheory.plots.sweeps import curves

TITLE = "Fairness: what a tenant's weight buys"
REFERENCE = "lbtheory; the decode paper's conclusion lists it as open"
TABLES = ("fairness",)

RULES = {"br0": "BR-0", "br0:greedy=0": "BR-0, S_greedy = 0", "io": "IO_0 exact"}
LABELS = {"light": "weight 1", "heavy": "weight 4"}
TINTS = {"light": "#0072b2", "heavy": "#d55e00"}


def draw(tables):
    """A panel a rule, a line a tenant."""
    rows = tables["fairness"]
    rows = rows[(rows["factor"] == "bonus on waits") & rows["rule"].isin(RULES)]
    waits = pd.concat([rows.assign(tenant=name, wait=rows[f"wait_{name}"]) for name in LABELS])
    waits["panel"] = waits["rule"].map(RULES)
    return curves(
        waits,
        x="value",
        y="wait",
        series="tenant",
        panel="panel",
        labels=LABELS,
        tints=TINTS,
        xlabel="bonus, tokens an iteration",
        ylabel="mean wait, iterations",
        xlog=10,
        height=2.3,
    )


def numbers(tables):
    """Waits by tenant at a small and a large bonus."""
    rows = tables["fairness"].set_index(["factor", "value", "rule"])
    found = {}
    for bonus, size in ((2.0, "two"), (50.0, "fifty")):
        for rule, name in (("br0", "br0"), ("br0:greedy=0", "greedy"), ("io", "io")):
            row = rows.loc[("bonus on waits", bonus, rule)]
            found |= {f"{name}_{size}_{tenant}": row[f"wait_{tenant}"] for tenant in LABELS}
    return found
