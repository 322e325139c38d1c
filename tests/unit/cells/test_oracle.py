"""The compiled engine against the plain oracle: the same state after every event."""

import numpy as np
import pytest

from lbtheory.cells import (
    ALL_POLICIES,
    ESTIMATE,
    CapacityStep,
    CellSpec,
    Event,
    Parameters,
    Scenario,
    Sessions,
    cell_stream,
    make_schedule,
    simulate,
    with_sessions,
)
from lbtheory.cells.background import with_background
from lbtheory.cells.engine import layout_of, start_models
from lbtheory.cells.kernels import layout
from lbtheory.cells.kernels.run import begin, run
from tests.reference.cell_parts import uniform
from tests.reference.cells import System

CODES = (
    "replicas",
    "lose",
    "failing",
    "crash leaf",
    "restart leaf",
    "crash root",
    "restart root",
    "prefill time",
    "decode time",
    "stage",
)
PHASE = ("future", "out", "waiting", "prefill", "blocked", "decode", "back", "error", "done", "failed")


def small_scenario(rng, n, **changes):
    """Cells so small that queues overflow and slots block, with latencies of many probe periods."""
    cells = tuple(
        CellSpec(
            name=f"c{j}",
            servers=int(rng.integers(1, 4)),
            prefill_token_time=float(rng.uniform(0.5e-4, 3e-4)),
            decode_token_time=float(rng.uniform(1e-3, 5e-3)),
            arrival_rate=float(rng.uniform(5, 25)),
        )
        for j in range(n)
    )
    tau = rng.uniform(0, 0.08, (n, n))
    return Scenario(cells=cells, latency=tau, **({"duration": 8.0, "warmup": 0.0, "seed": int(rng.integers(1000))} | changes))


def small_stream(rng, scenario, requests, ties=False):
    """Arrivals faster than the servers; with ``ties``, times and tokens on a coarse grid."""
    times = np.sort(rng.uniform(0, scenario.duration, requests))
    if ties:
        times = np.round(times, 1)
    tokens = [rng.integers(1, 900, requests), rng.integers(1, 400, requests)]
    if ties:
        tokens = [200 * rng.integers(1, 4, requests), 100 * rng.integers(1, 4, requests)]
    return cell_stream(times, rng.integers(0, len(scenario.cells), requests), *tokens, seed=int(rng.integers(1000)))


def planner(n):
    """Scratch of the MNLB program."""
    return layout.Planner(
        supply=np.zeros(n),
        capacity=np.zeros(n),
        price=np.zeros((n, n)),
        flow=np.zeros((n, n)),
        room=np.zeros(n),
        excess=np.zeros(n),
        distance=np.zeros(2 * n),
        parent=np.zeros(2 * n, np.int64),
    )


def same_steps(scenario, policy, stream, p, models=None, disruptions=()):
    """Run both side by side; returns (steps, oracle)."""
    chosen = make_schedule(policy)
    lim, net, st, est = layout_of(scenario, chosen, stream, models, p)
    stages = [(stage.start, "stage", 0, k, 0.0) for k, stage in enumerate(chosen.stages) if k]
    disruptions = sorted([*disruptions, *stages], key=lambda row: row[0])
    rows = [(time, CODES.index(kind), cell, index, value) for time, kind, cell, index, value in disruptions]
    st = st._replace(disruption=np.array(rows, layout.DISRUPTION))
    known = start_models(scenario) if models in (None, ESTIMATE) else models
    oracle = System(
        scenario,
        chosen,
        stream,
        p,
        models=known,
        estimated=models == ESTIMATE and chosen.needs_model,
        stepsize=net.stepsize,
        disruptions=list(disruptions),
    )
    begin(st, lim, net)
    plan, steps = planner(len(scenario.cells)), 0
    while oracle.busy():
        assert run(st, lim, net, plan, est, 1)
        oracle.step()
        steps += 1
        assert st.floats[layout.NOW] == oracle.now
        assert oracle.arrived == oracle.done + oracle.failed + oracle.in_flight()
        counts = [st.ints[k] for k in (layout.ARRIVED, layout.DONE_COUNT, layout.FAILED_COUNT)]
        assert counts == [oracle.arrived, oracle.done, oracle.failed]
        assert st.cell["rif"].tolist() == [oracle.rif(j) for j in range(oracle.n)]
        assert st.leaf["count"].tolist() == oracle.leaf_count
        assert st.cell["replicas"].tolist() == oracle.active
    assert st.ints[layout.VIOLATIONS] == 0
    table = st.request
    assert [PHASE[k] for k in table["status"]] == [r.phase for r in oracle.requests]
    assert table["cell"].tolist() == [r.cell for r in oracle.requests]
    for name in ("accepted", "finished", "returned"):
        np.testing.assert_array_equal(table[name], [getattr(r, name) for r in oracle.requests])
    np.testing.assert_allclose(st.x, oracle.x, atol=1e-12)
    np.testing.assert_allclose(st.alpha, oracle.alpha, atol=1e-12)
    np.testing.assert_array_equal(st.open, oracle.open)
    assert table["hit"].tolist() == [r.hit for r in oracle.requests]
    assert table["prefill"].tolist() == [r.prefill for r in oracle.requests]
    if oracle.estimated:
        np.testing.assert_allclose(np.column_stack([st.cell[k] for k in "abkw"]), oracle.theta, rtol=1e-12)
    return steps, oracle


