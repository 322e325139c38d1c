"""What every service-rate family promises, against 120-digit arithmetic that knows nothing but its defining formula."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import inf, nan
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.fluid.costs import cell_cost
from lbtheory.fluid.rates import FAMILIES, MMC, CappedLinear, Hill, RateFamily, Softplus, Table, make_rate

MP = mp.mp.clone()
MP.dps = 120
TIGHT = 4e-13
"""Relative error allowed where nothing is ill-conditioned; the families claim 1e-13 at worst (quadratures)."""

Oracle = Callable[[Any], Any]


def exact(value: Any) -> Any:
    """A double, or the decimal that it stands for where a family reads it so, in 120 digits."""
    return MP.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else MP.mpf(float(value))


def rate_oracle(rate: RateFamily) -> Oracle:
    """``μ`` by its defining formula, with the capacity as the double that the family rounds it to."""
    top = exact(rate.capacity_limit)
    p = {name: value for name, value in rate.parameters().items() if name != "family"}
    match rate.family:
        case "mm1":
            return lambda n: top * n / (n + exact(p["half"]))
        case "exponential":
            return lambda n: -top * MP.expm1(-n / exact(p["scale"]))
        case "hill":
            return lambda n: top / (1 + (exact(p["half"]) / n) ** exact(p["power"])) if n else MP.mpf(0)
        case "capped_linear":
            return lambda n: min(n, exact(p["slots"])) / (exact(p["slots"]) / top)
        case "softplus":
            a, k = (exact(Fraction(repr(p[name]))) for name in "ak")
            b, w = 1 / exact(1 / p["b"]), exact(p["w"])
            margin = exact(Fraction(repr(p["a"])) - Fraction(repr(p["b"])) * Fraction(repr(p["k"])))
            return lambda n: n / (margin + b * n + b * w * MP.log1p(MP.exp(-(n - k) / w)))
        case "smooth_min":
            a, k, h = exact(p["slots"]) / top, exact(p["slots"]), exact(p["half"])
            return lambda n: 2 * n * k / ((n + k + h) + MP.sqrt((n + k + h) ** 2 - 4 * n * k)) / a
        case "table":
            return hermite(p["points"], top)
    raise AssertionError(rate.family)


def hermite(points: list[list[float]], top: Any) -> Oracle:
    """The interpolant of `Table` from its description: Hermite basis functions and the hyperbolic tail."""
    xs, ys = ([MP.mpf(0), *map(exact, column)] for column in zip(*points, strict=True))
    h = [b - a for a, b in pairwise(xs)]
    m = [(b - a) / width for (a, b), width in zip(pairwise(ys), h, strict=True)]
    d = [m[0]] * 2 if len(m) == 1 else [None] * len(xs)
    if len(m) > 1:
        for i in range(1, len(m)):
            u, v = 2 * h[i] + h[i - 1], h[i] + 2 * h[i - 1]
            d[i] = (u + v) / (u / m[i - 1] + v / m[i])
        for end, (i, j) in ((0, (0, 1)), (-1, (-1, -2))):
            parabola = ((2 * h[i] + h[j]) * m[i] - h[i] * m[j]) / (h[i] + h[j])
            d[end] = min(max(parabola, m[i] / 3), 3 * m[i])

    def value(n: Any) -> Any:
        if n > xs[-1]:
            g = (top - ys[-1]) / d[-1]
            return ys[-1] + (top - ys[-1]) * (n - xs[-1]) / (g + n - xs[-1])
        i = max(j for j in range(len(h)) if xs[j] <= n)
        t = (n - xs[i]) / h[i]
        return (
            (1 + 2 * t) * (1 - t) ** 2 * ys[i]
            + t * (1 - t) ** 2 * h[i] * d[i]
            + t * t * (3 - 2 * t) * ys[i + 1]
            + t * t * (t - 1) * h[i] * d[i + 1]
        )

    return value


def erlang(rate: MMC) -> Oracle:
    """``N(z)`` of M/M/c by the textbook sum."""
    c, a = rate.servers, rate.servers / exact(rate.capacity_limit)

    def requests(z: Any) -> Any:
        r = a * z
        last = r**c / MP.factorial(c) / (1 - r / c)
        delay = last / (sum(r**i / MP.factorial(i) for i in range(c)) + last)
        return r + delay * (r / c) / (1 - r / c)

    return requests


def inverse_oracle(rate: RateFamily, z: Any) -> Any:
    """``μ⁻¹(z)``, by bisection and secants on the oracle where there is no formula."""
    top = exact(rate.capacity_limit)
    p = rate.parameters()
    match rate.family:
        case "mm1":
            return exact(p["half"]) * z / (top - z)
        case "exponential":
            return -exact(p["scale"]) * MP.log1p(-z / top)
        case "hill":
            return exact(p["half"]) * (z / (top - z)) ** (1 / exact(p["power"]))
        case "capped_linear":
            return exact(p["slots"]) / top * z
        case "smooth_min":
            u = exact(p["slots"]) / top * z
            return u + exact(p["half"]) * u / (exact(p["slots"]) - u)
        case "mmc":
            return erlang(rate)(z)  # type: ignore[arg-type]
    found = float(rate.inverse(float(z)))
    oracle, low, high = rate_oracle(rate), MP.mpf(found) * (1 - MP.mpf(10) ** -6), MP.mpf(found) * (1 + MP.mpf(10) ** -6)
    assert oracle(low) < z < oracle(high)
    return MP.findroot(lambda n: oracle(n) - z, (low, high), solver="anderson", tol=1e-70, verify=False)


def slope_oracle(rate: RateFamily, n: float, order: int) -> Any:
    """``μ'`` or ``μ''`` at ``n``, by central differences of the oracle in 120 digits."""
    oracle, point = rate_oracle(rate), MP.mpf(n)
    step = point * MP.mpf(10) ** -25
    if order == 1:
        return (oracle(point + step) - oracle(point - step)) / (2 * step)
    return (oracle(point + step) - 2 * oracle(point) + oracle(point - step)) / step**2


