"""Trajectories of every method of Table 3 on the second workload."""

from lbtheory.plots.methods import METHODS
from lbtheory.plots.segments import COLUMNS as COLUMNS
from lbtheory.plots.segments import segment_figure, segment_idle, segment_table

TITLE = "Loads of eight workers, Azure-2024-like workload, every method"
REFERENCE = "decode paper, EC.7"
TABLES = ("decode-trajectories",)


def compare(tables):
    """Mean imbalance of the segment beside the published one of the whole run."""
    return segment_table(_rows(tables), METHODS, tables["published"])


def draw(tables):
    """A panel a number of workers and method."""
    return segment_figure(_rows(tables), METHODS)


def numbers(tables):
    """Share of token work lost at the barrier."""
    return segment_idle(_rows(tables))


def _rows(tables):
    rows = tables["decode-trajectories"]
    return rows[(rows["part"] == "methods") & (rows["workload"] == "azure2024-like")]
