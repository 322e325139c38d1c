"""The simulator scaled up against the fluid trajectory: the scaling, the distance, the rate, and the figure of its table."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.fluid_limit import analysis, sweep
from lbtheory.cells.calibration import closed_loop_latency
from lbtheory.cells.stepsize import stepsizes
from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.fluid import Network
from lbtheory.fluid.rates import CappedLinear
from lbtheory.plots.fluid_limit import limit_figure, limit_rates
from lbtheory.study.discovery import discover
from lbtheory.study.tasks import run
from lbtheory.verify.fluid_limit import (
    SERVICE,
    ScaledSystem,
    at_size,
    changes,
    distances,
    fluid_path,
    run_at,
    scaled_system,
    workloads_at,
)

DURATION = 32.0


@pytest.fixture(scope="module")
def pool() -> ScaledSystem:
    """Cells whose fluid rate is known."""
    return scaled_system("pool", DURATION)


@pytest.fixture(scope="module")
def cells() -> ScaledSystem:
    """Cells of servers."""
    return scaled_system("cells", DURATION)


@pytest.mark.parametrize("requests", [3, 12])
def test_rate_of_a_pool(pool: ScaledSystem, requests: int) -> None:
    """A closed loop of N requests serves min(N, 8)/E[S]; the standard error of 40,000 exponential times is 0.5 % at most."""
    scenario, _, parameters = at_size(pool, 1)
    for j, service in enumerate(SERVICE):
        rate = requests / closed_loop_latency(scenario, j, requests, completions=40_000, parameters=parameters)
        assert rate == pytest.approx(min(requests, 8) / service, rel=0.02)
        assert float(pool.network.cells[j].rate.rate(float(requests))) == pytest.approx(min(requests, 8) / service, rel=1e-14)


def test_scaled_stepsize(pool: ScaledSystem, cells: ScaledSystem) -> None:
    """``η c(N^m)`` is the fluid's ``η c(n)``: 1/m for the RIF of one server, unchanged for a cost per replica."""
    for system, power in ((pool, 1), (cells, 0)):
        base = stepsizes(*at_size(system, 1)[:2], system.cost, at_size(system, 1)[2])
        for m in (3, 16):
            scenario, models, parameters = at_size(system, m)
            assert stepsizes(scenario, models, system.cost, parameters) * m**power == pytest.approx(base, rel=1e-12)
            assert scenario.capacities == pytest.approx(m * system.scenario.capacities, rel=1e-12)
            assert scenario.arrivals == pytest.approx(m * system.scenario.arrivals, rel=1e-12)


def test_workloads_and_distance_by_hand(pool: ScaledSystem) -> None:
    """Counts of requests present, one by one, and the distances by their definition at small size."""
    system, m = pool, 1
    fluid, found = fluid_path(system), run_at(pool, m, 0)
    times = np.linspace(0, DURATION, 41)
    for t, row in zip(times, workloads_at(found, times), strict=True):
        for j in range(3):
            present = (found.cell == j) & (found.accepted <= t) & (found.finished > t)
            assert row[j] == present.sum()
    most = 0.0
    for j in range(3):
        came, left = changes(found, j)
        for t in np.r_[came, left]:
            if t <= DURATION:
                exact = float(fluid.workloads_at(float(t))[j])
                after = int((came <= t).sum() - (left <= t).sum())
                before = int((came < t).sum() - (left < t).sum())
                most = max(most, abs(after - exact) / 8, abs(before - exact) / 8)
    greatest, rms = distances(system, fluid, found, m)
    assert most <= greatest <= most + 0.05
    ticks = np.arange(0, DURATION + 1 / 256, 1 / 128)
    square = np.mean((workloads_at(found, ticks) / m - fluid.workloads_at(ticks)) ** 2) / 64
    assert rms == pytest.approx(square**0.5, rel=1e-12)


def test_nothing_arrives_before_the_first_latency(pool: ScaledSystem) -> None:
    """Both start with nothing on the wire: until 6 ticks a cell has only what its own root sent, less than 5 % of it served."""
    fluid = fluid_path(pool)
    assert fluid.error_estimate < 1e-5
    early = fluid.workloads_at(np.array([1 / 128, 5 / 128]))
    assert early[0] == pytest.approx(np.zeros(3), abs=1e-12)
    sent = pool.scenario.arrivals / 3 * 4 / 128
    assert (early[1] < sent).all() and (early[1] > 0.95 * sent).all()


