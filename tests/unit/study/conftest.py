"""A checkout in miniature: one experiment of probe cells, one figure, one table-only artefact."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SWEEP = """
ID = "tiny-draws"
TITLE = "Means of a few draws"
REFERENCE = "Section 0, Table 0"

def cells(scale):
    number = 3 if scale == "quick" else 5
    return [("lbtheory.study.tasks:probe", {"draws": draws}, 7) for draws in range(1, number + 1)]
"""
ANALYSIS = """
COLUMNS = {"draws": "Draws", "mean": "Mean <of draws>"}

def table(records):
    import pandas as pd

    return pd.DataFrame(records)[["draws", "seed", "mean"]]
"""
PLOT = """
TITLE = "Means against their number"
REFERENCE = "Figure 0"

def draw(tables):
    from lbtheory.plots import color, new_figure

    table = tables["tiny-draws"]
    figure = new_figure(3.4, 2.4)
    axis = figure.subplots()
    axis.plot(table["draws"], table["mean"], color=color("jsq"), clip_on=True)
    axis.fill_between(table["draws"], 0, table["mean"], hatch="//", alpha=0.3)
    return figure

def compare(tables):
    table = tables["tiny-draws"].merge(tables["published"], on="draws")
    return table[["draws", "published", "mean"]]

def numbers(tables):
    return {"largest": tables["tiny-draws"]["mean"].max()}
"""
TABLE_ONLY = """
TITLE = "A published table"
REFERENCE = "Table 1"
TABLES = ("tiny-draws",)

def draw(tables):
    return None
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """Folder with ``experiments/tiny_draws`` and the artefacts ``tiny-draws`` and ``tiny-table``."""
    root = tmp_path / "checkout"
    files = {
        "experiments/tiny_draws/sweep.py": SWEEP,
        "experiments/tiny_draws/analysis.py": ANALYSIS,
        "experiments/tiny_draws/README.md": "Draws a few numbers.\n",
        "experiments/bench_something.py": "raise RuntimeError('not an experiment')\n",
        "paper_figures/tiny_draws/plot.py": PLOT,
        "paper_figures/tiny_draws/caption.md": "The largest mean is **{largest:.3f}** & nothing <else>.\n",
        "paper_figures/tiny_draws/published.csv": "# Nobody, 2026, Figure 0\ndraws,published\n1,0.25\n3,0.5\n",
        "paper_figures/tiny-table/plot.py": TABLE_ONLY,
        "paper_figures/tiny-table/caption.md": "As published.\n",
        "paper_figures/tiny-table/published.csv": "method,value\nA,1\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    yield root
    for name in [name for name in sys.modules if name.startswith("lbtheory_checkout.")]:
        del sys.modules[name]
