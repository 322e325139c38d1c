"""The figure of oscillations shows its table, and the task its closed forms."""

from pathlib import Path

import pandas as pd
import pytest

from experiments.oscillation import analysis, sweep
from lbtheory.fluid.dynamics.tasks import pair_oscillation
from lbtheory.plots.dynamics import FLOOR, oscillations
from lbtheory.study import discover


def test_task() -> None:
    """Discrete: just under ``2λτ`` and period ``8τ``; flow below the critical gain dies out, above it does not."""
    shared = {"seed": 0, "service": 0.05, "load": 0.8, "delay": 0.01}
    (discrete,) = pair_oscillation(routing="discrete", gain=None, **shared)
    assert discrete["amplitude"] == pytest.approx(discrete["bound"], rel=0.02) and discrete["bound"] == pytest.approx(0.64)
    assert discrete["period"] == pytest.approx(0.08, rel=0.02)
    (stable,) = pair_oscillation(routing="flow", gain=0.25, **shared)
    (unstable,) = pair_oscillation(routing="flow", gain=1.0, **shared)
    assert stable["amplitude"] < 2e-3 and unstable["amplitude"] > 3 and unstable["excess"] > 0.05 > 1e-4 > abs(stable["excess"])


def test_figure_shows_its_table() -> None:
    """A line a routing in each panel, with the rows of the table; the caption's numbers are its own."""
    records = [
        {
            "service": service,
            "load": 0.8,
            "delay": delay,
            "routing": routing,
            "gain": gain,
            "even": 4.0,
            "amplitude": a,
            "period": 1.0,
        }
        | {"bound": 64 * delay, "excess": 0.0}
        for service in sweep.KINDS.values()
        for delay, a in ((0.01, 0.5), (0.1, 6.0))
        for routing, gain in sweep.ROUTINGS
    ]
    table = analysis.table(records)
    figure = oscillations(table)
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["sand: idle latency 0.05 s", "boulders: idle latency 10 s"]
    for axis in figure.axes:
        lines = axis.get_lines()
        assert len(lines) == 4 and lines[0].get_ydata().tolist() == [max(0.5 / 8, FLOOR), 6 / 8]
    plot = discover(Path(__file__).parents[2]).artefacts["oscillation"].plot
    assert plot.numbers({"oscillation": table})["sand"] == pytest.approx(75)
    assert isinstance(plot.compare({"oscillation": table}), pd.DataFrame)