positive = st.floats(-3, 3).map(lambda e: float(10**e))
loose = st.floats(-6, 6).map(lambda e: float(10**e))


@st.composite
def softplus(draw: st.DrawFn, least: float = 1.0) -> Softplus:
    """``a/(bk)`` from ``least`` to 3, and now and then exactly 1 (in decimal)."""
    b, k, w = draw(positive), draw(st.floats(0.5, 50)), draw(st.floats(0.05, 10))
    if least >= 1 and draw(st.booleans()):
        return Softplus(a=round(draw(st.integers(1, 900)) * 0.001, 3), b=0.1, k=1.0, w=w)
    return Softplus(a=b * k * draw(st.floats(least + 1e-9, 3)), b=b, k=k, w=w)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """One to six points."""
    size = draw(st.integers(1, 6))
    steps = st.lists(st.floats(0.05, 5), min_size=size, max_size=size)
    ns, rates = np.cumsum(draw(steps)) * draw(positive), np.cumsum(draw(steps)) * draw(positive)
    capacity = None if draw(st.booleans()) else float(rates[-1] * draw(st.floats(1.01, 3)))
    return Table(points=tuple(zip(ns.tolist(), rates.tolist(), strict=True)), capacity=capacity)


def build(family: str, **parts: st.SearchStrategy[Any]) -> st.SearchStrategy[RateFamily]:
    """Random members of a family."""
    return st.fixed_dictionaries(parts).map(lambda given: make_rate({"family": family, **given}))


