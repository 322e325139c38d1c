"""The autoscaler over a day: its inputs, its averages, and the figure of its table."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.dlb_fig5 import analysis, sweep
from lbtheory.cells import Event, Parameters, sample_scenario, simulate
from lbtheory.cells.daily_tasks import day, time_average
from lbtheory.cells.scenario import ScenarioError
from lbtheory.core import ParameterError
from lbtheory.plots.daily import daily_figure, elasticities
from lbtheory.study.discovery import discover


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """A day of an hour for two scenarios."""
    given = {**sweep.SYSTEM, "length": 3600.0, "bins": 12}
    return analysis.table([{**row, "seed": seed} for seed in (0, 1) for row in day(seed=seed, **given)])


def test_time_average_by_hand() -> None:
    """Overlaps of intervals with bins, one by one."""
    rng = np.random.default_rng(0)
    start = rng.uniform(-1, 9, 50)
    end = start + rng.exponential(2, 50)
    edges = np.linspace(0, 8, 5)
    wanted = [
        sum(max(0.0, min(e, high) - max(s, low)) for s, e in zip(start, end, strict=True)) / (high - low)
        for low, high in pairwise(edges)
    ]
    assert time_average(start, end, edges) == pytest.approx(wanted, rel=1e-12)


def test_elasticities_of_powers() -> None:
    """Exact powers; a constant has none."""
    rate = np.linspace(1, 3, 9)
    data = pd.DataFrame(
        {"arm": "fixed", "scenario": 0, "rate": rate, "replicas": 4.0, "rif": rate, "mean": rate**0.0 * 2, "p90": rate**2}
    )
    (row,) = elasticities(data).to_dict("records")
    assert row["rif"] == pytest.approx(1, abs=1e-12) and row["p90"] == pytest.approx(2, abs=1e-12)
    assert np.isnan(row["replicas"]) and np.isnan(row["mean"])


def test_little(table: pd.DataFrame) -> None:
    """RIF is rate times latency in every bin, to the network's part of the latency and the noise of 300 s."""
    calm = table[(table["arm"] == "autoscaler") & (table["errors"] == 0)]
    assert (calm["rif"] / (calm["rate"] * calm["mean"])).between(0.9, 1.05).all()


def test_replicas_follow(table: pd.DataFrame) -> None:
    """Replicas move with the autoscaler only."""
    sizes = table.groupby(["arm", "scenario"])["replicas"]
    assert (sizes.max() - sizes.min())["fixed"].eq(0).all()
    assert (sizes.max() / sizes.min())["autoscaler"].gt(1.2).all()


def test_bad_input() -> None:
    """Ranges of the parameters; an outage would fight with the autoscaler."""
    for name, value in (
        ("scale_target", 0.0),
        ("scale_target", 1.5),
        ("scale_cap", 0.5),
        ("scale_period", 0.0),
        ("start_lag", -1.0),
    ):
        with pytest.raises(ParameterError, match=f"`{name}`"):
            Parameters(**{name: value})
    with pytest.raises(ParameterError, match="`autoscale`"):
        Parameters(autoscale=1)  # type: ignore[arg-type]
    outage = Event(kind="outage", start=1.0, end=2.0, cell=0)
    scenario = sample_scenario(0, cells=2, duration=5.0, warmup=0.0, events=(outage,))
    with pytest.raises(ScenarioError, match="autoscaler"):
        simulate(scenario, "rand", parameters=Parameters(autoscale=True))


def test_figure_shows_its_table(table: pd.DataFrame) -> None:
    """Three lines, and two in each panel of latency; comparison and caption can be made."""
    figure = daily_figure(table)
    assert [len(axis.get_lines()) for axis in figure.axes] == [3, 2, 2]
    wanted = table[table["arm"] == "fixed"].groupby("time")["p90"].mean()
    assert figure.axes[2].get_lines()[1].get_ydata() == pytest.approx(wanted.to_numpy())
    plot = discover(Path(__file__).parents[2]).artefacts["dlb-fig5"].plot
    assert len(plot.compare({"dlb-fig5": table})) == 6
    assert plot.numbers({"dlb-fig5": table})["scenarios"] == 2
