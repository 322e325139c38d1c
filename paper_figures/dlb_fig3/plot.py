"""Estimated latency curves."""

from lbtheory.plots.cell_runs import latency_curves

TITLE = "Figure 3: estimated latency curves"
REFERENCE = "DLB paper, Figure 3 and section 3.3"

COLUMNS = {
    "cell": "cell",
    "kind": "fitted to",
    "a": "a, s",
    "b": "b, s",
    "k": "k",
    "w": "w",
    "ratio": "a/(bk), free fit",
    "relative_error": "relative error",
}


def draw(tables):
    """A panel a cell."""
    return latency_curves(tables["dlb-fig3"], compare(tables))


def compare(tables):
    """Fitted parameters, one row a cell and kind of points."""
    return tables["dlb-fig3"].groupby(["cell", "kind"], sort=False, as_index=False)[list(COLUMNS)[2:]].first()


def numbers(tables):
    """Numbers of the caption."""
    rows = compare(tables)
    closed, bins = (rows[rows["kind"] == kind] for kind in ("closed loop", "bin"))
    return {
        "closed": closed["relative_error"].max(),
        "bins": bins["relative_error"].max(),
        "ratio_low": rows["ratio"].min(),
        "ratio_high": rows["ratio"].max(),
        "below": int((rows["ratio"] < 1).sum()),
        "fits": len(rows),
    }
