"""Right values of rates, costs and potentials, and what goes wrong where the paper's assumptions do not hold."""

from math import e, exp, inf, log, pi

import cvxpy as cp
import numpy as np
import pytest
from scipy.integrate import quad

from lbtheory.core import ParameterError
from lbtheory.fluid import COSTS, CellCost, RateFamily, arc_constants, cell_cost, check_rate, make_rate
from lbtheory.fluid.rates import MM1, CappedLinear, Hill, Softplus

SOFTPLUS = Softplus(a=1.0, b=0.1, k=8.0, w=2.0)


def digits(right: str) -> object:
    """A printed value, to half a unit of its last digit (and a rounding more)."""
    last = len(right.split(".")[1])
    return pytest.approx(float(right), abs=0.51 * 10.0**-last)


@pytest.mark.parametrize(
    ("n", "latency", "rate", "slope", "marginal"),
    [
        (0, "1.0036299856", "0.0", "0.9963831436", None),
        (6, "1.0626523375", "5.6462492842", "0.7981434184", "1.2529076567"),
        (8, "1.1386294361", "7.0259908503", "0.5697204349", "1.7552468523"),
        (30, "3.2000033403", "9.3749902139", "0.0195364284", "51.1864287047"),
    ],
)
def test_softplus(n: float, latency: str, rate: str, slope: str, marginal: str | None) -> None:
    """Softplus with ``a > bk``, against differences in high precision."""
    assert float(SOFTPLUS.latency(n)) == digits(latency) and float(SOFTPLUS.rate(n)) == digits(rate)
    assert float(SOFTPLUS.slope(n)) == digits(slope)
    if marginal:
        assert float(SOFTPLUS.marginal(n)) == digits(marginal)


def test_softplus_beyond() -> None:
    """``f'``; the boundary ``a = bk``; and ``a < bk``, where the rate peaks above its limit ``1/b`` and falls."""
    assert float(SOFTPLUS.marginal_slope(12)) == digits("1.6244403153")
    boundary = Softplus(a=1.0, b=0.125, k=8.0, w=2.0)
    assert float(boundary.slope(30)) == pytest.approx(4.7506185594e-6, rel=1e-10)
    assert float(boundary.marginal(30)) == digits("210498.903982")
    below = Softplus(a=1.0, b=0.2, k=8.0, w=2.0)
    assert float(below.slope(12)) == digits("-0.0768217763") and float(below.marginal(12)) < 0
    assert below.peak == digits("10.3289827641") and below.capacity_limit == digits("6.5604067592")
    assert below.capacity_limit > 1 / below.b > 0 and float(below.rate(below.peak)) == pytest.approx(below.capacity_limit)
    assert float(below.inverse(below.rate(4.0))) == pytest.approx(4.0) and float(below.inverse(7.0)) == inf
    assert float(below.rate(1e9)) == pytest.approx(1 / below.b) and float(below.rate(1e3)) > 1 / below.b


def test_potentials() -> None:
    """Exponential: ``Li₂(½) = π²/12 − ln²2/2``; smooth minimum: its closed forms; M/M/c: requests at an inflow."""
    exponential = make_rate({"family": "exponential", "capacity": 1.0, "scale": 1.0})
    assert float(exponential.integral_of_latency(0.5)) == digits("0.5822405265")
    assert float(exponential.integral_of_latency(0.5)) == pytest.approx(pi**2 / 12 - log(2) ** 2 / 2, rel=1e-15)
    assert float(exponential.integral_of_latency(1.0)) == pytest.approx(pi**2 / 6, rel=1e-15)
    smooth = make_rate({"family": "smooth_min", "service": 0.5, "slots": 2.0, "half": 0.3})
    n = float(smooth.inverse(3.0))
    assert n == pytest.approx(2.4, rel=1e-15) and float(smooth.latency(n)) == pytest.approx(0.8, rel=1e-15)
    assert float(smooth.marginal(n)) == pytest.approx(1.7, rel=1e-15)
    assert float(smooth.integral_of_latency(3.0)) == digits("1.9158883083")
    assert float(smooth.integral_of_latency(3.0)) == pytest.approx(quad(lambda s: float(smooth.inverse(s)) / s, 0, 3)[0])
    mmc = make_rate({"family": "mmc", "service": 0.5, "servers": 4})
    assert float(mmc.inverse(6.3)) == digits("5.2776139392")


