"""Constants of the theorems on flow routing against known values, and random trajectories below every bound."""

from dataclasses import replace
from math import inf, isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lbtheory.core import LBTheoryError, ParameterError
from lbtheory.fluid import COSTS, Cell, Network, Source, make_rate
from lbtheory.fluid.dynamics import Signal, simulate, tangent_projection
from lbtheory.fluid.equilibrium import equilibrium, measured, without_traces
from lbtheory.fluid.guarantee import (
    OURS,
    PAPER,
    Guarantee,
    gaps,
    guarantee,
    measure,
    measure_upto,
    schedule,
    start_at,
    thresholds,
)
from lbtheory.verify.flow_cases import FAMILIES, FlowRun, random_network, random_run
from tests.reference.networks import pair

WORKED = {"workloads": [0.2, 3.0], "routing": [[0, 0], [0, 0], [0.5, 0.5]]}


def worked() -> Guarantee:
    """λ = 1.2, μ̄ = (2, 2), τ = (.1, .4), latency cost."""
    return guarantee(pair(1.2, (0.1, 0.4), 2.0), "latency", **WORKED)


def test_stated_constants() -> None:
    """Every constant of the worked example, to the digits given."""
    found, near = worked(), pytest.approx
    of, one = found.gaps, found.first
    assert of.rates[0] == near(1.1099770290, abs=1e-10) and of.workloads == near([1.2471330124, 0.0471330124], abs=1e-10)
    assert one.thresholds.workloads == near([7.9885320497, 7.0419815354], abs=1e-10)
    assert one.thresholds.above == near([4.6942660248, 4.8209907677], abs=1e-10)
    assert near([3.5706995186, 4.2974242615], abs=1e-10) == one.M
    assert (one.C[2], one.A[2]) == (near(4.1209907677, abs=1e-10), near(4.9824951755, abs=1e-10))
    assert (one.eta0, one.G1) == (near(0.0223287464, abs=1e-10), near(41.0656332364, abs=1e-10))
    assert (near(0.4334609501, abs=1e-10), near(25.2746148915, abs=1e-10)) == (one.K1, one.K)
    assert (one.initial, one.history, one.boundary) == (near(2.4539777480, abs=1e-10), near(0.2183393468, abs=1e-10), 0)
    within = found.bounded
    assert within is not None and within.N_max == near([1.5, 3])
    assert (near(3.2907674426, abs=1e-10), near(5.5880419791, abs=1e-10)) == (within.G1, within.K)
    assert near(0.2167304751, abs=1e-10) == within.K1
    assert found.third.eta_s3 == near(0.7416858092, abs=1e-10) and found.second.eta2 == near(0.0105670286, abs=1e-10)


@pytest.mark.parametrize(
    ("cost", "eta0", "tied"), [("rif", 0.0048, 0.4667), ("latency", 0.0102, 0.9333), ("gradient", 0.00016, 0.2376)]
)
def test_conservatism(cost: str, eta0: float, tied: float) -> None:
    """λ = 1.2, two cells of 2, τ = ½: η_0 and η_S3."""
    found = guarantee(pair(1.2, (0.5, 0.5), 2.0), cost)
    assert found.bounded is not None and found.bounded.N_max == pytest.approx([1.5, 1.5])
    assert found.first.eta0 == pytest.approx(eta0, rel=0.02) and found.third.eta_s3 == pytest.approx(tied, abs=5e-5)


@settings(max_examples=100, deadline=None)
@given(data=st.data(), size=st.integers(1, 7))
def test_tangent_against_bisection(data: st.DataObject, size: int) -> None:
    """``Σ_{x>0}(z−θ) + Σ_{x=0}(z−θ)⁺ = 0`` by bisection, with ties and zeros."""
    value = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0]) | st.floats(-5, 5)
    z = np.array(data.draw(st.lists(value, min_size=size, max_size=size)))
    on = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    on[0] = True
    x = on / on.sum()
    low, high = z.min() - 1, z.max() + 1
    for _ in range(200):
        theta = (low + high) / 2
        total = (z - theta)[on].sum() + np.maximum(z - theta, 0)[~on].sum()
        low, high = (theta, high) if total > 0 else (low, theta)
    oracle = np.where(on, z - high, np.maximum(z - high, 0))
    assert tangent_projection(x, z) == pytest.approx(oracle, abs=1e-9)