INCREASING = {
    "mm1": build("mm1", capacity=loose, half=loose),
    "smooth_min": build("smooth_min", service=loose, slots=positive, half=positive),
    "exponential": build("exponential", capacity=loose, scale=loose),
    "hill": build("hill", capacity=loose, half=positive, power=st.floats(0.15, 4) | st.sampled_from([0.5, 1.0, 2.0])),
    "mmc": build("mmc", service=loose, servers=st.integers(1, 24)),
    "softplus": softplus().filter(lambda rate: rate.margin >= 0),
    "table": tables(),
}
SHARES = st.one_of(
    st.floats(1e-6, 0.999), st.floats(-15, -3).map(lambda e: 1 - 10**e), st.floats(-280, -6).map(lambda e: float(10**e))
)
RATES = st.sampled_from(sorted(INCREASING)).flatmap(lambda name: INCREASING[name])
QUICK = settings(max_examples=30, deadline=None)


def close(found: Any, right: Any, tolerance: float = TIGHT) -> bool:
    """Relative error; values that doubles cannot hold count as 0 or infinity."""
    if abs(right) > MP.mpf(10) ** 307.5:
        return bool(abs(found) > 1e300)
    return bool(abs(MP.mpf(float(found)) - right) <= tolerance * abs(right) + MP.mpf(10) ** -300)


@pytest.mark.parametrize("family", sorted(INCREASING))
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_inverse(family: str, data: st.DataObject) -> None:
    """``μ⁻¹`` to rounding, from 1e-280 of the capacity to all but 1e-15 of it; ``μ`` undoes it as far as doubles allow."""
    rate = data.draw(INCREASING[family])
    z = data.draw(SHARES) * rate.capacity_limit
    right = inverse_oracle(rate, MP.mpf(z))
    found = float(rate.inverse(z))
    assert close(found, right), (rate, z, found, right)
    if found < 1e300:
        assert float(rate.rate(found)) == pytest.approx(z, rel=1e-12)
        assert 0 <= float(rate.rate(found)) <= rate.capacity_limit


@pytest.mark.parametrize("family", sorted(set(INCREASING) - {"mmc"}))
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_derivatives(family: str, data: st.DataObject) -> None:
    """``μ, μ', ℓ, ℓ', 1/μ', (1/μ')'`` to rounding over twenty orders of magnitude of ``N``."""
    rate = data.draw(INCREASING[family])
    middle = float(rate.inverse(rate.capacity_limit / 2))
    n = middle * 10 ** data.draw(st.floats(-10, 10 if family != "exponential" else 1.5))
    knots = [0.0, *(point[0] for point in rate.points)] if isinstance(rate, Table) else []
    if any(abs(n - knot) <= 1e-9 * n for knot in knots):
        return
    oracle, point = rate_oracle(rate), MP.mpf(n)
    value, first, second = oracle(point), slope_oracle(rate, n, 1), slope_oracle(rate, n, 2)
    signed = family == "table" or (isinstance(rate, Hill) and rate.power > 1)  # not concave
    # Where a rate may bend either way, μ'' and ℓ' are differences of larger terms near their zeros.
    size = abs(second) + abs(first) / point if signed else abs(second)
    assert close(rate.rate(n), value)
    assert close(rate.slope(n), first, 1e-11)
    assert close(rate.latency(n), point / value)
    assert close(rate.marginal(n), 1 / first, 1e-11)
    noise = MP.mpf(10) ** -66 * value / point**2  # what rounding leaves in the second difference
    gap = abs(MP.mpf(float(rate.latency_slope(n))) - (value - point * first) / value**2)
    assert gap <= 1e-11 * (abs((value - point * first) / value**2) + signed / value) + point * noise
    slope = -second / first**2
    if abs(slope) < MP.mpf(10) ** 300:
        assert abs(MP.mpf(float(rate.marginal_slope(n))) - slope) <= (1e-10 * size + noise) / first**2, (rate, n)


