"""Trajectories of every method of Table 3 on the second workload."""

from lbtheory.plots.segments import COLUMNS as COLUMNS
from lbtheory.plots.segments import segment_figure, segment_idle, segment_table

TITLE = "Loads of eight workers, Azure-2024-like workload, every method"
REFERENCE = "decode paper, EC.7"
TABLES = ("decode-trajectories",)

BRH = "brh:beta=14.67,gamma=0.64"
LABELS = {
    "brh:beta=43,gamma=0.86": "BR-H (43, 0.86)",
    BRH: "BR-H (14.67, 0.64)",
    f"{BRH},predictor=survival": "BR-H Survival",
    f"{BRH},predictor=exact-match": "BR-H ExactMatch",
}


def compare(tables):
    """Mean imbalance of the segment beside the published one of the whole run."""
    return segment_table(_rows(tables), LABELS, tables["published"])


def draw(tables):
    """A panel a number of workers and method."""
    return segment_figure(_rows(tables), LABELS)


def numbers(tables):
    """Share of token work lost at the barrier."""
    return segment_idle(_rows(tables))


def _rows(tables):
    rows = tables["decode-trajectories"]
    return rows[(rows["part"] == "methods") & (rows["workload"] == "azure2024-like")]