@pytest.mark.parametrize("policy", sorted(ALL_POLICIES))
@pytest.mark.parametrize("ties", [False, True])
def test_every_policy(policy, ties):
    rng = np.random.default_rng([1, ties])
    scenario = small_scenario(rng, 3)
    p = Parameters(queue=2, plan_period=1.0, fit_period=1.0, random_ties=not ties, probe_period=0.02)
    _, oracle = same_steps(scenario, policy, small_stream(rng, scenario, 300, ties), p, models=ESTIMATE)
    assert oracle.failed > 0 and oracle.done > 0


@pytest.mark.parametrize("policy", ["rand", "disc-grad", "flow-lat", "wlc", "mnlb"])
@pytest.mark.parametrize("seed", [0, 1])
def test_faults_and_options(policy, seed):
    """Every fault at once, with several routers a cell, residency, probes that are not shared, other rules for the servers."""
    rng = np.random.default_rng([2, seed])
    scenario = small_scenario(rng, 4)
    mask = rng.random((4, 4)) < 0.7
    np.fill_diagonal(mask, True)
    scenario = scenario.changed(allowed=mask)
    p = Parameters(
        queue=4,
        choices=3,
        count_service=bool(seed),
        roots=2,
        leaves=2,
        shared_probes=bool(seed),
        plan_period=1.5,
        probe_period=0.03,
        fit_period=0.7,
        fit_window=2.1,
    )
    disruptions = [
        (1.0, "failing", 1, 0, 0.6),
        (2.0, "lose", 0, 0, 1.0),
        (2.0, "crash leaf", 2, 1, 0.0),
        (2.5, "crash root", 3, 0, 0.0),
        (3.0, "crash root", 3, 1, 0.0),
        (3.5, "replicas", 2, 0, 1.0),
        (4.0, "restart leaf", 2, 1, 0.0),
        (4.5, "crash leaf", 2, 0, 0.0),
        (5.0, "failing", 1, 0, 0.0),
        (5.0, "replicas", 0, 0, float(scenario.cells[0].servers)),
        (5.5, "replicas", 2, 0, float(scenario.cells[2].servers)),
        (6.0, "restart root", 3, 0, 0.0),
        (6.5, "restart root", 3, 1, 0.0),
        (7.0, "crash leaf", 2, 1, 0.0),
        (7.5, "restart leaf", 2, 0, 0.0),
    ]
    _, oracle = same_steps(scenario, policy, small_stream(rng, scenario, 400), p, models=ESTIMATE, disruptions=disruptions)
    assert oracle.alpha.max() >= 0 and oracle.failed > 10


@pytest.mark.parametrize("affinity", ["none", "hash", "sticky", "conditional"])
def test_affinity(affinity):
    """Sessions with shared prefixes, through the loss of servers and the crash of a root."""
    rng = np.random.default_rng(7)
    scenario = small_scenario(rng, 3)
    stream = with_sessions(small_stream(rng, scenario, 350), scenario, Sessions(length=8.0, active=6, hot=0.2))
    p = Parameters(affinity=affinity, queue=4, roots=2)
    disruptions = [(3.0, "lose", 0, 0, 1.0), (3.5, "crash root", 1, 0, 0.0), (5.0, "restart root", 1, 0, 0.0)]
    _, oracle = same_steps(scenario, "disc-rif", stream, p, models=start_models(scenario), disruptions=disruptions)
    hits = sum(request.hit for request in oracle.requests)
    assert hits > (100 if affinity in ("sticky", "hash") else 10)


