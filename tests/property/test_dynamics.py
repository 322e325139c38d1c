"""The delay integrator on random networks: its oracles, the simplex, signs, mass, and two ways to project."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lbtheory.fluid.dynamics import (
    Signal,
    burst,
    mass_residual,
    outage,
    simplex_projection,
    simulate,
    stepping,
    tangent_projection,
)
from tests.reference import dynamics as oracle
from tests.unit.fluid.dynamics.networks import LINEAR, drawn, mm1, outer, residency, start

COSTS = ("rif", "latency", "gradient")
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("seed", range(6))
def test_kernel_against_its_oracle(seed: int) -> None:
    """Events, families, costs, delays on and off the grid: equal to rounding, step by step."""
    rng = np.random.default_rng(seed)
    whole = seed % 2 == 1
    net = drawn(rng, cells=int(rng.integers(2, 5)), sources=int(rng.integers(1, 3)), grid=0.05 if whole else 0.0437)
    n = len(net.cells)
    loads, shares = rng.uniform(0, 3, n), start(net, rng.dirichlet(np.ones(n), len(net.sources)))
    eta = float(rng.choice([0.05, 0.5, 2.0]))
    run = simulate(
        net, COSTS[seed % 3], eta=eta, t_end=1.0, step=0.05 if whole else 0.04, mesh="even", workloads=loads, shares=shares
    )
    n_plain, x_plain = oracle.integrate(net, COSTS[seed % 3], eta, run.step, run.steps, loads, shares)
    assert np.abs(n_plain - run.workloads).max() < 1e-11 and np.abs(x_plain - run.shares).max() < 1e-11


@pytest.mark.parametrize(("cells", "grid"), [(4, 0.0437), (41, 0.0437), (85, 0.04)])
def test_lanes_against_the_general_way(cells: int, grid: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of one source, faces, events, thinning: equal to rounding without the quick way."""
    rng = np.random.default_rng(cells)
    net = drawn(rng, cells=cells, sources=3, grid=grid)
    some = rng.dirichlet(np.full(cells, 0.5), 3) * (rng.random((3, cells)) < 0.7)
    shares = start(net, some / some.sum(axis=1, keepdims=True))
    options: dict[str, Any] = {
        "eta": 0.02, "t_end": 3.0, "step": 0.04, "mesh": "even", "workloads": rng.uniform(0, 3, cells), "shares": shares,
    }  # fmt: skip
    quick = simulate(net, "latency", **options), simulate(net, "latency", every=7, **options)
    make = stepping._lanes.make_lanes
    monkeypatch.setattr(stepping._lanes, "make_lanes", lambda first, *rest: make(np.zeros_like(first), *rest))
    slow = simulate(net, "latency", **options), simulate(net, "latency", every=7, **options)
    assert quick[0].events == slow[0].events > 0
    for one, other in zip(quick, slow, strict=True):
        for name in ("workloads", "workload_slopes", "shares", "share_slopes"):
            assert np.abs(getattr(one, name) - getattr(other, name)).max() < 1e-11, name


