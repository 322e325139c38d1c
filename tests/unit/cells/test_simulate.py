"""Runs: conservation under faults, common streams, comparators, models, bad input."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lbtheory.cells import (
    ALL_POLICIES,
    ESTIMATE,
    CellSpec,
    Event,
    Parameters,
    Scenario,
    cell_stream,
    draw_stream,
    make_policy,
    sample_scenario,
    simulate,
    start_models,
)
from lbtheory.cells.calibration import calibrate, closed_loop_latency
from lbtheory.cells.records import REASONS
from lbtheory.cells.stepsize import slope_ratio, stepsizes
from lbtheory.cells.summary import compare_policies, summarise
from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.fluid.rates import Softplus

SHORT = sample_scenario(3, cells=3, duration=70.0, warmup=10.0)

event = st.builds(
    lambda kind, start, length, cell, router, replica, hard: Event(
        kind=kind, start=start, end=start + length, cell=cell, router=router, replica=replica, hard=hard, share=0.7
    ),
    st.sampled_from(["burst", "unhealthy", "crash"]),
    st.floats(0, 12),
    st.floats(0.01, 10),
    st.integers(0, 2),
    st.sampled_from(["leaf", "root"]),
    st.integers(0, 1),
    st.booleans(),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    events=st.lists(event, max_size=5),
    outage=st.booleans(),
    hard=st.booleans(),
    policy=st.sampled_from(sorted(ALL_POLICIES)),
    load=st.floats(0.3, 1.3),
    queue=st.sampled_from([0, 2, 32, None]),
    seed=st.integers(0, 50),
)
def test_conservation_under_faults(events, outage, hard, policy, load, queue, seed):
    """The engine counts at every event and raises on a difference; what it leaves adds up too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        scenario = sample_scenario(seed, cells=3, servers=2.0, utilisation=load, duration=15.0, warmup=1.0)
        if outage:
            events = [*events, Event(kind="outage", start=3.0, end=9.0, cell=1, hard=hard)]
        scenario = scenario.changed(events=tuple(events))
        p = Parameters(queue=queue, roots=2, leaves=2, plan_period=2.0, fit_period=1.0)
        run = simulate(scenario, policy, models=ESTIMATE, parameters=p)
    assert not (run.done & run.failed).any()
    assert (run.done | run.failed).all()
    assert ((run.reason > 0) == run.failed).all()
    assert (run.returned[run.done] >= run.finished[run.done]).all()
    ok = run.done
    assert (run.accepted[ok] >= run.arrival[ok]).all() and (run.finished[ok] >= run.prefilled[ok]).all()
    np.testing.assert_allclose(run.returned[ok], run.finished[ok] + run.latency[ok])


def test_stopped_run_leaves_requests_in_flight():
    run = simulate(SHORT, "rand", parameters=Parameters(cap=40.0))
    s = summarise(run, SHORT)
    assert run.stopped <= 40.0 and s.in_flight > 0
    assert s.arrived == s.done + s.failed + s.in_flight


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_least_connections_with_everything_visible_is_disc_rif(seed):
    """One root, no latency: its open requests are the RIF of the cells, and with current state both see the same."""
    scenario = sample_scenario(seed, cells=4, duration=70.0)
    rates = [float(scenario.arrivals.sum()), 0, 0, 0]
    cells = tuple(
        CellSpec(
            name=cell.name,
            servers=cell.servers,
            prefill_token_time=cell.prefill_token_time,
            decode_token_time=cell.decode_token_time,
            arrival_rate=rate,
        )
        for cell, rate in zip(scenario.cells, rates, strict=True)
    )
    scenario = scenario.changed(cells=cells, latency=np.zeros((4, 4)), allowed=None)
    p = Parameters(current_state=True)
    ours, theirs = (simulate(scenario, name, parameters=p) for name in ("wlc", "disc-rif"))
    np.testing.assert_array_equal(ours.cell, theirs.cell)
    np.testing.assert_array_equal(ours.returned, theirs.returned)
    stale = simulate(scenario, "disc-rif", parameters=Parameters(probe_period=1.0))
    assert (stale.cell != theirs.cell).any()


