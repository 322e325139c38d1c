"""Trajectories of oracle BR-H at seven settings, 8 and 16 workers."""

from lbtheory.plots.segments import COLUMNS as COLUMNS
from lbtheory.plots.segments import segment_figure, segment_table

TITLE = "Loads under oracle BR-H at the settings of the parameter study"
REFERENCE = "decode paper, EC.9"
TABLES = ("decode-trajectories",)

LABELS = {
    f"brh:beta={beta},gamma={gamma}": f"β = {beta}, γ = {gamma}" for beta in (1, 24, 48, 96) for gamma in (0.5, 0.7, 0.9, 1.0)
}


def compare(tables):
    """Mean imbalance of the segment."""
    return segment_table(_rows(tables), LABELS)


def draw(tables):
    """A panel a number of workers and method."""
    return segment_figure(_rows(tables), LABELS)


def _rows(tables):
    rows = tables["decode-trajectories"]
    return rows[rows["part"] == "sensitivity"]