@given(rate=INCREASING["mmc"], share=st.one_of(st.floats(1e-4, 0.999), st.floats(-9, -3).map(lambda e: 1 - 10**e)))
@settings(max_examples=15, deadline=None)
def test_derivatives_of_mmc(rate: MMC, share: float) -> None:
    """The closed forms against 120-digit differences of the textbook sum: ``N``, ``dN/dz``, ``d²N/dz²``, and ``ℓ``."""
    z = MP.mpf(share * rate.capacity_limit)
    requests = erlang(rate)
    step = min(z, exact(rate.capacity_limit) - z) * MP.mpf(10) ** -25
    n, up, down = requests(z), requests(z + step), requests(z - step)
    first, second = (up - down) / (2 * step), (up - 2 * n + down) / step**2
    wait = (up / (z + step) - down / (z - step)) / (2 * step)
    at = float(n)
    # A double N near c or below fixes z only to its own rounding, so the tolerance carries z's condition number.
    ill = 1 + float(n / (z * first))
    assert close(rate.rate(at), z, 1e-12 * ill)
    assert close(rate.marginal(at), first, 1e-10 * ill)
    assert close(rate.slope(at), 1 / first, 1e-10 * ill)
    assert close(rate.latency(at), n / z, 1e-11 * ill)
    assert abs(MP.mpf(float(rate.latency_curvature(at))) - wait) <= 1e-9 * ill * (abs(wait) + rate.service**2 * 1e-9)
    assert abs(MP.mpf(float(rate.marginal_curvature(at))) - second) <= 1e-9 * ill * (abs(second) + rate.service**2 * 1e-9)


def integral(function: Oracle, edges: list[Any]) -> Any:
    """Mean of a function of unit size over ``[0, edges[-1]]``: the quadrature's error is an absolute one."""
    return MP.quad(lambda s: function(s * edges[-1]), [edge / edges[-1] for edge in edges])


@pytest.mark.parametrize("family", sorted(INCREASING))
@given(data=st.data())
@settings(max_examples=5, deadline=None)
def test_potentials(family: str, data: st.DataObject) -> None:
    """Both integrals against 30-digit tanh-sinh quadrature, of the inverse; where it has no formula,
    by parts: ``Nz − ∫μ`` and ``−∫log(μ/z)``; Hill's against mpmath's incomplete beta function."""
    rate = data.draw(INCREASING[family])
    share = data.draw(st.floats(1e-4, 0.99) | st.sampled_from([0.5, 0.25, 0.2499, 0.999999]))
    z = MP.mpf(share * rate.capacity_limit)
    with MP.workdps(30):
        n = inverse_oracle(rate, z)
        if isinstance(rate, Softplus | Table):
            oracle = rate_oracle(rate)
            if isinstance(rate, Table):
                marks = [point[0] for point in rate.points]
            else:
                marks = [rate.k + rate.w * u for u in (-40, -10, -3, 0, 3, 10, 40)]
            marks += [float(n) * e for e in (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5)]
            edges = [MP.mpf(0), *(MP.mpf(m) for m in sorted(marks) if 0 < m < n), n]
            by_requests = n * z * (1 - integral(lambda s: oracle(s) / z, edges))
            by_latency = -n * integral(lambda s: MP.log(oracle(s) / z), edges)
        elif isinstance(rate, Hill):  # its integrand is singular at 0, where quadrature loses digits
            top, power = exact(rate.capacity_limit), 1 / exact(rate.power)
            by_requests = exact(rate.half) * top * MP.betainc(1 + power, 1 - power, 0, z / top)
            by_latency = exact(rate.half) * MP.betainc(power, 1 - power, 0, z / top)
        else:
            top = exact(rate.capacity_limit)
            marks = [0, share / 1e6, share / 1e3, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999]
            edges = [top * e for e in sorted(marks) if e < share] + [z]
            by_requests = n * z * integral(lambda s: inverse_oracle(rate, s) / n, edges)
            by_latency = n * integral(lambda s: inverse_oracle(rate, s) / s * (z / n), edges)
    assert close(rate.integral_of_inverse(float(z)), by_requests, 2e-12), rate
    assert close(rate.integral_of_latency(float(z)), by_latency, 2e-12), rate


