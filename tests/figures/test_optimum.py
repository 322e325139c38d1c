"""The figure of small systems shows its table."""

import numpy as np
import pandas as pd
import pytest

from lbtheory.core import ParameterError
from lbtheory.decode.mdp.tasks import averages
from lbtheory.plots.optimum import KNEE, RULES, above_optimum

SYSTEMS = [{}, {"queue": 1}, {"look": 1}]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """One system a group."""
    rows = [averages(seed=0, workers=2, slots=1, p="1/2", sizes=[1, 2, 3], error=1e-2, **more)[0] for more in SYSTEMS]
    return pd.DataFrame(rows)


def test_marks_are_percent_above_the_optimum(table: pd.DataFrame) -> None:
    figure = above_optimum(table)
    assert len(figure.axes) == 3 and KNEE > 0
    for axis, (_, row) in zip(figure.axes, table.iterrows(), strict=True):
        drawn = {line.get_label(): float(line.get_xdata()[0]) for line in axis.get_lines() if len(line.get_xdata()) == 1}
        for column, (label, _) in RULES.items():
            if pd.isna(row[column]):
                assert label not in drawn
            else:
                assert drawn[label] == pytest.approx(max(0.0, 100 * (row[column] / row["optimum"] - 1)), abs=1e-9)
        (bar,) = axis.collections
        ((low, high),) = [segment[:, 0] for segment in bar.get_segments()]
        assert np.allclose((low, high), [100 * (row[c] / row["optimum"] - 1) for c in ("io", "io_worst")])


def test_an_empty_table_is_refused(table: pd.DataFrame) -> None:
    with pytest.raises(ParameterError, match="`table` of `above_optimum`"):
        above_optimum(table[:0])
