"""Gaps to the exact optimum: mean, worst and decision time by policy and window."""

from lbtheory.plots.panels import gaps

TITLE = "Gap of one decision to exact IO_H"
REFERENCE = "decode paper, sections 3 and 5"

LABELS = {"min-max": "Min-max, ties by I", "min-max:ties=smallest-total": "Min-max alone, worst"}
COLUMNS = {
    "horizon": "H",
    "policy": "policy",
    "optimum": "mean optimum",
    "mean": "mean gap",
    "worst": "worst gap",
    "exactly": "share of states at the optimum",
    "median_seconds": "median s",
    "worst_seconds": "worst s",
    "states": "states",
    "proved": "proved",
}


def compare(tables):
    """One row a window and policy."""
    data = tables["gap"]
    groups = data.groupby(["horizon", "policy"], sort=False)
    result = groups.agg(
        optimum=("exact", "mean"),
        mean=("gap", "mean"),
        worst=("gap", "max"),
        exactly=("gap", lambda g: float((g <= 0).mean())),
        median_seconds=("seconds", "median"),
        worst_seconds=("seconds", "max"),
        states=("state", "count"),
        proved=("status", lambda s: int((s == "optimal").sum())),
    )
    return result.reset_index()[list(COLUMNS)]


def draw(tables):
    """The window H = 0."""
    data = tables["gap"]
    return gaps(data[data["horizon"] == 0], labels=LABELS)


def numbers(tables):
    """Numbers of the caption."""
    rows = compare(tables).set_index(["horizon", "policy"])
    last = max(h for h, _ in rows.index)
    return {
        "states": int(rows["states"].iloc[0]),
        "proved": int(rows.loc[(0, "io"), "proved"]),
        "optimum": rows.loc[(0, "io"), "optimum"],
        "br0": rows.loc[(0, "br0"), "mean"],
        "brh": rows.loc[(last, "brh"), "mean"],
        "br0_window": rows.loc[(last, "br0"), "mean"],
        "minmax": rows.loc[(0, "min-max"), "mean"],
        "alone": rows.loc[(0, "min-max:ties=smallest-total"), "mean"],
        "alone_worst": rows.loc[(0, "min-max:ties=smallest-total"), "worst"],
        "minmax_window": rows.loc[(last, "min-max"), "mean"],
        "level": rows.loc[(0, "level-plus"), "mean"],
        "level_x": rows.loc[(0, "level-x"), "mean"],
        "jsq": rows.loc[(0, "jsq"), "mean"],
        "last": int(last),
        "ms": 1e3 * rows.loc[(0, "io"), "median_seconds"],
    }