def test_flow_of_constant_costs() -> None:
    """c = (1, 2, 4), η = 1, x(0) = (⅓, ⅓, ⅓): x(0.2) = (0.6, 0.4, 0), x(1) = (1, 0, 0), from face to face."""
    x, t, costs, seen = np.full(3, 1 / 3), 0.0, np.array([1.0, 2.0, 4.0]), {}
    while t < 1:
        v = tangent_projection(x, -costs)
        hits = [-a / b for a, b in zip(x, v, strict=True) if b < 0]
        step = min([*hits, *(target - t for target in (0.2, 1.0) if target > t + 1e-12)])
        x, t = np.where(x + step * v < 1e-12, 0, x + step * v), t + step
        seen[round(t, 9)] = x
    assert seen[0.2] == pytest.approx([0.6, 0.4, 0], abs=1e-12) and seen[1.0] == pytest.approx([1, 0, 0], abs=1e-12)


@pytest.mark.parametrize("divisor", [OURS, PAPER])
def test_thresholds(divisor: int) -> None:
    """Above them (T1) and (T2) hold for every family and cost, and ``E_j e_j(N + h') ≤ Φ_j(N)``, that is ``K_4 = 0``."""
    rng, cells = np.random.default_rng(1), 0
    for trial in range(15):
        network = random_network(rng, families=FAMILIES)
        try:
            of = gaps(network, equilibrium(network, COSTS[trial % 3], method="fast", tolerance=1e-12))
        except LBTheoryError:
            continue
        bars = thresholds(of, divisor)
        weight, shift = of.arrivals @ of.latency, 2 * of.longest * network.capacities
        for j in np.nonzero(np.isfinite(bars.workloads))[0]:
            n = bars.workloads[j] * np.geomspace(1, 1e4, 24)
            cost, rate = of.costs[j], network.cells[j].rate
            f = cost.value(n)
            D = (f - of.values[j]) * (rate.rate(n) - of.rates[j])
            assert (f <= 2 / of.spare[j] * D * (1 + 1e-9)).all(), (trial, j)
            assert (cost.value(n + bars.step[j]) <= (1 + bars.fraction[j]) * f * (1 + 1e-9)).all(), (trial, j)
            for m in n[::6]:
                tail = max(float(cost.value(m + shift[j])) - bars.above[j], 0.0)
                full = np.array(of.workloads)
                full[j] = m
                assert tail in (0, inf) or weight[j] * tail <= of.potential(full)[j]
            cells += 1
    assert cells >= 20


def exponential(scale: float = 1.0) -> Network:
    """Two exponential cells, whose gradient cost fails Assumption 3."""
    rate = make_rate({"family": "exponential", "capacity": 2.0, "scale": scale})
    return Network(
        cells=tuple(Cell(name=name, arrival_rate=0.0, rate=rate) for name in "ab"),
        sources=(Source(name="s", arrival_rate=1.2),),
        latency=np.array([[0, inf], [inf, 0], [0.1, 0.4]]),
    )


def test_a_failed_assumption_is_named() -> None:
    """Theorems 1 and 2 say nothing then, the bounded form still holds; a cost that falls leaves nothing."""
    found = guarantee(exponential(), "gradient").as_json()
    assert found["eta0"] is None and found["eta2"] is None and found["bounded"] is not None
    assert [row["assumption"] for row in found["failed_assumptions"]] == [3, 3] and "Assumption 3" in found["notes"]["eta0"]
    knee = make_rate({"family": "softplus", "a": 0.5, "b": 0.1, "k": 8.0, "w": 2.0})
    cells = (Cell(name="a", arrival_rate=1.0, rate=knee), Cell(name="b", arrival_rate=1.0, rate=knee))
    with pytest.raises(ParameterError, match="increasing rate"):
        guarantee(Network(cells=cells, latency=np.array([[0, 0.1], [0.1, 0]])), "gradient")
    loaded = guarantee(pair(1.5, (0.1, 0.4)), "latency")
    assert loaded.bounded is None and "offered" in loaded.notes["bounded"] and isnan(loaded.third.eta_s3)