@pytest.mark.parametrize("policy", ["disc-lat", "flow-lat"])
def test_dithering_and_slow_cells(policy):
    rng = np.random.default_rng(6)
    scenario = small_scenario(rng, 3)
    disruptions = [(2.0, "prefill time", 0, 0, 6e-4), (2.0, "decode time", 0, 0, 1e-2), (4.0, "decode time", 0, 0, 1e-3)]
    p = Parameters(mixing=0.3, fit_period=1.0)
    _, oracle = same_steps(scenario, policy, small_stream(rng, scenario, 250), p, models=ESTIMATE, disruptions=disruptions)
    assert len({request.cell for request in oracle.requests}) == 3


@pytest.mark.parametrize(
    "policy, lag", [("rand", 0.0), ("flow-lat", 0.0), ("mnlb", 0.6), ("rand", 0.6), ("rand", 1.7), ("flow-lat", 1.7)]
)
def test_autoscaler(policy, lag):
    """Replicas grow, shrink and hit the cap; servers that start are cancelled; what retires finishes what it holds."""
    rng = np.random.default_rng(8)
    scenario = small_scenario(rng, 3, duration=16.0)
    stream = small_stream(rng, scenario, 600)
    kept = np.nonzero(rng.random(len(stream)) < 0.55 + 0.45 * np.sin(stream.arrivals * 1.2))[0]
    stream = cell_stream(*(column[kept] for column in (stream.arrivals, stream.sources, stream.prefill, stream.decode)))
    p = Parameters(autoscale=True, scale_period=0.5, start_lag=lag, scale_cap=2.5, plan_period=1.0, fit_period=1.0, leaves=2)
    _, oracle = same_steps(scenario, policy, stream, p, models=ESTIMATE)
    sizes = np.array(oracle.sizes)
    assert (np.diff(sizes, axis=0) > 0).any() and (np.diff(sizes, axis=0) < 0).any()
    assert sizes.min() == 1 and (sizes.max(axis=0) <= np.floor(2.5 * scenario.servers)).all()
    run_again = simulate(scenario, policy, stream=stream, models=ESTIMATE, parameters=p)
    k = min(len(sizes), len(run_again.sizes))
    np.testing.assert_array_equal(run_again.sizes[:k], sizes[:k])


SCHEDULES = (
    "mnlb,flow-grad@3",
    "disc-rif,disc-grad@2+3",
    "flow-rif,flow-lat@2+2.5,hot-cold@4.5",
    "p2c,rand@1,mnlb@3+4,oracle@7.5",
)


@pytest.mark.parametrize("policy, aversion", [*((one, True) for one in SCHEDULES), (SCHEDULES[1], False)])
def test_policy_schedules(policy, aversion):
    """A switch, ramps, one stage right after the ramp of another; a root that restarts and a cell that fails in between."""
    rng = np.random.default_rng([9, aversion])
    scenario = small_scenario(rng, 3)
    p = Parameters(queue=3, plan_period=1.0, fit_period=1.0, probe_period=0.02, roots=2, aversion=aversion, mixing=0.1)
    disruptions = [
        (1.0, "failing", 1, 0, 0.5),
        (2.2, "crash root", 0, 1, 0.0),
        (3.5, "restart root", 0, 1, 0.0),
        (5.0, "failing", 1, 0, 0.0),
    ]
    _, oracle = same_steps(scenario, policy, small_stream(rng, scenario, 400), p, models=ESTIMATE, disruptions=disruptions)
    assert oracle.stage == len(make_schedule(policy).stages) - 1 and oracle.failed > 0


