"""Figures of rules beside one another show the numbers of their tables."""

import numpy as np
import pandas as pd
import pytest

from lbtheory.plots.rules import long_runs, relative


def rows(**more: object) -> pd.DataFrame:
    """Two systems, two policies."""
    return pd.DataFrame(
        {
            "system": ["a", "a", "b", "b"],
            "policy": ["io", "level-x", "io", "level-x"],
            "value": [1.0, 0.5, 1.0, 0.8],
            "low": [1.0, 0.4, 1.0, 0.6],
            "high": [1.0, 0.6, 1.0, 1.1],
            **more,
        }
    )


def test_relative_draws_values_and_intervals_by_part() -> None:
    table = rows(part=["tuning", "tuning", "held out", "held out"])
    figure = relative(table, xlabel="ratio")
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["tuning", "held out"]
    for axis, part in zip(figure.axes, ("tuning", "held out"), strict=True):
        mine = table[table["part"] == part]
        drawn = sorted(float(line.get_xdata()[0]) for line in axis.get_lines() if line.get_label() in ("IO (exact)", "LEVEL-X"))
        assert drawn == sorted(mine["value"])
        spans = [s[:, 0].tolist() for lines in axis.collections for s in lines.get_segments()]
        assert sorted(spans) == sorted(mine[["low", "high"]].to_numpy().tolist())
        assert axis.get_xscale() == "log"


def test_long_runs_have_a_row_a_system() -> None:
    table = rows(wait_max=[9, 90, 5, 7], oldest=[0, 300, 2, 1])
    drift = pd.DataFrame(
        [(s, p, t, 1 + t * f) for s in "ab" for p, f in (("io", -0.5), ("level-x", 0.1)) for t in (0.25, 0.75)],
        columns=["system", "policy", "time", "size"],
    )
    figure = long_runs(table, drift)
    assert len(figure.axes) == 6
    path = figure.axes[1].get_lines()[0]
    assert np.allclose(path.get_ydata(), [0.875, 0.625])
    ends = [tuple(s[:, 0]) for lines in figure.axes[2].collections for s in lines.get_segments()]
    assert ends == [pytest.approx((1, 9)), pytest.approx((90, 300))]
