"""Time-average gaps against the horizon, slopes with intervals, and the theorems' bounds."""

from lbtheory.plots.convergence import convergence_figure, slopes

TITLE = "Rate of convergence of flow routing, beside what the theorems allow"
REFERENCE = "DLB paper, Theorem 1; ours beyond it (Theorems 1b and 2)"

COLUMNS = {
    "cost": "cost",
    "stepsize": "stepsize",
    "eta": "η (last horizon)",
    "slope": "slope",
    "low": "95 % from",
    "high": "to",
    "theory": "in the limit",
    "theorem1": "gap ÷ Theorem 1, most",
    "theorem1b": "gap ÷ Theorem 1b, most",
    "theorem2": "gap ÷ Theorem 2, most",
}


def draw(tables):
    """A panel a cost."""
    return convergence_figure(tables["convergence"])


def compare(tables):
    """Fitted slopes beside theory, and the largest ratios of left to right sides."""
    data = tables["convergence"].copy()
    rows = slopes(data)
    bounds = ["theorem1", "theorem1b", "theorem2"]
    for name in bounds:
        data[name] = data["left"] / data[name].astype(float)
    most = data.groupby(["cost", "stepsize"], sort=False)[bounds].max()
    return rows.join(most, on=["cost", "stepsize"])[[*COLUMNS]]


def numbers(tables):
    """What the caption says."""
    rows = compare(tables)
    at = rows.set_index(["cost", "stepsize"])["slope"]
    return {
        "fixed": at["latency", "0.5 critical"],
        "schedule": at["latency", "schedule"],
        "ratio1": rows["theorem1"].max(),
        "ratio1b": rows["theorem1b"].max(),
        "ratio2": rows["theorem2"].max(),
    }