SOME: list[RateFamily] = [
    make_rate({"family": "mm1", "capacity": 2.0, "half": 1.0}),
    make_rate({"family": "smooth_min", "service": 0.5, "slots": 2.0, "half": 0.3}),
    make_rate({"family": "smooth_min", "service": 0.1, "slots": 64.0, "half": 0.01}),
    make_rate({"family": "exponential", "capacity": 2.0, "scale": 1.5}),
    *(make_rate({"family": "hill", "capacity": 2.0, "half": 1.5, "power": p}) for p in (0.3, 0.5, 0.8, 1.0, 1.5, 4.0)),
    *(make_rate({"family": "mmc", "service": 0.5, "servers": c}) for c in (1, 2, 4, 300)),
    make_rate({"family": "softplus", "a": 1.0, "b": 0.1, "k": 8.0, "w": 2.0}),
    make_rate({"family": "softplus", "a": 1.0, "b": 0.125, "k": 8.0, "w": 2.0}),
    make_rate({"family": "softplus", "a": 5.0, "b": 0.1, "k": 8.0, "w": 0.01}),
    make_rate({"family": "table", "points": [[1, 1], [2, 1.5], [4, 1.9], [8, 2.1]]}),
]
GRID = np.r_[0.0, np.logspace(-300, 300, 1201)]


def rising(values: np.ndarray) -> bool:
    """Whether values rise, or stay equal up to rounding."""
    with np.errstate(invalid="ignore"):
        return not (values[1:] < values[:-1] * (1 - 1e-14)).any() and bool(values[-1] > values[0])


@pytest.mark.parametrize("rate", SOME, ids=lambda rate: f"{rate.family}")
def test_extremes(rate: RateFamily) -> None:
    """From 0 and 1e-300 to 1e300: no NaN, ``μ`` from 0 up to ``μ̄``, ``ℓμ = N``, ``μ' (1/μ') = 1``, ``f'`` and ``p''`` ≥ 0."""
    top = rate.capacity_limit
    served, latency, slope, marginal = rate.rate(GRID), rate.latency(GRID), rate.slope(GRID), rate.marginal(GRID)
    assert served[0] == 0 and rising(served) and (served <= top).all() and served[-1] >= top * (1 - 1e-12)
    for values in (latency, slope, marginal):
        assert (values >= 0).all()
    with np.errstate(all="ignore"):
        kept = (served > 1e-290) & (latency < 1e300)
        assert latency[kept] * served[kept] == pytest.approx(GRID[kept], rel=1e-13)
        kept = (slope > 1e-290) & (marginal > 1e-290) & (slope < 1e290) & (marginal < 1e290)
        assert slope[kept] * marginal[kept] == pytest.approx(1.0, rel=1e-12)
    if rate.cost_shape("latency").increasing:
        assert (rate.latency_slope(GRID) >= 0).all() and (rate.latency_curvature(GRID) >= 0).all()
    if rate.cost_shape("gradient").increasing:
        assert (rate.marginal_slope(GRID) >= 0).all() and (rate.marginal_curvature(GRID) >= 0).all()
    inflows = np.r_[0.0, np.logspace(-300, 0, 301)[:-1], 1 - np.logspace(-15, -3, 40)] * top
    requests = rate.inverse(np.sort(inflows))
    assert requests[0] == 0 and rising(requests)
    for potential in (rate.integral_of_inverse(np.sort(inflows)), rate.integral_of_latency(np.sort(inflows))):
        assert potential[0] == 0 and rising(potential)
    assert float(rate.inverse(top)) == inf == float(rate.inverse(2 * top)) == float(rate.integral_of_inverse(2 * top))
    assert not np.isnan([rate.integral_of_inverse(top), rate.integral_of_latency(top)]).any()