def test_zero_delay() -> None:
    """Every stepsize is allowed and no penalty remains."""
    found = guarantee(pair(1.2, (0, 0), 2.0), "latency", **WORKED)
    assert found.first.eta0 == inf and found.first.G1 == 0 and found.second.eta2 == inf and found.third.eta_s3 == inf
    assert found.as_json()["eta0"] is None and "no arc" in found.notes["eta0"]


def test_histories() -> None:
    """A constant past, the same as a function, and as a signal, give the same constants; a larger past larger ones."""
    network, past = pair(1.2, (0.1, 0.4), 2.0), [1.0, 2.0]
    same = guarantee(network, "latency", **WORKED, past=past)
    for form in (lambda t: np.broadcast_to(past, (*t.shape, 2)), Signal.constant(past)):
        other = guarantee(network, "latency", **WORKED, past=form)
        assert pytest.approx(same.first.K, rel=1e-9) == other.first.K
        assert other.third.bound(0.1) == pytest.approx(same.third.bound(0.1), rel=1e-3)
    assert guarantee(network, "latency", **WORKED, past=[9, 50]).first.K > same.first.K > 0


def test_schedule() -> None:
    """``T^{−1/2}`` is allowed from ``η_0^{−2}`` on and its bound falls as ``T^{−1/2}``; the best stepsize is no worse."""
    one = worked().first
    assert isnan(schedule(one, 1000.0).bound) and schedule(one, 1000.0).needed == pytest.approx(one.eta0**-2)
    long, longer = schedule(one, 1e8), schedule(one, 4e8)
    assert long.bound == pytest.approx((one.K1 + one.G1) * 1e-4 + one.K / 1e8)
    assert longer.bound == pytest.approx(long.bound / 2, rel=1e-2) and long.best_bound <= long.bound
    with pytest.raises(ParameterError, match="horizon"):
        schedule(one, -1.0)


def below_every_bound(run: FlowRun) -> tuple[float, float]:
    """Assert all theorems that apply; the ratios of Theorems 1 (NaN where it does not apply) and 1b."""
    left, known, T = run.measured, run.known, run.horizon
    slack = 1 + 1e-6
    within = run.read_off().bound(T, run.eta, run.eta)
    value, error = run.left_bounded(within)
    assert value - error <= within * slack  # without delays the ratio tends to 1
    assert error <= 0.02 * within or value < 0.9 * within, "the error is known to little beside the bound"
    first = known.first.bound(T, run.eta, run.eta)
    assert isnan(first) or left.left <= first * slack
    second, third = known.second.bound(run.eta), known.third.bound(run.eta)
    assert isnan(second) or left.left * T <= second * slack
    assert isnan(third) or left.workload_gap <= third * slack
    scale = 1e-6 * (1 + abs(left.regret) + abs(run.of.equilibrium.objective))
    assert left.regret_lower - scale <= left.regret <= left.regret_upper + scale
    return left.left / first, value / within


def audit(trials: int, seed: int) -> None:
    """Random networks at ``η_0``, at ``η_2`` and at stepsizes beyond; the largest ratios are printed."""
    rng = np.random.default_rng(seed)
    ratios: list[tuple[float, float]] = []
    drawn = 0
    while len(ratios) < trials:
        choice, free = drawn % 3, float(10 ** rng.uniform(-2, 0.5))
        drawn += 1
        run = random_run(
            rng,
            lambda known, choice=choice, free=free: (min(known.first.eta0, 20.0), min(known.second.eta2, 20.0), free)[choice],
            stress=bool(drawn % 2),
            horizon=20.0,
        )
        if run is not None:
            ratios.append(below_every_bound(run))
    one, within = np.array(ratios).T
    print(f"{trials} networks: largest left/right of Theorem 1 {np.nanmax(one):.3f}, of Theorem 1b {within.max():.3f}")
    assert np.nanmax(one) > 0.01 and np.isfinite(one).sum() > trials / 3


def test_hundred_networks() -> None:
    """100 networks, every bound that applies."""
    audit(100, 20)


@pytest.mark.slow
def test_two_thousand_networks() -> None:
    """2,000 more."""
    audit(2000, 21)


