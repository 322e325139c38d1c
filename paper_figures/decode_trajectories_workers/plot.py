"""Trajectories of 4 and 16 workers."""

from lbtheory.plots.methods import METHODS
from lbtheory.plots.segments import COLUMNS as COLUMNS
from lbtheory.plots.segments import segment_figure, segment_idle, segment_table

TITLE = "Loads of 4 and 16 workers"
REFERENCE = "decode paper, EC.8"
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
    return rows[rows["part"] == "workers"]