@pytest.mark.parametrize("policy", ["mnlb", "flow-lat"])
def test_capacity_schedules(policy):
    """Cells shrink and grow beyond what they begin with, gracefully, with an outage in between."""
    rng = np.random.default_rng(10)
    steps = [CapacityStep(time=t, cell=j, servers=r) for t, j, r in ((1.0, 0, 1), (2.5, 0, 6), (2.0, 2, 5), (6.0, 2, 2))]
    outage = Event(kind="outage", start=3.0, end=5.0, cell=0)
    scenario = small_scenario(rng, 3, capacity=tuple(steps), events=(outage,))
    disruptions = [
        (1.0, "replicas", 0, 0, 1.0),
        (2.0, "replicas", 2, 0, 5.0),
        (2.5, "replicas", 0, 0, 6.0),
        (3.0, "replicas", 0, 0, 1.0),
        (5.0, "replicas", 0, 0, 6.0),
        (6.0, "replicas", 2, 0, 2.0),
    ]
    p = Parameters(queue=4, plan_period=1.0, fit_period=1.0)
    stream = small_stream(rng, scenario, 400)
    _, _, st, _ = layout_of(scenario, make_schedule(policy), stream, ESTIMATE, p)
    assert [tuple(row) for row in st.disruption.tolist()] == [(t, CODES.index(kind), *rest) for t, kind, *rest in disruptions]
    _, oracle = same_steps(scenario, policy, stream, p, models=ESTIMATE, disruptions=disruptions)
    assert [len(cell) for cell in oracle.servers] == scenario.most_servers.tolist()
    assert any(request.server >= scenario.cells[0].servers and request.cell == 0 for request in oracle.requests)
    assert scenario.servers_at(2.5).tolist() == [6, scenario.cells[1].servers, 5]


@pytest.mark.parametrize("policy", ["disc-lat", "mnlb,flow-grad@3"])
def test_background_probes(policy):
    """Requests of out-of-band probing go to their cell whatever the policy, count in its load and not in MNLB's demand."""
    rng = np.random.default_rng(11)
    scenario = small_scenario(rng, 3, allowed=np.array([[True, True, False], [False, True, True], [False, True, False]]))
    stream = with_sessions(small_stream(rng, scenario, 250), scenario, Sessions(length=4.0))
    probed = with_background(stream, scenario, 0.5)
    assert len(probed) == len(stream) + 47 and (probed.targets >= 0).sum() == 47
    p = Parameters(queue=3, plan_period=1.0, fit_period=1.0, roots=2)
    _, oracle = same_steps(scenario, policy, probed, p, models=ESTIMATE)
    sent = [request for request in oracle.requests if request.target >= 0]
    assert all(request.cell == request.target for request in sent) and {r.source for r in sent if r.target == 2} == {1}
    run_again = simulate(
        scenario,
        policy,
        stream=stream,
        models=ESTIMATE,
        parameters=Parameters(queue=3, plan_period=1.0, fit_period=1.0, roots=2, background_period=0.5),
    )
    assert run_again.background == 47 and len(run_again.arrival) == len(stream)
    np.testing.assert_array_equal(run_again.cell, [r.cell for r in oracle.requests if r.target < 0])


def test_current_state():
    rng = np.random.default_rng(3)
    scenario = small_scenario(rng, 3)
    same_steps(scenario, "disc-rif", small_stream(rng, scenario, 400), Parameters(current_state=True))


def test_one_cell_one_server():
    rng = np.random.default_rng(4)
    scenario = small_scenario(rng, 1)
    steps, _ = same_steps(scenario, "flow-rif", small_stream(rng, scenario, 60), Parameters(choices=1, queue=0))
    assert steps > 60


def test_uniform_numbers():
    """SplitMix64 of seed 0: the generator's published first outputs (Vigna's reference code), as 53 bits."""
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [uniform(0, k) for k in range(3)] == [(word >> 11) / 2**53 for word in published]
    from lbtheory.cells.kernels.uniform import uniform as compiled

    for key in (0, 1, 2**64 - 1, 123456789123456789):
        assert [compiled(np.uint64(key), k) for k in range(8)] == [uniform(key, k) for k in range(8)]


def test_events_of_a_scenario():
    """The disruptions that a scenario's events become."""
    rng = np.random.default_rng(5)
    events = (
        Event(kind="outage", start=2.0, end=5.0, cell=1, hard=True),
        Event(kind="unhealthy", start=1.0, end=3.0, cell=0, share=0.4),
        Event(kind="crash", start=2.0, end=3.0, cell=2, router="root"),
    )
    scenario = small_scenario(rng, 3, events=events)
    _, _, st, _ = layout_of(scenario, make_schedule("rand"), small_stream(rng, scenario, 5), None, Parameters())
    rows = [tuple(row) for row in st.disruption.tolist()]
    assert rows == [
        (1.0, layout.SET_FAILING, 0, 0, 0.4),
        (2.0, layout.LOSE_REPLICAS, 1, 0, 1.0),
        (2.0, layout.CRASH_ROOT, 2, 0, 0.0),
        (3.0, layout.SET_FAILING, 0, 0, 0.0),
        (3.0, layout.RESTART_ROOT, 2, 0, 0.0),
        (5.0, layout.SET_REPLICAS, 1, 0, float(scenario.cells[1].servers)),
    ]
