"""Decision time against G, R_max and H."""

import pandas as pd

from lbtheory.plots.sweeps import curves

TITLE = "Decision time of BR-H"
REFERENCE = "decode paper, section 6.4"

COLUMNS = {
    "system": "system",
    "median": "median ms",
    "mean": "mean ms",
    "p99": "P99 ms",
    "search2": "share of stage 2",
    "per_step": "60 ms step ÷ median",
    "compiled": "compiled, mean ms",
}
TINTS = {"median": "#0072b2", "P99": "#882255", "compiled, mean": "#009e73"}


def compare(tables):
    """Published rows, then the same setting here and the others."""
    published = tables["published"].rename(columns={"model": "system", "stage2": "search2"})
    published["per_step"] = 60 / published["median"]
    rows = tables["overhead"].copy()
    rows["system"] = [
        f"here, G = {r.workers}, R_max = {r.window}, H = {r.horizon}, S_greedy = {r.greedy}" for r in rows.itertuples()
    ]
    return pd.concat([published, rows], ignore_index=True).reindex(columns=list(COLUMNS))


def draw(tables):
    """A panel a factor; the others are as published."""
    rows = tables["overhead"]
    base = {"workers": 8, "window": 4, "horizon": 80, "greedy": 4}
    parts = []
    for factor, text in (("workers", "workers G"), ("window", r"$\mathbf{R_{max}}$"), ("horizon", "H")):
        same = (rows[[name for name in base if name != factor]] == [v for k, v in base.items() if k != factor]).all(axis=1)
        for column, name in (("median", "median"), ("p99", "P99"), ("compiled", "compiled, mean")):
            part = rows[same].assign(x=rows[factor], y=rows[column], series=name, panel=text).sort_values("x")
            here = part["x"] == base[factor]
            part["published"] = part["x"].map(lambda v: None).astype(float)
            if name != "compiled, mean":
                part.loc[here, "published"] = {"median": 1.20, "P99": 2.77}[name]
            parts.append(part)
    return curves(
        pd.concat(parts),
        x="x",
        y="y",
        series="series",
        panel="panel",
        labels={name: name for name in TINTS},
        tints=TINTS,
        ylabel="milliseconds a decision",
        xlog=2,
        ylog=True,
    )


def numbers(tables):
    """The published setting here."""
    rows = tables["overhead"].set_index(["workers", "window", "horizon", "greedy"])
    base = rows.loc[(8, 4, 80, 4)]
    return {
        **{name: base[name] for name in ("median", "mean", "p99", "per_step")},
        "look": 100 * base["look"],
        "search": 100 * base["stage2"],
        "search2": 100 * base["search2"],
        "compiled": 1e3 * base["compiled"],
    }
