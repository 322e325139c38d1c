"""Trajectories against closed forms, stated values, the order of the method, and the identities that theory gives."""

import math
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest
from numba import njit
from scipy.optimize import brentq

from lbtheory.core import ParameterError
from lbtheory.fluid import Cell, Network, Source
from lbtheory.fluid.dynamics import (
    Signal,
    daily_arrivals,
    diagnose,
    lyapunov,
    mass_residual,
    oscillation,
    outage,
    simulate,
    solve_dde,
    tangent_projection,
)
from lbtheory.fluid.equilibrium import equilibrium
from lbtheory.fluid.mnlb import mnlb_weights
from lbtheory.fluid.rates import RateFamily
from tests.unit.fluid.dynamics.networks import INF, LINEAR, drawn, mm1, outer, residency, start

CONES = [  # x, z, projection: exact
    ((0.5, 0.5, 0), (1, 2, 3), (-1, 0, 1)),
    ((0.5, 0.5, 0), (3, 2, 1), (0.5, -0.5, 0)),
    ((1, 0, 0), (0, -1, 5), (-2.5, 0, 2.5)),
    ((1, 0, 0), (0, -1, -5), (0, 0, 0)),
    ((0.2, 0.3, 0.5), (1, 4, -2), (0, 3, -3)),
    ((0.5, 0.5, 0, 0), (0, 1, 0.6, 0.55), (-0.5375, 0.4625, 0.0625, 0.0125)),
    ((1, 0, 0, 0), (0, 3, 1, -1), (-1.5, 1.5, 0, 0)),
]


@pytest.mark.parametrize(("x", "z", "v"), CONES)
def test_tangent_cone(x: tuple[float, ...], z: tuple[float, ...], v: tuple[float, ...]) -> None:
    """Stated projections, exact to rounding."""
    assert tangent_projection(x, z) == pytest.approx(v, abs=1e-15)


@njit
def _delayed(t, y, d):  # type: ignore[no-untyped-def]
    return -d[0]


@pytest.mark.parametrize("f", [_delayed, _delayed.py_func], ids=["compiled", "Python"])
def test_scalar_equation(f: object) -> None:
    """``x' = −x(t−1)``, history 1: rational values by the method of steps."""
    found = solve_dde(f, [1.0], [1.0], t_end=10, step=0.005)  # type: ignore[arg-type]
    values = {1: 0, 2: -1 / 2, 2.5: -19 / 48, 3: -1 / 6, 5: 19 / 120, 10: 0.020241126543209878}
    for t, x in values.items():
        assert found(t)[0] == pytest.approx(x, abs=2e-12)
    for t in (4.0, 7.0, 9.5):
        exact = sum((-1) ** k * (t - k + 1) ** k / math.factorial(k) for k in range(int(t) + 2))
        assert found(t)[0] == pytest.approx(exact, abs=2e-12)


def test_three_equations_two_delays() -> None:
    """Wille and Baker, DELSOL (1992), three equations with delays 1 and 0.2."""
    found = solve_dde(lambda t, y, d: np.array([d[0, 0], d[0, 0] + d[1, 1], y[1]]), [1.0] * 3, [1.0, 0.2], t_end=1, step=0.002)
    assert found(1.0) == pytest.approx([2, 3.71413866666667, 3.18163751111111], abs=1e-13)


def _mackey_glass(t, y, d):  # type: ignore[no-untyped-def]
    return 0.2 * d[0] / (1 + d[0] ** 10) - 0.1 * y


def test_mackey_glass() -> None:
    """Mackey and Glass (1977) with delay 14 and history 0.5."""
    found = solve_dde(_mackey_glass, [0.5], [14.0], t_end=100, step=0.02)
    assert found(100.0)[0] == pytest.approx(0.828187747811, abs=2e-12)


