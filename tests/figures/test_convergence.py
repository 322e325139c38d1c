"""The task of the convergence experiment against the theorems, and its figure against its table."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.convergence import analysis, sweep
from lbtheory.plots.convergence import convergence_figure, slopes
from lbtheory.study.discovery import discover
from lbtheory.study.tasks import run


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Two starts of the latency cost, to 3,000 s."""
    given = {"cost": "latency", **sweep.NETWORK, **sweep.STEPSIZES, "horizons": [100.0, 1000.0, 3000.0]}
    name = sweep.cells("quick")[0][0]
    return analysis.table([row for seed in (0, 1) for row in run(name, given, seed)])


def test_rates(table: pd.DataFrame) -> None:
    """1/T below the critical stepsize, a floor above it, between T^(−1/2) and 1/T for the schedule; all below their bounds."""
    found = slopes(table, 1000.0).set_index("stepsize")
    assert found.loc["0.5 critical", "slope"] == pytest.approx(-1, abs=1e-6)
    assert abs(found.loc["1.2 critical", "slope"]) < 0.05
    assert -1 < found.loc["schedule", "slope"] < -0.5
    assert (found["low"] <= found["slope"]).all() and (found["slope"] <= found["high"]).all()
    for name, stepsizes in (("theorem1", {"eta0", "eta2"}), ("theorem2", {"eta2"}), ("theorem1b", set(table["stepsize"]))):
        bounds = table[name].astype(float)
        assert set(table["stepsize"][bounds.notna()]) == stepsizes
        assert (table["left"] + table["error"] <= bounds)[bounds.notna()].all()


def test_slopes_of_powers() -> None:
    """Exact powers with factors by start: the slope, and an interval of no width."""
    horizons = np.array([10.0, 1000.0, 1e4])
    rows = pd.DataFrame(
        {"cost": "rif", "stepsize": "schedule", "start": start, "eta": 0.1, "horizon": t, "left": (1 + start) * t**-0.5}
        for start in range(3)
        for t in horizons
    )
    (found,) = slopes(rows).to_dict("records")
    assert [found[key] for key in ("slope", "low", "high", "theory")] == pytest.approx([-0.5] * 4, abs=1e-12)


def test_figure_shows_its_table(table: pd.DataFrame) -> None:
    """Five measured lines and three bounds; captions and comparison come from the table."""
    figure = convergence_figure(table)
    (axis,) = figure.axes
    lines = axis.get_lines()
    assert len(lines) == 8
    rows = table[table["stepsize"] == "0.5 critical"]
    mean = [np.exp(np.log(rows["left"][rows["horizon"] == t]).mean()) for t in (100.0, 1000.0, 3000.0)]
    assert lines[1].get_ydata() == pytest.approx(mean)
    plot = discover(Path(__file__).parents[2]).artefacts["convergence"].plot
    assert plot.numbers({"convergence": table})["fixed"] == pytest.approx(-1, abs=1e-6)
    assert len(plot.compare({"convergence": table})) == 5