def test_all_policies_meet_the_same_requests():
    stream = draw_stream(SHORT, 1)
    again = draw_stream(SHORT.changed(events=(Event(kind="unhealthy", start=1.0, end=2.0, cell=0),)), 1)
    np.testing.assert_array_equal(stream.arrivals, again.arrivals)
    np.testing.assert_array_equal(stream.keys, again.keys)
    for name in ("rand", "flow-rif"):
        run = simulate(SHORT, name, trial=1)
        np.testing.assert_array_equal(run.arrival, stream.arrivals)
    assert len(draw_stream(SHORT, 2)) != len(stream)


@pytest.mark.slow
def test_results_do_not_depend_on_the_processes():
    one, two = (compare_policies(SHORT, ["mnlb", "disc-rif"], trials=3, workers=workers) for workers in (1, 2))
    assert one.as_json() == two.as_json()
    alone = compare_policies(SHORT, ["disc-rif"], trials=3)
    assert alone.averages("disc-rif") == one.averages("disc-rif")


def test_residency_and_aversion():
    """Nothing goes along a forbidden arc; an unhealthy cell is avoided, and comes back after it recovers."""
    mask = np.array([[True, True, False], [False, True, True], [True, True, True]])
    scenario = sample_scenario(5, cells=3, utilisation=0.4, duration=120.0, warmup=0.0).changed(
        allowed=mask, events=(Event(kind="unhealthy", start=30.0, end=60.0, cell=1, share=1.0),)
    )
    for name in ("rand", "disc-rif", "flow-rif", "p2c", "hot-cold", "mnlb"):
        run = simulate(scenario, name, models=ESTIMATE)
        assert mask[run.source, run.cell].all()
    run = simulate(scenario, "disc-rif")
    off = simulate(scenario, "disc-rif", parameters=Parameters(aversion=False))
    late = (run.arrival > 40) & (run.arrival < 60) & (run.source == 0)
    assert run.failed[late].mean() < 0.1 < off.failed[late].mean()
    assert run.diverted[late].mean() > 0.2 and not off.diverted.any()
    after = (run.arrival > 100) & (run.source == 0)
    assert not run.failed[after].any() and (run.cell[after] == 1).mean() > 0.3
    assert [REASONS[k] for k in np.unique(run.reason[run.failed])] == ["unhealthy"]


def test_rand_follows_replicas():
    """3 standard deviations of a binomial share."""
    run = simulate(SHORT, "rand")
    share = SHORT.servers / SHORT.servers.sum()
    found = np.bincount(run.cell, minlength=3) / len(run.cell)
    assert np.all(abs(found - share) < 3 * np.sqrt(share * (1 - share) / len(run.cell)))


def test_closed_loop():
    """One request alone takes the idle latency, and a saturated cell gives its capacity."""
    alone = closed_loop_latency(SHORT, 0, 1, completions=20_000)
    assert alone == pytest.approx(SHORT.idle_latencies[0], rel=0.02)
    servers = SHORT.cells[0].servers
    many = closed_loop_latency(SHORT, 0, 40 * servers, completions=20_000)
    assert 0.9 * SHORT.capacities[0] < 40 * servers / many < 1.03 * SHORT.capacities[0]
    found = calibrate(SHORT, 0)
    assert found.fit.relative_error < 0.03 and found.fit.model.margin > 0
    with pytest.raises(ParameterError, match="requests"):
        closed_loop_latency(SHORT, 0, 0)


