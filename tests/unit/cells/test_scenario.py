"""Scenarios: the sampler's laws, files, events, bad input."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from lbtheory.cells import CellSpec, Demand, Event, Scenario, TokenLaw, draw_stream, sample_scenario
from lbtheory.cells.scenario import ScenarioError
from lbtheory.cells.scenario_file import read_scenario
from lbtheory.cells.stream import poisson_times
from lbtheory.cli import app
from lbtheory.core import FileFormatError, ParameterError

FILE = """
[scenario]
utilisation = 0.8
duration = 80.0
warmup = 20.0
length_scale = 2.0
seed = 5

[[cell]]
name = "west"
servers = 3
prefill_token_time = 0.0002
decode_token_time = 0.0032

[[cell]]
name = "east"
servers = 4
prefill_token_time = 0.0003
decode_token_time = 0.003
arrival_rate = 10.0

[network]
latency = [[0.0005, 0.03], [0.03, 0.0005]]
allowed = [["west", "east"], ["east"]]

[[event]]
kind = "unhealthy"
start = 30
end = 40
cell = "east"
"""


def written(tmp_path, text):
    path = tmp_path / "s.toml"
    path.write_text(text)
    return path


def test_sampler():
    """Utilisation is exact; sizes, servers and token times have the stated laws (4 standard errors over 400 scenarios)."""
    many = [sample_scenario(seed) for seed in range(400)]
    n = np.array([len(s.cells) for s in many])
    assert n.min() == 2 and n.max() == 10 and abs(n.mean() - 6) < 4 * np.sqrt(80 / 12 / 400)
    assert all(abs(s.utilisation - 0.8) < 1e-12 for s in many)
    servers = np.concatenate([s.servers for s in many])
    assert servers.min() >= 1 and abs(servers.mean() - 10) < 4 * np.sqrt(10 / len(servers))
    times = np.array([c.prefill_token_time for s in many for c in s.cells]) / 0.0002
    assert abs(times.mean() - 1) < 4 * 0.2 / np.sqrt(len(times)) and abs(times.std() - 0.2) < 0.02
    tau = many[0].latency
    assert np.allclose(np.diag(tau), 0.0005) and np.allclose(tau, tau.T) and tau.max() < 0.1


def test_one_seed_shares_its_draws():
    base, hot, short = (sample_scenario(2, **change) for change in ({}, {"utilisation": 0.9}, {"length_scale": 10.0}))
    np.testing.assert_array_equal(base.latency, hot.latency)
    np.testing.assert_allclose(hot.arrivals / base.arrivals, 0.9 / 0.8)
    np.testing.assert_allclose(short.arrivals, 10 * base.arrivals)
    np.testing.assert_allclose(short.idle_latencies, base.idle_latencies / 10)
    flat = sample_scenario(2, spread=0.0)
    assert len({c.decode_token_time for c in flat.cells}) == 1


def test_poisson_process_and_burst():
    """Counts inside and outside of a burst: 4 standard deviations of a Poisson number."""
    scenario = sample_scenario(1, cells=4, duration=600.0).changed(
        events=(Event(kind="burst", start=180.0, end=420.0, cell=2),)
    )
    stream = draw_stream(scenario)
    inside = (stream.arrivals >= 180) & (stream.arrivals < 420)
    extra = 0.95 * scenario.capacities.sum() - scenario.arrivals.sum()
    wanted = {True: 240 * (scenario.arrivals[2] + extra), False: 360 * scenario.arrivals[2]}
    for within, value in wanted.items():
        count = ((stream.sources == 2) & (inside == within)).sum()
        assert abs(count - value) < 4 * np.sqrt(value)
    others = (stream.sources == 1) & inside
    assert abs(others.sum() - 240 * scenario.arrivals[1]) < 4 * np.sqrt(240 * scenario.arrivals[1])
    assert (np.diff(stream.arrivals) >= 0).all()
    assert len(poisson_times(np.random.default_rng(0), 0.0, 10.0, None, 1.0)) == 0


def test_demand_patterns():
    """The factor has mean 1 and stays below its bound; counts in the first seconds of a minute: 4 standard deviations."""
    demand = Demand(wave=0.5, period=300.0, gathered=0.3, width=3.0)
    t = np.arange(0, 600, 0.01)
    assert demand.factor(t).mean() == pytest.approx(1, abs=1e-3) and demand.factor(t).max() <= demand.largest
    scenario = sample_scenario(1, cells=2, duration=600.0, demand=Demand(gathered=0.3, width=3.0))
    times = draw_stream(scenario).arrivals
    total = 600 * scenario.arrivals.sum()
    inside = (times % 60 < 3).sum()
    wanted = total * (0.7 * 3 / 60 + 0.3)
    assert abs(inside - wanted) < 4 * np.sqrt(wanted) and abs(len(times) - total) < 4 * np.sqrt(total)
    for bad in ({"wave": 1.0}, {"gathered": -0.1}, {"width": 0.0}, {"period": np.inf}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            Demand(**bad)


def test_tokens():
    """Mean 500 with standard deviation 225 √2, rounded."""
    tokens = TokenLaw().draw(np.random.default_rng(0), 100_000)
    assert abs(tokens.mean() - 500) < 4 * 225 * np.sqrt(2 / 100_000) and tokens.min() >= 50


def test_outage_order():
    """Cells fall to one replica in random order until utilisation exceeds 95 %, and not one more."""
    for seed in range(20):
        s = sample_scenario(seed, cells=6).changed(events=(Event(kind="outage", start=1.0, end=2.0),))
        hit = s.event_cells(0)
        left = s.capacities.copy()
        seen = []
        for j in hit:
            seen.append(s.arrivals.sum() / left.sum())
            left[j] = s.server_rates[j]
        assert max(seen) <= 0.95 < s.arrivals.sum() / left.sum()
        assert list(hit) == list(s.event_cells(0))


def test_file(tmp_path):
    s = read_scenario(written(tmp_path, FILE))
    assert [c.name for c in s.cells] == ["west", "east"] and s.seed == 5 and s.duration == 80.0
    assert s.cells[1].arrival_rate == 20.0 and s.cells[0].prefill_token_time == 0.0001
    assert abs(s.utilisation - 0.8) < 1e-12
    np.testing.assert_array_equal(s.allowed, [[True, True], [False, True]])
    assert s.events == (Event(kind="unhealthy", start=30, end=40, cell=1),)
    assert read_scenario(tmp_path / "s.toml", seed=8).seed == 8
    sampled = read_scenario(written(tmp_path, "[scenario]\ncells = 5\nnoise = 0.2\n"))
    assert len(sampled.cells) == 5 and sampled.noise == 0.2


@pytest.mark.parametrize(
    "old, new, line, message",
    [
        ("utilisation", "utilization", 3, "utilisation"),
        ("servers = 3", "server = 3", 11, "servers"),
        ("servers = 3", "servers = 0", 11, "≥ 1"),
        ("prefill_token_time = 0.0002", "prefill_token_time = -1.0", 12, "finite and ≥ 0"),
        ("decode_token_time = 0.0032", "decode_token_time = nan", 13, "finite"),
        ('"east"\nservers', '"west"\nservers', 16, "west"),
        ("warmup = 20.0", "warmup = 90.0", 5, "shorter than"),
        ("seed = 5", "seed = -5", 7, "≥ 0"),
        ('kind = "unhealthy"', 'kind = "unhealthly"', 27, "unhealthy"),
        ('cell = "east"', 'cell = "eats"', 31, "east"),
        ("end = 40", "end = 20", 30, "after its start"),
        ("[[0.0005, 0.03], [0.03, 0.0005]]", "[[0.0005, 0.03]]", 23, "2 rows"),
        ("[[0.0005, 0.03], [0.03, 0.0005]]", "[[0.0005, -0.03], [0.03, 0.0005]]", 23, "≥ 0"),
        ('["east"]]', '["eats"]]', 24, "east"),
        ('["east"]]', "[]]", 24, "admissible"),
        ("length_scale = 2.0", "length_scale = true", 6, "number"),
    ],
)
def test_bad_files(tmp_path, old, new, line, message):
    assert old in FILE
    with pytest.raises(FileFormatError, match=message) as caught:
        read_scenario(written(tmp_path, FILE.replace(old, new, 1)))
    assert caught.value.line is not None and abs(caught.value.line - line) <= 1


def test_bad_scenarios():
    cells = sample_scenario(1, cells=2).cells
    tau = np.zeros((2, 2))
    for make, message in [
        (lambda: Scenario(cells=(), latency=np.zeros((0, 0))), "at least one cell"),
        (lambda: Scenario(cells=cells, latency=np.zeros((3, 3))), "a row and a column"),
        (lambda: Scenario(cells=cells, latency=tau * np.nan), "seconds ≥ 0"),
        (lambda: Scenario(cells=cells, latency=tau, noise=1.0), "noise"),
        (lambda: Scenario(cells=cells, latency=tau, events=(Event(kind="burst", start=0.0, end=1.0, cell=5),)), "below 2"),
        (
            lambda: Scenario(
                cells=cells, latency=tau, events=tuple(Event(kind="outage", start=0.0, end=1.0, cell=j) for j in range(2))
            ),
            "outage of all cells",
        ),
        (lambda: Event(kind="burst", start=0.0, end=1.0, share=0.0), "share"),
        (lambda: TokenLaw(scale=-1.0), "scale"),
        (lambda: CellSpec(name="", servers=1, prefill_token_time=1.0, decode_token_time=1.0, arrival_rate=1.0), "name"),
        (lambda: CellSpec(name="a", servers=1, prefill_token_time=0.0, decode_token_time=0.0, arrival_rate=1.0), "both"),
        (lambda: sample_scenario(1, cells=0), "cells"),
        (lambda: sample_scenario(1, utilisation=0.0), "utilisation"),
        (lambda: sample_scenario(1, spread=-0.1), "spread"),
    ]:
        with pytest.raises((ScenarioError, ParameterError), match=message):
            make()


def test_command(tmp_path):
    path = written(tmp_path, FILE)
    run = CliRunner().invoke(app, ["cells", str(path), "--policy", "disc-rif", "--policy", "mnlb", "--trials", "2", "--json"])
    assert run.exit_code == 0, run.output
    answer = json.loads(run.stdout)
    assert set(answer) == {"config", "policies"} and list(answer["policies"]) == ["disc-rif", "mnlb"]
    keys = {"arrived", "done", "failed", "in_flight", "mean", "p90", "error_rate", "goodput", "normalised"}
    for row in answer["policies"].values():
        assert keys <= set(row) and row["arrived"] == row["done"] + row["failed"] + row["in_flight"]
    table = CliRunner().invoke(app, ["cells", str(path), "--policy", "disc-rif"])
    assert table.exit_code == 0 and "over rand" in table.stdout