def test_oracle_on_degenerate_starts() -> None:
    """Vertices, exact ties, empty cells, equal delays: the same as the oracle."""
    net = outer([mm1(1.0), mm1(1.0), mm1(2.0)], [0.7, 0.9], [[0.1, 0.1, 0.2], [0.1, 0.3, 0.1]])
    shares = start(net, [[1, 0, 0], [0, 0.5, 0.5]])
    run = simulate(net, "latency", eta=3.0, t_end=2, step=0.05, shares=shares)
    n_plain, x_plain = oracle.integrate(net, "latency", 3.0, 0.05, run.steps, np.zeros(3), shares)
    assert run.events > 0
    assert np.abs(n_plain - run.workloads).max() < 1e-11 and np.abs(x_plain - run.shares).max() < 1e-11


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_projections_against_bisection(seed: int) -> None:
    """Simplex and tangent cone, with ties and zeros; Moreau and the oscillation bound."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 40))
    z = rng.normal(0, 1, d) if seed % 2 else rng.integers(-2, 3, d).astype(float)
    x = simplex_projection(z)
    assert np.abs(x - oracle.simplex(z)).max() < 1e-13 and x.min() >= 0 and abs(x.sum() - 1) < 1e-14
    v = tangent_projection(x, z)
    assert np.abs(v - oracle.tangent(x, z)).max() < 1e-12 and abs(v.sum()) < 1e-12
    assert (v[x == 0] >= 0).all() and np.abs(v).max() <= np.ptp(z) + 1e-12
    other = rng.dirichlet(np.ones(d))
    assert (x - other) @ (v - z) <= 1e-12


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from(["flow", "flow-projected", "flow-periodic", "discrete", "fixed"]))
@example(629, "flow")
def test_signs_simplex_and_mass(seed: int, routing: str) -> None:
    """Workloads ≥ 0, shares on the simplex to 1e-12, requests conserved, for every routing."""
    rng = np.random.default_rng(seed)
    net = drawn(rng, cells=int(rng.integers(1, 4)), sources=int(rng.integers(1, 3)), least=int(rng.integers(0, 2)))
    n = len(net.cells)
    run = simulate(
        net,
        COSTS[seed % 3],
        eta=None if routing in ("discrete", "fixed") else float(rng.choice([0.01, 0.3, 5.0])),
        routing=routing,
        period=0.1 if routing == "flow-periodic" else None,
        t_end=3.0,
        step=0.0125,
        workloads=np.where(rng.random(n) < 0.4, 0.0, rng.uniform(0, 4, n)),
        shares=start(net, rng.dirichlet(np.full(n, 0.3), len(net.sources))),
    )
    assert run.workloads.min() >= 0 and run.shares.min() >= 0
    sums = run.routing.sum(axis=2)
    assert np.abs(sums - 1).max() < 1e-12
    dense = run.shares_at(np.linspace(0, run.end, 777))
    assert dense.min() >= 0
    # an event bends a share inside a step: its interpolation is off by at most the change of slope times h/8, and by 1
    width, turn = np.diff(run.times)[:, None], np.abs(run.share_slopes[:-1, :, 0] - run.share_slopes[1:, :, 1])
    source, cell = net.arcs
    bends = np.bincount(cell, (np.minimum(width * turn / 8, 1) * width).sum(axis=0) * net.arrivals[source]).max()
    # projected steps are bent too; a jump of held routing errs by h²
    limit = (
        1e-5 + bends
        if routing == "flow" and not run.unsettled
        else 5e-4
        if routing == "flow-projected" or run.unsettled
        else 2e-4
    )
    assert mass_residual(run) < limit


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_mass_to_the_order_of_the_method(seed: int) -> None:
    """Flow routing without events: the residual is that of order 4."""
    rng = np.random.default_rng(seed)
    net = drawn(rng)
    run = simulate(net, "rif", eta=0.01, t_end=3.0, step=0.0125, workloads=rng.uniform(0.5, 2, 3))
    assert run.events == 0 and mass_residual(run) < 1e-8


@pytest.mark.parametrize("routing", ["flow", "flow-projected"])
def test_two_ways_to_project(routing: str) -> None:
    """Events against projected steps: the same limit, the second of first order at the boundary."""
    net = residency()
    fine = simulate(net, "latency", eta=0.5, t_end=20, step=0.05 / 16)
    assert fine.events > 0
    errors = []
    for step in (0.05, 0.025, 0.0125):
        run = simulate(net, "latency", eta=0.5, t_end=20, step=step, routing=routing)
        errors.append(np.abs(run.workloads_at(fine.times) - fine.workloads).max())
    assert errors[2] < errors[0] and errors[2] < (1e-5 if routing == "flow" else 2e-3)


@pytest.mark.parametrize("routing", ["flow", "flow-projected", "flow-periodic", "discrete", "fixed"])
@pytest.mark.parametrize("local", [True, False], ids=["zero delays", "delays"])
def test_python_rates_give_the_same(routing: str, local: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop for families that are not compiled, on families that are; rates and capacities vary."""
    net = drawn(np.random.default_rng(5), least=0) if not local else residency()
    options = {
        "eta": 0.7,
        "routing": routing,
        "t_end": 2.0,
        "step": 0.05,
        "workloads": [0.0, 3.0, 1.0],
        "arrivals": burst(net, {net.source_names[-1]: 2.0}, 0.5, 1.0),
        "capacity": outage(net, {net.cell_names[0]: 0.5}, 0.7, 1.3),
        "period": 0.1 if routing == "flow-periodic" else None,
    }
    compiled = simulate(net, "gradient", **options)
    monkeypatch.setattr(stepping, "table", lambda costs: None)
    plain = simulate(net, "gradient", **options)
    for field in ("workloads", "workload_slopes", "shares", "share_slopes"):
        assert getattr(compiled, field) == pytest.approx(getattr(plain, field), rel=1e-10, abs=1e-11)
    assert compiled.repeats == plain.repeats