@pytest.mark.parametrize("cost", ["rif", "latency", "gradient"])
@pytest.mark.parametrize("rate", SOME, ids=lambda rate: f"{rate.family}")
def test_tail_facts(rate: RateFamily, cost: str) -> None:
    """What a family says of a cost: increasing, unbounded, growth, and log-concave beyond a place, which is the least one."""
    of, shape = cell_cost(cost, rate), rate.cost_shape(cost)
    grid = np.geomspace(1e-6, 500, 4001)
    values, slopes = of.value(grid), of.slope(grid)
    assert shape.increasing == rising(values) and shape.unbounded
    far, step = (400.0, 2.0) if shape.growth else (1e9, 1.0)
    assert float(of.value(far + step) / of.value(far)) == pytest.approx(np.exp(shape.growth * step), rel=0.012)
    if shape.log_concave_from is None:
        return
    relative = (slopes / values)[grid >= shape.log_concave_from]
    assert (np.diff(relative) <= 1e-9 * np.abs(relative[1:])).all()
    if shape.log_concave_from > 0 and rate.family != "table":
        before = shape.log_concave_from * np.array([0.96, 0.98])
        low, high = of.slope(before) / of.value(before)
        assert high > low


def test_infinite_arguments_are_refused() -> None:
    """NaN, infinity and negative numbers in every method of ``N``; NaN and negative ones in every method of ``z``."""
    rate = SOME[0]
    for bad in (nan, inf, -1.0, [1.0, nan]):
        for method in (rate.rate, rate.slope, rate.latency, rate.latency_slope, rate.marginal, rate.marginal_slope):
            with pytest.raises(ParameterError, match=r"`n` of `mm1\.\w+` must be finite and ≥ 0"):
                method(bad)  # type: ignore[arg-type]
    for bad in (nan, -1.0):
        for method in (rate.inverse, rate.integral_of_inverse, rate.integral_of_latency):
            with pytest.raises(ParameterError, match=r"`z` of `mm1\.\w+` must be ≥ 0"):
                method(bad)


@given(rate=RATES)
@QUICK
def test_parameters_make_the_same_rate(rate: RateFamily) -> None:
    """`make_rate` undoes `parameters`; equal rates are equal and hash alike; shapes of arrays are kept."""
    again = make_rate(rate.parameters())
    assert again == rate and hash(again) == hash(rate)
    z = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]) * rate.capacity_limit
    for method in (rate.inverse, rate.integral_of_inverse, rate.integral_of_latency):
        assert method(z).shape == (2, 3) and method(z[1, 2]).shape == ()
        assert float(method(z)[1, 2]) == pytest.approx(float(method(z[1, 2])), rel=1e-14)
    n = rate.inverse(z)
    for method in (rate.rate, rate.slope, rate.latency, rate.latency_slope, rate.marginal, rate.marginal_slope):
        assert method(n).shape == (2, 3) and float(method(n)[0, 1]) == pytest.approx(
            float(method(n[0, 1])), rel=1e-12, abs=1e-280
        )


@given(rate=softplus(least=0.5))
@QUICK
def test_softplus_below_its_boundary(rate: Softplus) -> None:
    """``a < bk``: the capacity is the peak, ``μ⁻¹`` the rising branch, and the potentials are those of that branch."""
    if rate.margin >= 0:
        return
    peak, top = rate.peak, rate.capacity_limit
    grid = peak * np.r_[np.linspace(0, 2, 41), np.geomspace(3, 1e6, 20)]
    assert (rate.rate(grid) <= top).all() and float(rate.rate(peak)) == pytest.approx(top, rel=1e-12) and top >= 1 / rate.b
    assert float(rate.slope(peak * 1.01)) < 0 < float(rate.slope(peak * 0.99))
    # The rate is flat at its peak, so that a rounding of it moves N by about the root of that: the check is on the rate.
    at_top = float(rate.inverse(top))
    assert float(rate.inverse(top * (1 + 1e-9))) == inf and at_top <= peak
    assert float(rate.rate(at_top)) == pytest.approx(top, rel=1e-14)
    z = top * np.linspace(0, 0.999, 12)
    n = rate.inverse(z)
    assert (n <= peak).all() and rate.rate(n) == pytest.approx(z, rel=1e-12)
    # Trapezia of the convex inverse lie above, tangent steps below.
    fine = top * np.linspace(0, 0.999, 4001)
    curve = rate.inverse(fine)
    area = np.r_[0, np.cumsum(np.diff(fine) * (curve[1:] + curve[:-1]) / 2)][-1]
    assert float(rate.integral_of_inverse(fine[-1])) == pytest.approx(area, rel=1e-4)
    by_latency = np.r_[0, np.cumsum(np.diff(fine) * (rate.latency(curve)[1:] + rate.latency(curve)[:-1]) / 2)][-1]
    assert float(rate.integral_of_latency(fine[-1])) == pytest.approx(by_latency, rel=1e-4)


