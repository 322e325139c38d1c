"""Means over seeds."""

import pandas as pd
import pytest

from lbtheory.study.means import cap_names, over_seeds


def test_over_seeds() -> None:
    """Means, half-widths in quadrature, the largest; order of first appearance; missing intervals count as 0."""
    data = pd.DataFrame(
        {
            "policy": ["b", "a", "b"],
            "x": [1.0, 5.0, 3.0],
            "x_low": [0.7, None, 2.6],
            "x_high": [1.3, None, 3.4],
            "wait": [4, 2, 9],
            "idle": [0.1, None, 0.3],
        }
    )
    got = over_seeds(data, ["policy"], ["idle"], ["x"], ["wait"])
    assert got["policy"].tolist() == ["b", "a"] and got["x"].tolist() == [2, 5] and got["wait"].tolist() == [9, 2]
    assert got["x_half"].tolist() == [pytest.approx(0.25), 0] and got["idle"].iloc[0] == pytest.approx(0.2)


def test_cap_names() -> None:
    """None and NaN are no cap."""
    assert cap_names(pd.Series([None, 64.0, float("nan"), 0.0], dtype=object)).tolist() == ["none", "64", "none", "0"]