def test_workload_and_routing_pair() -> None:
    """``N' = −N + x(t−τ)``, ``x' = −N(t−τ)``: decay and growth on both sides of ``τ_c = 0.5753``, and the frequency there."""
    omega = math.sqrt((-1 + math.sqrt(5)) / 2)
    critical = math.atan(1 / omega) / (2 * omega)
    assert (omega, critical) == pytest.approx((0.786151377757423, 0.575307071828025), abs=1e-14)

    def f(t, y, d):  # type: ignore[no-untyped-def]
        return np.array([-y[0] + d[0, 1], -d[0, 0]])

    sizes = {}
    for factor in (0.95, 1.0, 1.05):
        found = solve_dde(f, [1.0, 0.0], [critical * factor], t_end=120, step=critical * factor / 16)
        late, early = found.times > 80, (found.times > 20) & (found.times < 60)
        sizes[factor] = np.ptp(found.values[late, 0]) / np.ptp(found.values[early, 0])
        if factor == 1.0:
            period = oscillation(found.times[late], found.values[late, 0]).period
            assert period == pytest.approx(2 * math.pi / omega, rel=1e-4)
    assert sizes[0.95] < 0.5 and sizes[1.0] == pytest.approx(1, rel=1e-3) and sizes[1.05] > 2


class Linear(RateFamily):
    """``μ(N) = N``: unbounded, so for tests only."""

    family: ClassVar[str] = "linear"
    capacity_limit = 1e12

    def rate(self, n):  # type: ignore[no-untyped-def]
        return np.asarray(n, dtype=float)

    inverse = rate
    slope = latency = marginal = lambda self, n: np.ones(np.shape(n))  # type: ignore[assignment]
    latency_slope = marginal_slope = lambda self, n: np.zeros(np.shape(n))  # type: ignore[assignment]
    integral_of_inverse = lambda self, z: np.asarray(z) ** 2 / 2  # type: ignore[assignment]  # noqa: E731
    integral_of_latency = rate
    rate_shape = _latency_shape = _marginal_shape = None  # type: ignore[assignment]


E1, E2, E3 = math.exp(-1), math.exp(-2), math.exp(-3)
CLOSED = np.array([E1, E2 - E1 / 4, E3 - E2 / 4 - 0.5 + 0.75 * E1])
SHARES = [0.375, 0.2959849301, 0.2710456779]


def linear_pair(rate: RateFamily | None = None) -> Network:
    """One source of rate 1, two cells with ``μ(N) = N``, delays 1."""
    if rate is None:
        return outer([LINEAR, LINEAR], [1.0], [[1.0, 1.0]])
    cells = [Cell(name=name, arrival_rate=0.0, rate=rate) for name in "ab"]
    return Network(cells=cells, sources=[Source(name="s", arrival_rate=1.0)], latency=[[0, INF], [INF, 0], [1.0, 1.0]])


@pytest.mark.parametrize("rate", [None, Linear()], ids=["compiled", "Python"])
@pytest.mark.parametrize("mesh", ["even", "breakpoints"])
def test_flow_routing_in_closed_form(rate: RateFamily | None, mesh: str) -> None:
    """RIF, η = 1/4, ``N = (1, 0)``, ``x = (½, ½)`` before 0: difference and share at 1, 2, 3."""
    run = simulate(linear_pair(rate), "rif", eta=0.25, t_end=3, step=1 / 64, workloads=[1, 0], mesh=mesh)
    n = run.workloads_at([1.0, 2.0, 3.0])
    assert n[:, 0] - n[:, 1] == pytest.approx(CLOSED, abs=4e-10)
    assert np.abs(CLOSED - [0.3678794412, 0.0433654229, -0.2081371716]).max() < 5e-11
    assert run.shares_at([1.0, 2.0, 3.0])[:, 2] == pytest.approx(SHARES, abs=2e-10)


