"""What every service-rate family promises, against 120-digit arithmetic that knows nothing but its defining formula."""

from collections.abc import Callable
from fractions import Fraction
from math import inf, pi
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.fluid.rates import FAMILIES, CappedLinear, Hill, MMC, RateFamily, Softplus, Table, make_rate

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
    h = [b - a for a, b in zip(xs, xs[1:])]
    m = [(b - a) / width for a, b, width in zip(ys, ys[1:], h)]
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
    """Derivative of ``1/μ'``-type quantities from the oracle: ``μ`` (order 1, 2) at ``n``, by central differences in 120 digits."""
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
    "mmc": build("mmc", service=loose, servers=st.integers(1, 40)),
    "softplus": softplus().filter(lambda rate: rate.margin >= 0),
    "table": tables(),
}
SHARES = st.one_of(
    st.floats(1e-6, 0.999), st.floats(-15, -3).map(lambda e: 1 - 10**e), st.floats(-280, -6).map(lambda e: float(10**e))
)
RATES = st.sampled_from(sorted(INCREASING)).flatmap(lambda name: INCREASING[name])
QUICK = settings(max_examples=60, deadline=None)


def close(found: Any, right: Any, tolerance: float = TIGHT) -> bool:
    """Relative error; values that doubles cannot hold count as 0 or infinity."""
    if abs(right) > MP.mpf(10) ** 307.5:
        return bool(abs(found) > 1e300)
    return bool(abs(MP.mpf(float(found)) - right) <= tolerance * abs(right) + MP.mpf(10) ** -300)


@pytest.mark.parametrize("family", sorted(INCREASING))
@given(data=st.data())
@settings(max_examples=25, deadline=None)
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
@settings(max_examples=25, deadline=None)
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
    # Differences of a polynomial piece lose what cancels in the tail of a table or at its bends: allow for the conditioning.
    size = abs(second) + abs(first) / point if family == "table" else abs(second)
    assert close(rate.rate(n), value)
    assert close(rate.slope(n), first, 1e-11)
    assert close(rate.latency(n), point / value)
    assert close(rate.marginal(n), 1 / first, 1e-11)
    noise = MP.mpf(10) ** -66 * value / point**2  # what rounding leaves in the second difference
    gap = abs(MP.mpf(float(rate.latency_slope(n))) - (value - point * first) / value**2)
    assert gap <= 1e-11 * (abs((value - point * first) / value**2) + (family == "table") / value) + point * noise
    slope = -second / first**2
    if abs(slope) < MP.mpf(10) ** 300:
        assert abs(MP.mpf(float(rate.marginal_slope(n))) - slope) <= (1e-10 * size + noise) / first**2, (rate, n)


@given(rate=INCREASING["mmc"], share=st.one_of(st.floats(1e-4, 0.999), st.floats(-9, -3).map(lambda e: 1 - 10**e)))
@settings(max_examples=25, deadline=None)
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


@pytest.mark.parametrize("family", sorted(INCREASING))
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_potentials(family: str, data: st.DataObject) -> None:
    """Both integrals against 30-digit tanh-sinh quadrature, by parts: ``Nz − ∫μ`` and ``N log z − ∫log μ`` (M/M/c: directly)."""
    rate = data.draw(INCREASING[family])
    share = data.draw(st.floats(1e-4, 0.99) | st.sampled_from([0.5, 0.25, 0.2499, 0.999999]))
    z = MP.mpf(share * rate.capacity_limit)
    with MP.workdps(30):
        n = inverse_oracle(rate, z)
        if isinstance(rate, MMC):
            requests, top = erlang(rate), exact(rate.capacity_limit)
            edges = [top * e for e in (0, 0.5, 0.9, 0.99, 0.999, 0.9999) if e < share] + [z]
            by_requests = MP.quad(requests, edges)
            by_latency = MP.quad(lambda s: requests(s) / s, edges)
        else:
            oracle = rate_oracle(rate)
            marks = [point[0] for point in rate.points] if isinstance(rate, Table) else []
            if isinstance(rate, Softplus):
                marks = [rate.k + rate.w * u for u in (-40, -10, -3, 0, 3, 10, 40)]
            marks += [float(n) * e for e in (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5)]
            edges = [MP.mpf(0), *(MP.mpf(m) for m in sorted(marks) if 0 < m < n), n]
            by_requests = n * z - MP.quad(oracle, edges)
            by_latency = n * MP.log(z) - MP.quad(lambda s: MP.log(oracle(s)), edges)
    assert close(rate.integral_of_inverse(float(z)), by_requests, 2e-12), rate
    assert close(rate.integral_of_latency(float(z)), by_latency, 2e-12), rate