@given(data=st.data())
@QUICK
def test_table(data: st.DataObject) -> None:
    """Goes through its points, is PCHIP between the inner ones, is once differentiable, and goes on as its description says."""
    rate = data.draw(tables())
    ns, rates = map(np.array, zip(*rate.points, strict=True))
    assert rate.rate(ns) == pytest.approx(rates, rel=1e-13) and rate.inverse(rates) == pytest.approx(ns, rel=1e-12)
    if len(ns) > 3:
        grid = np.linspace(ns[0], ns[-2], 50)
        reference = PchipInterpolator(np.r_[0.0, ns], np.r_[0.0, rates])
        assert rate.rate(grid) == pytest.approx(reference(grid), rel=1e-12)
        assert rate.slope(grid) == pytest.approx(reference(grid, 1), rel=1e-9, abs=1e-12 * rates[-1] / ns[-1])
    left, right = rate.slope(np.nextafter(ns, 0)), rate.slope(np.nextafter(ns, inf))
    assert left == pytest.approx(right, rel=1e-9, abs=1e-10 * float(np.max(rates / ns)))
    assert (rate.slope(np.linspace(0, 3 * ns[-1], 400)) > 0).all()
    end = float(rate.slope(ns[-1]))
    assert rate.capacity_limit == pytest.approx(rate.capacity or rates[-1] + end * ns[-1])


@pytest.mark.parametrize("end", [[(1, 1), (2, 5), (3, 5.01)], [(1, 0.01), (2, 5), (3, 9)]])
def test_table_with_sharp_ends(end: list[tuple[float, float]]) -> None:
    """Where PCHIP's end slope would be 0 it is a third of the secant, so that the rate still increases."""
    rate = Table(points=tuple(end))
    assert (rate.slope(np.linspace(0, 6, 601)) > 0).all() and (np.diff(rate.rate(np.linspace(0, 6, 601))) > 0).all()