ARRIVALS, CAPACITIES, REPLICAS = (1.0, 0.7), (1.1, 0.9, 0.8), (2, 3, 1)
CONSTANTS = np.array([[0, 0.3, 0.5], [0.2, 0, 0.4]])


def family(name: str) -> list[RateFamily]:
    """The three cells of the network below."""
    if name == "smooth_min":
        parts = zip(REPLICAS, CAPACITIES, (0.3, 0.5, 0.2), strict=True)
        return [make_rate({"family": name, "service": k / top, "slots": k, "half": h}) for k, top, h in parts]
    other = {"mm1": "half", "exponential": "scale", "hill": "half"}[name]
    extra = {"power": 0.5} if name == "hill" else {}
    return [
        make_rate({"family": name, "capacity": top, other: h, **extra})
        for top, h in zip(CAPACITIES, (1.0, 0.5, 2.0), strict=True)
    ]


def equalised(costs: list[CellCost]) -> float:
    """Least ``Ψ``, by shifting flow from each source's dearest used arc to its cheapest until all used arcs cost the same."""
    flow = np.outer(ARRIVALS, np.array(CAPACITIES) / sum(CAPACITIES))
    for _ in range(4000):
        worst = 0.0
        for i in range(len(ARRIVALS)):
            inflow = flow.sum(axis=0)
            cost = np.array([float(c.potential_slope(z)) for c, z in zip(costs, inflow, strict=True)]) + CONSTANTS[i]
            used = np.where(flow[i] > 0, cost, -inf)
            dear, cheap = int(used.argmax()), int(cost.argmin())
            gap = used[dear] - cost[cheap]
            worst = max(worst, gap)
            if gap > 1e-13:
                bend = sum(float(costs[j].potential_curvature(inflow[j])) for j in (dear, cheap))
                moved = min(flow[i, dear], gap / bend / 2)
                flow[i, dear] -= moved
                flow[i, cheap] += moved
        if worst <= 1e-13:
            break
    inside = sum(float(c.potential(z)) for c, z in zip(costs, flow.sum(axis=0), strict=True))
    return inside + float((flow * CONSTANTS).sum())


@pytest.mark.parametrize(
    ("name", "cost", "replicas", "right"),
    [
        ("mm1", "rif", REPLICAS, "0.5733633550"),
        ("mm1", "latency", REPLICAS, "2.698291162"),
        ("smooth_min", "rif", (1, 1, 1), "1.4970985367"),
        ("smooth_min", "gradient", REPLICAS, "5.0916721551"),
        ("exponential", "rif", (1, 1, 1), "0.7584924342"),
        ("hill", "gradient", REPLICAS, "7.2301467678"),
    ],
)
def test_potentials_on_a_network(name: str, cost: str, replicas: tuple[int, ...], right: str) -> None:
    """Least value of program (12) with these potentials, constants for the RIF cost too."""
    costs = [cell_cost(cost, rate, k) for rate, k in zip(family(name), replicas, strict=True)]
    assert equalised(costs) == digits(right)