@pytest.mark.parametrize("cost", ["rif", "latency", "gradient"])
@pytest.mark.parametrize("cells", [2, 6, 10])
def test_stepsize_is_locally_stable(cost, cells):
    """``max_j 2(f'/μ')Σ_i λ_i η_i τ_i^max ≤ 2κ`` at the slopes of 80 % load."""
    scenario = sample_scenario(4, cells=cells)
    p = Parameters()
    models = start_models(scenario)
    eta = stepsizes(scenario, models, cost, p)
    longest = scenario.latency.max(axis=1)
    weight = float((scenario.arrivals * eta * longest).sum())
    worst = max(
        2 * weight / slope_ratio(m, c.servers, r, cost)
        for m, c, r in zip(models, scenario.cells, scenario.server_rates, strict=True)
    )
    assert 0 < worst <= 2 * p.stepsize_gain + 1e-12


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: simulate(SHORT, "disc-grad"), ParameterError, "needs latency models"),
        (lambda: simulate(SHORT, "flow_grad"), UnknownNameError, "flow-grad"),
        (lambda: simulate(SHORT, "disc-lat", models=start_models(SHORT)[:2]), ParameterError, "each of 3 cells"),
        (lambda: simulate(SHORT, "disc-lat", models="guess"), ParameterError, "estimate"),
        (lambda: simulate(SHORT, "rand", parameters=Parameters(engine_slots=3)), ParameterError, "6 decode slots"),
        (lambda: simulate(SHORT, "rand", stream=cell_stream([1.0], [7], [1], [1])), ParameterError, "source"),
        (lambda: cell_stream([2.0, 1.0], [0, 0], [1, 1], [1, 1]), ParameterError, "ascending"),
        (lambda: cell_stream([1.0], [0], [0], [1]), ParameterError, "token"),
        (lambda: cell_stream([1.0], [0, 1], [1], [1]), ParameterError, "one length"),
        (lambda: Parameters(queue=-1), ParameterError, "`queue`"),
        (lambda: Parameters(probe_period=0.0), ParameterError, "`probe_period` .* > 0"),
        (lambda: Parameters(aversion=1), ParameterError, "true or false"),
        (lambda: Parameters(mixing=float("nan")), ParameterError, "`mixing`"),
        (lambda: Parameters(choices=1.5), ParameterError, "whole number"),
        (lambda: compare_policies(SHORT, []), ParameterError, "at least one"),
        (lambda: compare_policies(SHORT, ["rand", "rand"]), ParameterError, "twice"),
        (lambda: compare_policies(SHORT, ["rand"], trials=0), ParameterError, "trials"),
        (lambda: make_policy(3), ParameterError, "text"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_background_probes_keep_estimates_fresh():
    """A slow cell that nobody sends to: without probes its model stays the start model, with them it is the slow latency.

    The smoothed latency of a bin has a relative standard deviation of about 3 % here; the tolerance is three of them.
    """
    cells = [
        replace(cell, arrival_rate=rate) for cell, rate in zip(sample_scenario(3, cells=2).cells, (20.0, 0.0), strict=True)
    ]
    scenario = sample_scenario(3, cells=2, duration=100.0).changed(
        cells=tuple(cells),
        allowed=np.eye(2, dtype=bool),
        events=(Event(kind="slow", start=0.0, end=200.0, cell=1, factor=3.0),),
    )
    start = start_models(scenario)[1]
    off, on = (
        simulate(
            scenario,
            "disc-lat",
            models=ESTIMATE,
            parameters=Parameters(pull=0.0, smoothing=0.01, bin_width=2.0, background_period=period),
        )
        for period in (None, 0.25)
    )
    assert off.models[1] == pytest.approx([start.a, start.b, start.k, start.w]) and off.background == 0
    found = Softplus(**dict(zip("abkw", on.models[1], strict=True)))
    assert on.background == 799 and found.latency(1.0) == pytest.approx(3 * scenario.idle_latencies[1], rel=0.09)
    assert len(on.arrival) == len(off.arrival) and (on.cell == 0).all()


def test_empty_stream():
    run = simulate(SHORT, "flow-rif", stream=cell_stream([], [], [], []))
    s = summarise(run, SHORT)
    assert s.arrived == 0 and np.isnan(s.mean)


def test_overload_is_allowed_with_a_warning():
    with pytest.warns(UserWarning, match="utilisation is 1.2"):
        Scenario(cells=tuple(sample_scenario(1, cells=2).cells), latency=np.zeros((2, 2)))
        sample_scenario(1, cells=2, utilisation=1.2)