def test_distance_falls_as_the_root(pool: ScaledSystem) -> None:
    """From m = 4 to 64 it falls fourfold (2.5 to 6.4 over five trials), and a fluid of 20 % longer service stays away."""
    fluid = fluid_path(pool)
    runs = {m: [run_at(pool, m, trial) for trial in range(5)] for m in (4, 64)}
    rms = {m: np.mean([distances(pool, fluid, one, m)[1] for one in runs[m]]) for m in runs}
    assert 2.5 < rms[4] / rms[64] < 6.4
    rates = [CappedLinear(service=1.2 * service, slots=8) for service in SERVICE]
    wrong = replace(
        pool,
        network=Network(
            cells=tuple(replace(cell, rate=rate) for cell, rate in zip(pool.network.cells, rates, strict=True)),
            latency=pool.network.latency,
        ),
    )
    away = np.mean([distances(wrong, fluid_path(wrong), one, 64)[1] for one in runs[64]])
    assert away > 3 * rms[64]


@pytest.mark.slow
def test_measured_rate() -> None:
    """The quick sweep: the interval of the slope of M/M/c cells holds −1/2, and their floor holds 0."""
    records = [{**row, "seed": seed} for task, given, seed in sweep.cells("quick") for row in run(task, given, seed)]
    found = limit_rates(analysis.table(records)).set_index(["system", "measure"])
    for measure in ("greatest", "rms"):
        assert found.loc[("pool", measure), "low"] < -0.5 < found.loc[("pool", measure), "high"]
    assert found.loc[("pool", "rms"), "floor_low"] < 0 < found.loc[("pool", "rms"), "floor_high"]
    assert found.loc[("cells", "rms"), "floor_low"] > 0


def test_bad_input(pool: ScaledSystem) -> None:
    """Unknown systems and sizes below 1."""
    with pytest.raises(UnknownNameError, match="pool"):
        scaled_system("pol", DURATION)
    for m in (0, -1, 1.5, True):
        with pytest.raises(ParameterError, match="`m` of `at_size`"):
            at_size(pool, m)  # type: ignore[arg-type]


def _powers(floor: float) -> pd.DataFrame:
    sizes = np.array([1, 4, 16, 64])
    rows = [
        {"system": "pool", "size": int(m), "trial": k, "greatest": (1 + k) * m**-0.5, "rms": (floor + (1 + k) / m) ** 0.5}
        for k in range(3)
        for m in sizes
    ]
    return pd.DataFrame(rows)


def test_rates_of_powers() -> None:
    """Exact powers: the slope and the floor, with intervals of no width."""
    most, rms = limit_rates(_powers(0.0)).to_dict("records")
    assert [most[key] for key in ("slope", "low", "high")] == pytest.approx([-0.5] * 3, abs=1e-12)
    assert [rms[key] for key in ("floor", "floor_low", "floor_high")] == pytest.approx([0] * 3, abs=1e-12)
    _, rms = limit_rates(_powers(0.25)).to_dict("records")
    assert [rms[key] for key in ("floor", "floor_low", "floor_high")] == pytest.approx([0.25] * 3, abs=1e-12)


def test_figure_shows_its_table() -> None:
    """Paths and distances are those of the table; the caption can be filled."""
    records = [
        {**row, "seed": 0} for row in run(sweep.cells("quick")[0][0], {**sweep.cells("quick")[0][1], "sizes": [4, 16]}, 0)
    ]
    for system in ("pool", "cells"):
        for trial in (0, 1):
            given = {"system": system, "sizes": [1, 4, 8], "duration": 8.0}
            records += [{**row, "seed": trial} for row in run(sweep.cells("quick")[1][0], given, trial)]
    table = analysis.table(records)
    figure = limit_figure(table)
    first, middle, last = figure.axes
    paths = table[table["time"].notna()]
    assert first.get_lines()[2].get_ydata() == pytest.approx(paths["load"][paths["size"] == 0])
    for axis, system in ((middle, "pool"), (last, "cells")):
        rows = table[(table["system"] == system) & table["rms"].notna()]
        drawn = [line.get_ydata() for line in axis.get_lines()]
        for measure in ("greatest", "rms"):
            mean = rows.groupby("size")[measure].mean().to_numpy()
            assert any(len(y) == 3 and np.allclose(y, mean, rtol=1e-12) for y in drawn)
    plot = discover(Path(__file__).parents[2]).artefacts["fluid-limit"].plot
    assert set(plot.numbers({"fluid-limit": table})) >= {"slope", "cells_floor"}
    assert len(plot.compare({"fluid-limit": table})) == 4