RATES = [
    *family("mm1")[:1],
    *family("smooth_min")[:1],
    *family("exponential")[1:2],
    *family("hill")[2:],
    Hill(capacity=2.0, half=1.0, power=0.8),
    make_rate({"family": "mmc", "service": 0.5, "servers": 4}),
    SOFTPLUS,
    Softplus(a=1.0, b=0.125, k=8.0, w=2.0),
    make_rate({"family": "table", "points": [[1, 1], [2, 1.5], [4, 1.9], [8, 2.1]]}),
]


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("rate", RATES, ids=lambda rate: rate.family)
def test_potential_is_the_integral_of_the_cost(rate: RateFamily, cost: str) -> None:
    """``p' = f ∘ μ⁻¹``, ``p'' = f'/μ'`` by differences, ``p(0) = 0``, ``p = ∞`` above capacity, ``f⁻¹ ∘ f`` the identity."""
    of = cell_cost(cost, rate, 3)
    assert float(of.potential(0.0)) == 0 and float(of.potential(rate.capacity_limit * 1.1)) == inf
    assert float(of.potential_slope(rate.capacity_limit)) == inf == float(of.potential_curvature(rate.capacity_limit))
    for share in (0.03, 0.2, 0.5, 0.77, 0.9, 0.97):
        z = share * rate.capacity_limit
        h = 1e-3 * min(z, rate.capacity_limit - z)
        ends = z + h * np.array([-2, -1, 1, 2])
        difference = np.array([1, -8, 8, -1]) / (12 * h)
        assert float(of.potential_slope(z)) == pytest.approx(float(of.potential(ends) @ difference), rel=2e-8)
        assert float(of.potential_curvature(z)) == pytest.approx(float(of.potential_slope(ends) @ difference), rel=2e-8)
        n = rate.inverse(z)
        assert float(of.value(n)) == pytest.approx(float(of.potential_slope(z)), rel=1e-12)
        step = 1e-3 * n
        slope = of.value(n + step * np.array([-2, -1, 1, 2])) @ np.array([1, -8, 8, -1]) / (12 * step)
        assert float(of.slope(n)) == pytest.approx(float(slope), rel=1e-6, abs=1e-9)
        assert float(of.inverse(of.value(n))) == pytest.approx(float(n), rel=1e-9)


def test_inverse_of_a_cost() -> None:
    """0 below ``f(0)``, infinite at infinity; a cost that is not increasing is refused with the reason."""
    of = cell_cost("latency", MM1(capacity=2.0, half=1.0))
    assert of.inverse([0.1, 0.5, 1.0, inf]).tolist() == [0, 0, 1, inf]
    assert cell_cost("rif", MM1(capacity=2.0, half=1.0), 4).inverse([-1.0, 2.0]).tolist() == [0, 8]
    assert float(of.inverse(1e280)) == pytest.approx(2e280)
    with pytest.raises(ParameterError, match="must not be NaN"):
        of.inverse(float("nan"))
    with pytest.raises(ParameterError, match=r"must be strictly increasing in N; got latency.*p > 1"):
        cell_cost("latency", Hill(capacity=1.0, half=1.0, power=2.0)).inverse(3.0)


def test_arc_constants() -> None:
    """0 for RIF, a round trip for the others; no NaN where there is no arc."""
    times = [[0.0, 0.1], [0.2, inf]]
    assert arc_constants("rif", times).tolist() == [[0, 0], [0, 0]]  # type: ignore[arg-type]
    assert arc_constants("gradient", times).tolist() == [[0, 0.2], [0.4, 0]]  # type: ignore[arg-type]


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("rate", [*RATES, CappedLinear(service=0.5, slots=2.0)], ids=lambda rate: rate.family)
def test_conic_forms(rate: RateFamily, cost: str) -> None:
    """Where there is a conic form it is convex by CVXPY's rules, and its value is the potential."""
    of, z = cell_cost(cost, rate, 3), cp.Variable()
    made = of.conic(z)
    known = {"mm1": COSTS, "smooth_min": COSTS, "capped_linear": COSTS, "exponential": ("rif", "gradient")}
    assert (made is not None) == (cost in {**known, "hill": ("gradient",)}.get(rate.family, ()))
    if made is not None:
        assert made.is_dcp() and made.is_convex()
        for share in (0.0, 0.1, 0.5, 0.99):
            z.value = share * rate.capacity_limit
            assert float(made.value) == pytest.approx(float(of.potential(float(z.value))), rel=1e-12, abs=1e-12)