def test_order_on_commensurate_delays() -> None:
    """Measured order ≥ 3.9 for workloads and shares against the closed form, and on a network against a fine run."""
    errors = []
    for step in (0.1, 0.05, 0.025):
        run = simulate(linear_pair(), "rif", eta=0.25, t_end=3, step=step, workloads=[1, 0])
        n = run.workloads_at([1.0, 2.0, 3.0])
        errors.append(np.abs(n[:, 0] - n[:, 1] - CLOSED).max())
    assert all(math.log2(a / b) >= 3.9 for a, b in pairwise(errors))
    net = outer([mm1(1.0), mm1(1.5, 2.0), mm1(0.8)], [0.9, 0.7], [[0.4, 0.6, 0.8], [0.6, 0.2, 0.4]])
    options = {"eta": 0.01, "t_end": 6.0, "workloads": [2.0, 1.0, 0.5]}
    exact = simulate(net, "gradient", step=0.2 / 128, **options)
    assert exact.events == 0
    errors = [
        np.abs(simulate(net, "gradient", step=0.2 / k, **options).workloads[-1] - exact.workloads[-1]).max() for k in (4, 8, 16)
    ]
    assert all(math.log2(a / b) >= 3.9 for a, b in pairwise(errors)), errors


def test_order_on_breakpoints_and_without_delay() -> None:
    """Incommensurate delays on a mesh of breakpoints, a jumping history, varying rates; and local arcs without delay."""
    net = outer([mm1(1.0), mm1(1.5)], [0.8], [[math.sqrt(0.2), 0.31]])
    past = Signal.steps([-0.5, -0.13], [[0.5, 2.0], [1.5, 1.0]])
    options = {"eta": 0.2, "t_end": 4.0, "workloads": [1.0, 1.0], "workload_history": past}
    for more in ({}, {"arrivals": daily_arrivals(net, 0.4, period=4.0)}):
        exact = simulate(net, "latency", step=0.3 / 128, mesh="breakpoints", **options, **more)
        assert exact.mesh == "breakpoints"
        errors = [
            np.abs(
                simulate(net, "latency", step=s, mesh="breakpoints", **options, **more).workloads[-1] - exact.workloads[-1]
            ).max()
            for s in (0.3, 0.15, 0.075)
        ]
        assert math.log2(errors[0] / errors[2]) / 2 >= 2.9 and errors[2] < 1e-7, errors
    options = {"eta": 0.3, "t_end": 5.0, "workloads": [2.0, 1.0, 0.5]}
    exact = simulate(residency(), "rif", step=0.05 / 32, **options)
    errors = [
        np.abs(simulate(residency(), "rif", step=s, **options).workloads[-1] - exact.workloads[-1]).max() for s in (0.05, 0.025)
    ]
    assert math.log2(errors[0] / errors[1]) >= 3.8 and exact.unsettled == 0 and exact.repeats > 1


def test_steps_by_tolerance() -> None:
    """The estimate bounds the error, and both are below the tolerance."""
    run = simulate(linear_pair(), "rif", eta=0.25, t_end=3, tolerance=1e-8, workloads=[1, 0])
    n = run.workloads_at([1.0, 2.0, 3.0])
    error = np.abs(n[:, 0] - n[:, 1] - CLOSED).max()
    assert error < run.error_estimate <= 1e-8
    coarse = simulate(linear_pair(), "rif", eta=0.25, t_end=3, step=0.1, estimate_error=True, workloads=[1, 0])
    assert coarse.step == pytest.approx(0.05) and 0 < coarse.error_estimate < 1e-6


@pytest.mark.parametrize("routing", ["flow", "flow-projected"])
@pytest.mark.parametrize("latency", [0.0, 0.1])
def test_constant_costs(latency: float, routing: str) -> None:
    """``c = (1, 2, 4)``, η = 1 from the centre: ``x(0.2) = (0.6, 0.4, 0)``, ``x(1) = (1, 0, 0)``, events included."""
    cells = [{"family": "capped_linear", "service": c, "slots": 1e6} for c in (1.0, 2.0, 4.0)]
    net = outer(cells, [1.0], [[latency] * 3])
    for step in (0.05, 0.037):
        run = simulate(net, "latency", eta=1, t_end=1, step=step, routing=routing, shares=start(net, [[1 / 3] * 3]))
        assert run.shares[-1, 3:] == pytest.approx([1, 0, 0], abs=1e-14)
        if routing == "flow":
            at = np.searchsorted(run.times, 0.2)
            x = run.shares_at(0.2)[3:] if step == 0.05 else run.shares[at, 3:]
            moved = run.times[at] - 0.2 if step != 0.05 else 0.0
            assert x == pytest.approx([0.6 + moved / 2, 0.4 - moved / 2, 0], abs=1e-13)