BAD: list[tuple[Any, type[Exception], str]] = [
    ({"family": "mm1", "capacity": 1.0}, ParameterError, "'mm1' must have capacity, half; missing: half"),
    ({"family": "mm1", "capacity": 1.0, "halff": 1.0}, UnknownNameError, "'halff'.*Did you mean 'half'"),
    ({"family": "mm1", "capacity": 1.0, "half": nan}, ParameterError, "`half` of `mm1` must be positive and finite; got nan"),
    ({"family": "mm1", "capacity": inf, "half": 1.0}, ParameterError, "`capacity` of `mm1` must be positive and finite"),
    ({"family": "mm1", "capacity": 0, "half": 1.0}, ParameterError, "`capacity` of `mm1` must be positive and finite; got 0"),
    ({"family": "mm1", "capacity": 10**400, "half": 1.0}, ParameterError, "positive and finite"),
    ({"family": "mm1", "capacity": "1", "half": 1.0}, ParameterError, "`capacity` of `mm1` must be a positive number; got '1'"),
    ({"family": "mm1", "capacity": True, "half": 1.0}, ParameterError, "must be a positive number; got True"),
    ({"family": "mmc", "service": 1.0, "servers": 2.5}, ParameterError, "`servers` of `mmc` must be a whole number ≥ 1"),
    ({"family": "mmc", "service": 1.0, "servers": 0}, ParameterError, "`servers` of `mmc` must be a whole number ≥ 1"),
    ({"family": "mmc", "service": 1.0, "servers": 2_000_000}, ParameterError, "at most 1000000.*Use smooth_min"),
    ({"family": "mmc", "service": 1e-308, "servers": 999_999}, ParameterError, "finite capacity"),
    (
        {"family": "smooth_min", "service": 1e-300, "slots": 1e300, "half": 1.0},
        ParameterError,
        "capacity that a double can hold",
    ),
    ({"family": "softplus", "a": 1.0, "b": 1e-310, "k": 1.0, "w": 1.0}, ParameterError, "`b` of `softplus`"),
    ({"family": "softplus", "a": 1.0, "b": -1.0, "k": 1.0, "w": 1.0}, ParameterError, "`b` of `softplus` must be positive"),
    ({"family": "hil", "capacity": 1.0}, UnknownNameError, "unknown rate family 'hil'.*Did you mean 'hill'"),
    ({"family": 3}, UnknownNameError, "unknown rate family '3'"),
    ({"capacity": 1.0}, ParameterError, 'with the key "family"'),
    ("mm1", ParameterError, "must be a table"),
    ({"family": "table", "points": []}, ParameterError, "must be a list of"),
    ({"family": "table", "points": 3}, ParameterError, "must be a list of"),
    ({"family": "table", "points": [[1, 2, 3]]}, ParameterError, r"pairs; got \[1, 2, 3\] at index 0"),
    ({"family": "table", "points": [[1, 2], [2, 2]]}, ParameterError, "increase strictly in both columns.*at index 1"),
    ({"family": "table", "points": [[0, 2]]}, ParameterError, r"`points\[0\]` of `table` must be positive"),
    (
        {"family": "table", "points": [[1, 2]], "capacity": 2.0},
        ParameterError,
        "`capacity` of `table` must exceed the last rate 2",
    ),
]


@pytest.mark.parametrize(("parameters", "kind", "message"), BAD, ids=[message[:40] for _, _, message in BAD])
def test_bad_parameters(parameters: Any, kind: type[Exception], message: str) -> None:
    """Named with the family, the value and the nearest name."""
    with pytest.raises(kind, match=message):
        make_rate(parameters)


def test_registry() -> None:
    """Every family is registered by its own name and is covered by the tests above."""
    assert set(FAMILIES) == set(INCREASING) | {"capped_linear"} and all(name == made.family for name, made in FAMILIES.items())
    with pytest.raises(UnknownNameError, match="unknown cost"):
        SOME[0].cost_shape("price")
    with pytest.raises(UnknownNameError, match="unknown cost"):
        Hill(capacity=1.0, half=1.0, power=1.0).conic("price", None)


def test_capped_linear() -> None:
    """A closed form throughout; slopes at the cap are those from below."""
    rate = CappedLinear(service=0.5, slots=2.0)
    n = np.array([0.0, 1.0, 2.0, 3.0])
    assert rate.rate(n).tolist() == [0, 2, 4, 4] and rate.slope(n).tolist() == [2, 2, 2, 0]
    assert rate.latency(n).tolist() == [0.5, 0.5, 0.5, 0.75] and rate.latency_slope(n).tolist() == [0, 0, 0, 0.25]
    assert rate.marginal(n).tolist() == [0.5, 0.5, 0.5, inf] and rate.marginal_slope(n[:3]).tolist() == [0, 0, 0]
    assert rate.inverse([0.0, 2.0, 4.0, 5.0]).tolist() == [0, 1, 2, inf]  # type: ignore[arg-type]
    assert rate.integral_of_inverse([2.0, 4.0, 5.0]).tolist() == [1, 4, inf]  # type: ignore[arg-type]
    assert rate.integral_of_latency([2.0, 4.0, 5.0]).tolist() == [1, 2, inf]  # type: ignore[arg-type]