def test_every_family_is_compiled_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each family and cost against its own class, through a trajectory."""
    from tests.unit.fluid.dynamics.networks import FAMILIES

    for rate in (*FAMILIES, {"family": "hill", "capacity": 1.0, "half": 1.0, "power": 1.0}, LINEAR):
        net = outer([rate, mm1(1.0)], [0.8], [[0.1, 0.2]], replicas=[3, 1])
        for cost in COSTS:
            compiled = simulate(net, cost, eta=0.3, t_end=2, step=0.1, workloads=[2.0, 0.5])
            with monkeypatch.context() as patch:
                patch.setattr(stepping, "table", lambda costs: None)
                plain = simulate(net, cost, eta=0.3, t_end=2, step=0.1, workloads=[2.0, 0.5])
            assert compiled.workloads == pytest.approx(plain.workloads, rel=1e-11, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_meshes_agree(seed: int) -> None:
    """Even and breakpoint meshes, incommensurate delays, a history that jumps: `O(h)` for a jump inside a step."""
    rng = np.random.default_rng(seed)
    net = outer([mm1(1.0), mm1(1.5)], [0.8], [rng.uniform(0.2, 0.6, 2)])
    past = Signal.steps([-0.6, -0.13], [[0.5, 2.0], [1.5, 1.0]])
    options = {"eta": 0.2, "t_end": 2.0, "workloads": [1.0, 1.0], "workload_history": past}
    exact = simulate(net, "latency", step=0.0125, mesh="breakpoints", **options)
    assert exact.mesh == "breakpoints" and exact.times[-1] == 2.0
    even = simulate(net, "latency", step=0.0125, mesh="even", **options)
    assert np.abs(even.workloads_at(exact.times[:-1]) - exact.workloads[:-1]).max() < 0.2 * 0.0125 * 0.6
    coarse = simulate(net, "latency", step=0.05, mesh="breakpoints", **options)
    assert np.abs(coarse.workloads[-1] - exact.workloads[-1]).max() < 1e-6


def test_thinning_keeps_the_numbers() -> None:
    """Every third node of the same run; the last node always."""
    net = drawn(np.random.default_rng(3))
    full = simulate(net, "rif", eta=0.2, t_end=2, step=0.05, every=1)
    thin = simulate(net, "rif", eta=0.2, t_end=2, step=0.05, every=3)
    places = np.r_[np.arange(0, len(full.times) - 1, 3), len(full.times) - 1]
    for field in dataclasses.fields(full):
        if field.name in ("times", "workloads", "shares"):
            assert (getattr(full, field.name)[places] == getattr(thin, field.name)).all()


def test_splitting_changes_no_bit() -> None:
    """Stretches of any length, and thinning, on an even mesh with events: the same numbers to the last bit."""
    net = outer([mm1(1.1), mm1(0.9, 2.0), mm1(1.3)], [0.9, 1.1], [[0.31, 0.47, 0.83], [0.53, 0.29, 0.71]])
    given = {"eta": 0.3, "t_end": 150.0, "step": 0.05, "mesh": "even", "workloads": [4.0, 0.0, 1.0]}
    whole = simulate(net, "latency", **given)
    parts = simulate(net, "latency", **given, progress=lambda *_: None)
    thin = simulate(net, "latency", **given, every=7)
    assert whole.events and whole.steps > 2048
    for name in ("workloads", "shares", "share_slopes"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))
    rows = np.searchsorted(whole.times, thin.times - 1e-9)
    assert np.array_equal(whole.shares[rows], thin.shares) and np.array_equal(whole.workloads[rows], thin.workloads)