def critical(a: float, b: float, rate: float, tau: float) -> tuple[float, float]:
    """``η_c`` and ``ω_c`` of a symmetric pair: ``θ tan θ = 2aτ``."""
    theta = brentq(lambda t: t * math.tan(t) - 2 * a * tau, 1e-12, math.pi / 2 - 1e-12, xtol=1e-15)
    return a / (rate * b * tau) * theta / (2 * math.sin(theta)), theta / (2 * tau)


def test_critical_stepsize() -> None:
    """``a = b = λ = 1``, ``τ = ½``: decay below ``η_c = 1.1349``, growth above, the frequency at it."""
    eta, omega = critical(1, 1, 1, 0.5)
    assert eta == pytest.approx(1.1349146503, abs=5e-11)
    net = outer([LINEAR, LINEAR], [1.0], [[0.5, 0.5]])
    growth = {}
    for factor in (0.97, 1.0, 1.03):
        run = simulate(net, "rif", eta=eta * factor, t_end=80, step=0.5 / 64, workloads=[0.501, 0.499])
        gap = run.workloads[:, 0] - run.workloads[:, 1]
        late, early = run.times > 60, (run.times > 20) & (run.times < 40)
        growth[factor] = np.ptp(gap[late]) / np.ptp(gap[early])
        if factor == 1.0:
            assert oscillation(run.times[late], gap[late]).period == pytest.approx(2 * math.pi / omega, rel=1e-4)
    assert growth[0.97] < 0.7 and growth[1.0] == pytest.approx(1, rel=1e-4) and growth[1.03] > 1.4


@pytest.mark.parametrize(("cost", "eta"), [("rif", 0.0420948573), ("latency", 0.0420948573), ("gradient", 0.0052618572)])
def test_critical_stepsize_of_mm1(cost: str, eta: float) -> None:
    """μ̄ = 1, λ = 1.5, τ = ½: at the stated ``η_c`` a small oscillation keeps its size and has ``ω_c = 0.2474254652``."""
    net = outer([mm1(1.0), mm1(1.0)], [1.5], [[0.5, 0.5]])
    run = simulate(net, cost, eta=eta, t_end=600, step=0.125, workloads=[3.0001, 2.9999])
    gap = run.workloads[:, 0] - run.workloads[:, 1]
    late, early = run.times > 400, (run.times > 100) & (run.times < 300)
    assert np.ptp(gap[late]) / np.ptp(gap[early]) == pytest.approx(1, rel=2e-4)
    assert oscillation(run.times[late], gap[late]).period == pytest.approx(2 * math.pi / 0.2474254652, rel=1e-4)


PAIR = outer([mm1(1.0), mm1(1.0)], [1.6], [[0.5, 0.5]])


@pytest.mark.parametrize(
    ("factor", "amplitude", "period"), [(0.9, 8.3295, 33.374), (1.1, 7.7384, 30.256), (2.0, 6.2388, 22.947)]
)
def test_limit_cycles(factor: float, amplitude: float, period: float) -> None:
    """Load 0.8, τ = ½, latency cost, from (10, 0): the cycle also below ``η_c``, where the equilibrium is stable."""
    eta = factor * critical(1 / 25, 1, 1.6, 0.5)[0]
    run = simulate(PAIR, "latency", eta=eta, t_end=1500, step=0.05, workloads=[10, 0], shares=start(PAIR, [[1, 0]]))
    late = run.times > 1000
    found = oscillation(run.times[late], run.workloads[late, 0] - run.workloads[late, 1])
    assert found.amplitude == pytest.approx(amplitude, abs=5e-4) and found.period == pytest.approx(period, abs=0.01)
    assert found.amplitude == pytest.approx({0.9: 8.3, 1.1: 7.738, 2.0: 6.239}[factor], abs=0.04 if factor == 0.9 else 6e-4)