def test_gradient_cost_of_the_work_conserving_softplus_grows_too_fast() -> None:
    """With ``a = bk``, ``f(N + 4)/f(N)`` tends to ``e² = 7.389``, with ``a > bk`` to 1; exponential rates have ``e^{Δ/h}``."""
    boundary, strict = Softplus(a=0.8, b=0.1, k=8.0, w=2.0), SOFTPLUS
    ratio = boundary.marginal([104.0, 404.0, 1204.0]) / boundary.marginal([100.0, 400.0, 1200.0])
    assert abs(ratio - e**2).tolist() == sorted(abs(ratio - e**2), reverse=True)
    assert ratio[-1] == pytest.approx(e**2, rel=4e-3)
    assert float(strict.marginal(404.0) / strict.marginal(400.0)) == pytest.approx(1.02, abs=5e-4)
    exponential = make_rate({"family": "exponential", "capacity": 2.0, "scale": 1.5})
    assert float(exponential.marginal(7.0) / exponential.marginal(4.0)) == pytest.approx(exp(3 / 1.5), rel=1e-14)
    assert not check_rate(boundary, "gradient").holds and check_rate(strict, "gradient").holds


@pytest.mark.parametrize("share", [0.86, 0.95, 0.999, 1.0, 1.001, 1.05, 1.15])
def test_softplus_is_a_rate_iff_a_is_at_least_bk(share: float) -> None:
    """``a/(bk)`` below 1 gives a rate that falls and an infinite, then negative gradient cost."""
    rate = Softplus(a=share, b=0.125, k=8.0, w=2.0)
    report = check_rate(rate, "gradient")
    grid = np.geomspace(1e-3, 1e4, 4000)
    falls = bool((np.diff(rate.rate(grid)) < -1e-12).any())
    assert report.rate_check.holds == (share >= 1) == (not falls)
    assert report.cost_check.holds == (share > 1)
    assert bool((rate.marginal(grid) < 0).any()) == (share < 1)


def test_flat_latency_has_a_continuum_of_equilibria() -> None:
    """Two cells ``min(N, 2)/a`` at light load: every split costs the same, so that ``z*`` and ``N*`` are not unique."""
    rate, total = CappedLinear(service=0.5, slots=2.0), 3.0
    for cost in ("latency", "gradient"):
        of = cell_cost(cost, rate)
        splits = np.linspace(0, total, 13)
        assert (of.potential_slope(splits) == 0.5).all() and (of.potential_curvature(splits) == 0).all()
        assert np.ptp(of.potential(splits) + of.potential(total - splits)) <= 1e-15
        assert not check_rate(rate, cost).holds
    assert float(rate.inverse(4.0)) == 2 and float(rate.inverse(4.1)) == inf
    assert float(rate.latency(3.0)) == 0.75 and float(rate.marginal(3.0)) == inf
    with pytest.raises(ParameterError, match="beyond which 1/μ' is infinite"):
        rate.marginal_slope(3.0)


def test_convex_service_has_a_continuum_of_equilibria() -> None:
    """Hill with ``p = 2``: two equal cells at ``λ = 1`` are in equilibrium at every ``(N, 1/N)`` under the latency cost."""
    rate = Hill(capacity=1.0, half=1.0, power=2.0)
    n = np.geomspace(1e-4, 1e4, 33)
    assert rate.latency(n) == pytest.approx(rate.latency(1 / n), rel=1e-14)
    assert rate.latency(n) == pytest.approx(n + 1 / n, rel=1e-14)
    assert rate.rate(n) + rate.rate(1 / n) == pytest.approx(1.0, rel=1e-14)
    assert not check_rate(rate, "latency").cost_check.holds and check_rate(rate, "rif").holds