def test_convergence_beyond_the_floor() -> None:
    """At η_2 the integral of the gaps stops growing and N → N*, where Theorem 1 would allow ``G_1 η`` for ever."""
    found = worked()
    eta = found.second.eta2
    network, ends = pair(1.2, (0.1, 0.4), 2.0), (1000.0, 2000.0, 4000.0)
    run = simulate(network, "latency", t_end=ends[-1], eta=eta, step=0.1, workloads=WORKED["workloads"], shares=None)
    totals = measure_upto(found.gaps, run, ends)
    integrals = [one.left * one.horizon for one in totals]
    assert integrals[0] <= integrals[1] <= integrals[2] <= integrals[1] + 1e-9
    assert max(integrals) <= found.second.bound(eta), "Theorem 2, uniformly in T"
    assert found.first.G1 * eta * ends[-1] > 50 * max(integrals), "what the floor of Theorem 1 would allow"
    assert run.workloads[-1] == pytest.approx(found.gaps.workloads, abs=1e-8)


def test_dear_arcs() -> None:
    """Strictly dearer arcs at η = 0.4: the same integral at T = 50, 100 and 200."""
    rates = [{"capacity": 2.0, "half": 1.0}, {"capacity": 2.4, "half": 0.3}, {"capacity": 1.5, "half": 2.0}]
    off = [[0 if i == j else inf for j in range(3)] for i in range(3)]
    network = Network(
        cells=tuple(
            Cell(name=f"c{j}", arrival_rate=0.0, rate=make_rate({"family": "mm1", **rate})) for j, rate in enumerate(rates)
        ),
        sources=(Source(name="s", arrival_rate=1.0), Source(name="t", arrival_rate=1.3)),
        latency=np.array([*off, [0.0, 0.2, inf], [0.3, 0.1, 0.4]]),
    )
    shares = np.vstack([np.eye(3), [0.5, 0.5, 0], [0.3, 0.3, 0.4]])
    found = guarantee(network, "latency", workloads=[5.0, 0.1, 0.1], routing=shares)
    assert (found.gaps.excess[3:] > 0).any() and found.second.eta2 < 0.4
    totals = []
    for end in (50.0, 100.0, 200.0):
        run = simulate(network, "latency", t_end=end, eta=0.4, step=0.025, workloads=[5.0, 0.1, 0.1], shares=shares)
        totals.append(measure(found.gaps, run).workload_gap)
    assert totals == pytest.approx([5.069170] * 3, rel=0.003) and totals[2] == pytest.approx(totals[0], abs=1e-6)


def test_bad_input() -> None:
    """Starts, pasts, bounds and equilibria are refused by name."""
    network = pair(1.2, (0.1, 0.4), 2.0)
    for name, value in (
        ("workloads", [1.0]),
        ("workloads", [-1.0, 0.0]),
        ("workloads", [float("nan"), 0.0]),
        ("past", [1.0, inf]),
        ("past", lambda t: np.zeros(3)),
        ("routing", [[0, 0], [0, 0], [0.5, 0.6]]),
        ("routing", [[0.5, 0.5]]),
        ("workload_bound", [0.0, -1.0]),
    ):
        with pytest.raises(ParameterError, match=name if name != "routing" else "routing"):
            guarantee(network, "latency", **{name: value})
    with pytest.raises(ParameterError, match="found"):
        guarantee(network, "latency", found=equilibrium(network, "rif", method="fast"))
    assert start_at(network).routing[2] == pytest.approx([0.5, 0.5])
    rough = replace(equilibrium(network, "latency", method="fast"), wardrop_gap=1e-3)
    with pytest.raises(LBTheoryError, match="Wardrop gap"):
        guarantee(network, "latency", found=rough)


def test_traces_on_dear_arcs() -> None:
    """An interior point leaves shares of about 1e-11 on dearer arcs: they carry nothing, and their excess cost counts."""
    network = pair(0.5, (0.0, 0.6))
    found = equilibrium(network, "latency", method="fast", tolerance=1e-12)
    routing = found.routing.copy()
    routing[2] = [1 - 3e-10, 3e-10]
    dirty = measured(
        network, "latency", network.arrivals[:, None] * routing, tolerance=1e-8, method="", iterations=0, seconds=0.0
    )
    of = gaps(network, dirty)
    assert of.equilibrium.routing[2].tolist() == [1, 0] and of.excess[2] == pytest.approx([0, 0.2])
    assert without_traces(network, found).routing[2].tolist() == [1, 0]
