"""Lines, matrices and bars show the numbers of their tables."""

import numpy as np
import pandas as pd
import pytest

from lbtheory.core import ParameterError
from lbtheory.plots.sweeps import curves, matrix, worker_loads


def test_curves_draw_their_rows() -> None:
    """One line a series and panel, intervals, hollow published marks."""
    table = pd.DataFrame(
        {
            "x": [1, 2, 4, 1, 2, 4],
            "y": [1.0, 2.0, 3.0, 2.0, 3.0, 5.0],
            "low": [0.5, 1.5, 2.5, 1.0, 2.0, 4.0],
            "high": [1.5, 2.5, 3.5, 3.0, 4.0, 6.0],
            "policy": ["br0"] * 3 + ["level-plus"] * 3,
            "panel": ["a", "a", "b"] * 2,
            "published": [None, 4.0, None, None, None, None],
        }
    )
    figure = curves(table, x="x", y="y", series="policy", panel="panel", xlog=2, ylog=True, reference=1.0)
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["a", "b"]
    drawn = [tuple(line.get_ydata()) for line in figure.axes[0].get_lines()]
    assert (1.0, 2.0) in drawn and (2.0, 3.0) in drawn and any(4.0 in np.nan_to_num(line, nan=-1) for line in drawn)
    with pytest.raises(ParameterError, match="a row at least"):
        curves(table[:0], x="x", y="y", series="policy")


def test_matrix_writes_its_numbers() -> None:
    """The best of a row is bold; missing cells are blank."""
    values = pd.DataFrame({"br0": [2.0, 0.5], "level-plus": [3.0, np.nan]}, index=["one", "two"])
    texts = {t.get_text(): t.get_fontweight() for t in matrix(values).axes[0].texts}
    assert texts == {"2.00": "normal", "3.00": "bold", "0.50": "bold"}


def test_worker_loads() -> None:
    """A bar a worker, up to its load."""
    table = pd.DataFrame({"workload": "w", "policy": "jsq", "worker": [0, 1], "load": [4_000, 9_000]})
    heights = [patch.get_height() for patch in worker_loads(table).axes[0].patches]
    assert sorted(heights) == [0, 4, 5, 9]