def test_stable_equilibrium_beside_the_cycle() -> None:
    """At 0.9 ``η_c`` the same network converges from nearby."""
    eta = 0.9 * critical(1 / 25, 1, 1.6, 0.5)[0]
    run = simulate(PAIR, "latency", eta=eta, t_end=3000, step=0.125, workloads=[4.3, 3.7])
    assert np.abs(run.workloads[-1] - 4).max() < 1e-2 * 0.3


@pytest.mark.parametrize(("tau", "amplitude"), [(0.05, 0.1597), (0.1, 0.3187), (0.2, 0.6349), (0.4, 1.2596)])
def test_discrete_routing_oscillates(tau: float, amplitude: float) -> None:
    """A symmetric pair with any delay oscillates with an amplitude just under ``2λτ``, up to ``2λh`` for a step ``h``."""
    net = outer([mm1(1.0), mm1(1.0)], [1.6], [[tau, tau]])
    run = simulate(net, "latency", routing="discrete", t_end=15, step=tau / 160, workloads=[4.3, 3.7])
    late = run.times > 8
    found = oscillation(run.times[late], run.workloads[late, 0] - run.workloads[late, 1])
    # a switch is late by up to a step, 2λh on the amplitude
    assert found.amplitude == pytest.approx(amplitude, abs=2 * 1.6 * tau / 160)
    assert found.amplitude < 2 * 1.6 * tau * 1.01 and mass_residual(run) < 1e-3


@pytest.mark.parametrize("cost", ["rif", "latency", "gradient"])
def test_drift_identity_and_regret(cost: str) -> None:
    """Residual of order 4, slack ≥ 0; both bounds of the regret; convergence to the equilibrium."""
    at = equilibrium(residency(), cost, method="fast", tolerance=1e-12)
    residuals = []
    for step in (0.05, 0.025):
        run = simulate(residency(), cost, eta=0.1, t_end=40, step=step, workloads=[3.0, 0.0, 1.0])
        drift = lyapunov(run, at)
        residuals.append(abs(drift.residual))
        assert drift.least_slack > -1e-12 and drift.workload_gap > 0 and (drift.workload_part >= -1e-12).all()
        assert drift.change < 0
    assert residuals[1] < 1e-6 * max(1.0, abs(drift.change))
    assert run.events or residuals[1] < residuals[0] / 14
    found = diagnose(run, at)
    assert (found.regret[1:] >= found.regret_lower[1:]).all() and (found.regret <= found.regret_upper + 1e-12).all()
    assert (found.workload_gap >= -1e-12).all() and (found.routing_gap >= -1e-12).all()
    late = simulate(residency(), cost, eta=0.1, t_end=600, step=0.1, settled_below=1e-9)
    assert diagnose(late, at).distance[-1] < 1e-6 and diagnose(late, at).settling_time < 200
    assert late.converged and late.end < 600


def test_drift_identity_on_the_boundary() -> None:
    """Events, a strictly dearer arc, positive slack: a step with an event may err by its width times a jump."""
    net = outer([mm1(2.0), mm1(2.0)], [1.2], [[0.1, 0.4]])
    for step in (0.1, 0.025, 0.00625):
        run = simulate(net, "latency", eta=0.8, t_end=20, step=step, workloads=[0.2, 3.0], shares=start(net, [[0.0, 1.0]]))
        drift = lyapunov(run)
        assert run.events > 0 and drift.slack > 0.1
        assert abs(drift.residual) < 0.15 * step * run.events, drift


def test_shares_between_nodes_stay_on_the_simplex() -> None:
    """A share that falls to zero within a millionth of a step: the cubic through the slopes at its ends would reach 994."""
    rates = [{"capacity": 2.07, "scale": 0.25}, {"capacity": 3.64, "scale": 0.45}]
    net = outer([{"family": "exponential", **one} for one in rates], [2.0, 2.8], [[0.0, 0.1], [0.6, 0.3]])
    run = simulate(net, "gradient", eta=0.25, t_end=5, step=0.05, workloads=[2.1, 0.3])
    t = np.sort(np.random.default_rng(0).uniform(0, 5, 4000))
    x = run.routing_at(t)
    live = net.arrivals > 0
    assert run.events > 5 and np.abs(run.share_slopes).max() > 50
    assert x.min() >= 0 and np.abs(x.sum(axis=-1)[:, live] - 1).max() < 1e-12
    assert np.abs(run.routing_at(run.times) - run.routing).max() < 1e-14 and lyapunov(run).least_slack > -1e-12
    finer, finest = (simulate(net, "gradient", eta=0.25, t_end=5, step=0.05 / k, workloads=[2.1, 0.3]) for k in (4, 64))
    off = [np.abs(one.routing_at(t) - finest.routing_at(t)).mean() for one in (run, finer)]
    assert off[1] < off[0] / 3, "first order at an event, and events are few"


def test_regret_bounds_hold_for_any_routing() -> None:
    """Discrete, periodic and fixed routing too (the bound is for measurable routing); a wrong optimum breaks it."""
    for routing, more in (("discrete", {}), ("flow-periodic", {"eta": 0.3, "period": 0.5}), ("fixed", {})):
        run = simulate(PAIR, "gradient", routing=routing, t_end=60, step=0.05, workloads=[4.0, 0.0], **more)
        found = diagnose(run)
        assert (found.regret[1:] >= found.regret_lower[1:] - 1e-12).all(), routing
        assert (found.regret[1:] <= found.regret_upper[1:] + 1e-9).all(), routing
    assert (found.regret[1:] + 5 * found.equilibrium.objective < found.regret_lower[1:]).sum() == 0
    with pytest.raises(ParameterError, match="flow or flow-projected"):
        lyapunov(run)


def test_theorem_3_needs_its_hypothesis() -> None:
    """Far above the stable stepsizes the gap does not vanish: its time average stays away from 0."""
    eta = 2 * critical(1 / 25, 1, 1.6, 0.5)[0]
    run = simulate(PAIR, "latency", eta=eta, t_end=800, step=0.1, workloads=[10, 0], shares=start(PAIR, [[1, 0]]))
    found = diagnose(run)
    assert found.mean_workload_gap[-1] > 0.1 and found.settling_time == INF and found.widest.amplitude > 2


def test_outage_and_weights() -> None:
    """MNLB keeps its weights; an outage beyond capacity is flagged with its interval, and the workload then drains."""
    net = residency()
    weights = mnlb_weights(net.arrivals, net.capacities, net.latency).weights
    cut = outage(net, {"a": 0.3, "b": 0.3, "c": 0.3}, 5.0, 15.0)
    run = simulate(net, "rif", routing="fixed", shares=weights, t_end=60, step=0.05, capacity=cut)
    assert not run.feasible and run.infeasible == ((5.0, 15.0),)
    assert (run.shares == run.shares[0]).all() and mass_residual(run) < 1e-6
    peak = run.workloads.sum(axis=1)
    at = np.searchsorted(run.times, [4.99, 14.99])
    assert peak[at[1]] > 2 * peak[at[0]] and peak[-1] < peak.max() / 2
    with pytest.raises(ParameterError, match="constant arrival rates and capacities"):
        diagnose(run)


def test_daily_pattern_keeps_mass() -> None:
    """Arrivals that vary smoothly: mass to the order of the method, and the mean inflow is the mean rate."""
    net = drawn(np.random.default_rng(1))
    run = simulate(
        net,
        "rif",
        eta=0.02,
        t_end=20,
        step=0.05,
        workloads=[1.0, 1.0, 1.0],
        arrivals=daily_arrivals(net, 0.5, period=20.0, peak=5.0),
    )
    assert run.events == 0 and mass_residual(run) < 1e-6 and run.feasible
