"""``table``: a measured rate, interpolated monotonically, with a tail that increases to a finite capacity (ours).

Its slopes are those of F. N. Fritsch and J. Butland, "A method for constructing local monotone piecewise cubic interpolants",
SIAM Journal on Scientific and Statistical Computing 5 (1984), known as PCHIP.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from lbtheory.core import ParameterError, readonly
from lbtheory.fluid.rates._functions import quadratic_log, solve_increasing
from lbtheory.fluid.rates._quadrature import CumulativeIntegral
from lbtheory.fluid.rates.base import Array, CostShape, RateFamily, RateShape, of_inflow, of_requests, positive


@dataclass(frozen=True, slots=True, kw_only=True)
class _Curve:
    """The interpolant: on piece ``i``, ``μ = c₀ + c₁ s + c₂ s² + c₃ s³``, ``s = N − knots[i]``; beyond the last knot the tail.

    Attributes
    ----------
    knots, rates : ndarray (m + 1,)
        With (0, 0) first.
    coefficients : ndarray (4, m)
        ``c₀ … c₃``.
    capacity, half : float
        ``μ̄``, ``g``.
    inverse_sums : ndarray (m + 1,)
        ``∫_0^N s μ'(s) ds`` at the knots.
    """

    knots: Array
    rates: Array
    coefficients: Array
    capacity: float
    half: float
    inverse_sums: Array

    def piece(self, n: Array) -> tuple[Array, Array, Array]:
        """Index of the piece, ``s``, and the coefficients there; for the tail those of the last piece."""
        i = np.clip(np.searchsorted(self.knots, n, side="right") - 1, 0, len(self.knots) - 2)
        return i, n - self.knots[i], self.coefficients[:, i]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(RateFamily):
    """Cubic Hermite interpolation of points ``(N, rate)`` and (0, 0), which increases strictly between them.

    Inner slopes are weighted harmonic means of the two secants (PCHIP); an end slope is that of the parabola through three
    points, kept between a third of the secant there and three times it. Beyond the last point ``(m, r)``, where the slope is
    ``σ``, the rate goes on as ``μ = r + (μ̄ − r) x/(g + x)``, ``x = N − m``, ``g = (μ̄ − r)/σ``: once differentiable, increasing,
    below ``μ̄``.

    The RIF potential is a closed form; the latency potential is one on the tail, and by quadrature between points (relative
    error 1e-13).

    Parameters
    ----------
    points : sequence of (float, float)
        Requests in flight and rate, both strictly increasing from above 0.
    capacity : float, optional
        ``μ̄``, above the last rate. By default ``r + σ m``, where the last tangent is at twice the last load.

    Raises
    ------
    ParameterError
        Unless they are so; names the first point that is wrong.
    """

    family: ClassVar[str] = "table"

    points: tuple[tuple[float, float], ...]
    capacity: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", _checked(self.points))
        if self.capacity is not None:
            object.__setattr__(self, "capacity", positive(self.family, "capacity", self.capacity))
            if self.capacity <= self.points[-1][1]:
                raise ParameterError(
                    f"`capacity` of `table` must exceed the last rate {self.points[-1][1]:g}; got {self.capacity:g}. "
                    "Leave it out for the default."
                )

    def parameters(self) -> dict[str, Any]:
        made = RateFamily.parameters(self)
        return {**made, "points": [list(point) for point in self.points]}

    @property
    def capacity_limit(self) -> float:
        return _curve(self).capacity

    def _by_piece(self, n: Array, inside: Any, tail: Any) -> Array:
        """``inside(s, c)`` up to the last knot, ``tail(x)`` beyond it."""
        curve = _curve(self)
        last = curve.knots[-1]
        _, s, c = curve.piece(np.minimum(n, last))
        return np.where(n <= last, inside(s, c), tail(np.maximum(n - last, 0.0)))

    @of_requests
    def rate(self, n: Array) -> Array:
        curve = _curve(self)
        gain = curve.capacity - curve.rates[-1]
        return self._by_piece(n, _cubic, lambda x: curve.capacity - gain * (curve.half / (curve.half + x)))

    @of_inflow
    def inverse(self, z: Array) -> Array:
        curve = _curve(self)
        last, top = curve.knots[-1], curve.rates[-1]
        inner = np.minimum(z, top)
        i = np.clip(np.searchsorted(curve.rates, inner, side="right") - 1, 0, len(curve.rates) - 2)
        c, width = curve.coefficients[:, i], np.diff(curve.knots)[i]

        def excess(s: Array) -> tuple[Array, Array]:
            return _cubic(s, c) - inner, _cubic_slope(s, c)

        start = (inner - curve.rates[i]) * width / np.diff(curve.rates)[i]
        n = curve.knots[i] + solve_increasing(excess, np.zeros_like(width), width, start)
        return np.where(z <= top, n, last + curve.half * ((z - top) / (curve.capacity - z)))

    @of_requests
    def slope(self, n: Array) -> Array:
        curve = _curve(self)
        gain, g = curve.capacity - curve.rates[-1], curve.half
        return self._by_piece(n, _cubic_slope, lambda x: gain / (g + x) * (g / (g + x)))

    @of_requests
    def latency(self, n: Array) -> Array:
        first = 1 / _curve(self).coefficients[1, 0]
        return np.where(n > 0, n / self.rate(n), first)

    @of_requests
    def latency_slope(self, n: Array) -> Array:
        # ℓ' = (μ − Nμ')/μ²; on the first piece μ = N(c₁ + c₂N + c₃N²) and N drops out.
        curve = _curve(self)
        c = curve.coefficients[:, 0]
        first = -(c[2] + 2 * c[3] * n) / (c[1] + (c[2] + c[3] * n) * n) ** 2
        rate = self.rate(n)
        return np.where(n < curve.knots[1], first, (1 - n * (self.slope(n) / rate)) / rate)

    @of_requests
    def marginal(self, n: Array) -> Array:
        return 1 / self.slope(n)

    @of_requests
    def marginal_slope(self, n: Array) -> Array:
        """``−μ''/μ'²``, from the left at the points, where ``μ''`` jumps."""
        curve = _curve(self)
        gain, g = curve.capacity - curve.rates[-1], curve.half
        i = np.clip(np.searchsorted(curve.knots, n, side="left") - 1, 0, len(curve.knots) - 2)
        s, c = n - curve.knots[i], curve.coefficients[:, i]
        inside = -(2 * c[2] + 6 * c[3] * s) / _cubic_slope(s, c) ** 2
        return np.where(n <= curve.knots[-1], inside, 2 * ((g + np.maximum(n - curve.knots[-1], 0.0)) / g) / gain)

    @of_inflow
    def integral_of_inverse(self, z: Array) -> Array:
        curve = _curve(self)
        last, top = curve.knots[-1], curve.rates[-1]
        i, s, c = curve.piece(np.minimum(self.inverse(z), last))
        inside = curve.inverse_sums[i] + _moment(s, c, curve.knots[i])
        over, gain = np.maximum(z - top, 0.0), curve.capacity - top
        low, high = quadratic_log(over, gain), -over / gain - _tail_log(curve, z)
        return inside + last * over + curve.half * gain * np.where(over < gain / 4, low, high)

    @of_inflow
    def integral_of_latency(self, z: Array) -> Array:
        curve = _curve(self)
        last, top, limit = curve.knots[-1], curve.rates[-1], curve.capacity
        inside = _latency_integral(self)(np.minimum(self.inverse(z), last))
        # ∫ (m + g(s − r)/(μ̄ − s))/s ds by partial fractions
        over = np.maximum(z - top, 0.0)
        rise = np.log1p(over / top)
        return inside + last * rise - curve.half * (top / limit * rise + (limit - top) / limit * _tail_log(curve, z))

    def rate_shape(self) -> RateShape:
        return RateShape(holds=True, why="The interpolant increases strictly between points and its tail increases to μ̄.")

    def _latency_shape(self) -> CostShape:
        curve = _curve(self)
        for i, (low, width) in enumerate(zip(curve.knots, np.diff(curve.knots), strict=False)):
            c = curve.coefficients[:, i]
            # μ − Nμ' as a polynomial in s, N = low + s; ℓ increases where it is positive
            gap = np.polynomial.Polynomial([c[0] - low * c[1], -2 * low * c[2], -c[2] - 3 * low * c[3], -2 * c[3]])
            roots: Array = np.asarray(gap.deriv().roots(), dtype=complex)
            inner = roots.real[roots.imag == 0]
            tried = np.r_[width / 2, width, inner[(inner > 0) & (inner < width)]]
            if low > 0:
                tried = np.r_[0.0, tried]
            worst = tried[np.argmin(gap(tried))]
            if gap(worst) <= 0:
                return self._not_increasing("latency", low + worst, width)
        if curve.knots[-1] * (curve.capacity - curve.rates[-1]) >= curve.rates[-1] * curve.half:
            return self._not_increasing("latency", curve.knots[-1], curve.half)
        # On the tail ℓ = (m + x)(g + x)/(μ̄(e + x)), e = rg/μ̄: log-concave if e is at least m or g (and e < g).
        concave = curve.rates[-1] / curve.capacity * curve.half >= curve.knots[-1]
        why = "ℓ' > 0 on every piece and the tail is that of a hyperbola."
        start = float(curve.knots[-1]) if concave else None
        return CostShape(increasing=True, unbounded=True, growth=0.0, log_concave_from=start, why=why)

    def _marginal_shape(self) -> CostShape:
        curve = _curve(self)
        for i, (low, width) in enumerate(zip(curve.knots, np.diff(curve.knots), strict=False)):
            bends = 2 * curve.coefficients[2, i] + 6 * curve.coefficients[3, i] * np.array([0.0, width])
            if (bends > 0).any() or (bends == 0).all():
                return self._not_increasing("marginal", low + width * float(bends[1] > bends[0]), width)
        why = "μ'' < 0 on every piece and the tail is that of a hyperbola."
        return CostShape(increasing=True, unbounded=True, growth=0.0, log_concave_from=float(curve.knots[-1]), why=why)

    def _not_increasing(self, cost: str, near: float, width: float) -> CostShape:
        """Facts where the derivative is not positive at ``near``; the witness is a step over which ``f`` does not rise."""
        value, name = (self.latency, "ℓ") if cost == "latency" else (self.marginal, "1/μ'")
        tried = ((n, s) for s in width * 0.5 ** np.arange(1, 40) for n in (near, near - s, near - s / 2) if n >= 0)
        witness = next(((float(n), float(s)) for n, s in tried if value(n + s) <= value(n)), None)
        why = f"{name} does not increase near N = {near:.6g}: the measured rate is not concave enough there."
        return CostShape(increasing=False, unbounded=True, growth=0.0, log_concave_from=None, why=why, witness=witness)


def _cubic(s: Array, c: Array) -> Array:
    return ((c[3] * s + c[2]) * s + c[1]) * s + c[0]


def _cubic_slope(s: Array, c: Array) -> Array:
    return (3 * c[3] * s + 2 * c[2]) * s + c[1]


def _tail_log(curve: _Curve, z: Array) -> Array:
    """``log((μ̄ − z)/(μ̄ − r))`` for ``z ≥ r``, 0 below."""
    over, gain = np.maximum(z - curve.rates[-1], 0.0), curve.capacity - curve.rates[-1]
    return np.where(over < gain / 2, np.log1p(-over / gain), np.log((curve.capacity - z) / gain))


def _moment(s: Array, c: Array, low: Array) -> Array:
    """``∫_0^s (low + t) μ'(low + t) dt`` on a piece."""
    rise = ((c[3] * s + c[2]) * s + c[1]) * s
    return low * rise + ((3 * c[3] / 4 * s + 2 * c[2] / 3) * s + c[1] / 2) * s * s


def _checked(points: Any) -> tuple[tuple[float, float], ...]:
    """The points as floats; raises `ParameterError` unless both columns increase strictly from above 0."""
    if not isinstance(points, Sequence | np.ndarray) or isinstance(points, str) or len(points) == 0:
        raise ParameterError(f"`points` of `table` must be a list of [requests in flight, rate] pairs; got {points!r}.")
    made: list[tuple[float, float]] = []
    for i, point in enumerate(points):
        if not isinstance(point, Sequence | np.ndarray) or isinstance(point, str) or len(point) != 2:
            raise ParameterError(f"`points` of `table` must be [requests in flight, rate] pairs; got {point!r} at index {i}.")
        n, rate = (positive("table", f"points[{i}]", value) for value in point)
        if made and not (n > made[-1][0] and rate > made[-1][1]):
            raise ParameterError(
                f"`points` of `table` must increase strictly in both columns; got {[n, rate]} after {list(made[-1])} at index "
                f"{i}. Drop the point, or fit isotonic values first."
            )
        made.append((n, rate))
    return tuple(made)


def _slopes(widths: Array, secants: Array) -> Array:
    """Slopes at the knots; see `Table`."""
    slopes = np.empty(len(secants) + 1)
    if len(secants) == 1:
        slopes[:] = secants[0]
        return slopes
    before, after = 2 * widths[1:] + widths[:-1], widths[1:] + 2 * widths[:-1]
    slopes[1:-1] = (before + after) / (before / secants[:-1] + after / secants[1:])
    for end, (h0, h1), (m0, m1) in ((0, widths[:2], secants[:2]), (-1, widths[:-3:-1], secants[:-3:-1])):
        parabola = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
        slopes[end] = np.clip(parabola, m0 / 3, 3 * m0)
    return slopes


@lru_cache(maxsize=256)
def _curve(of: Table) -> _Curve:
    points = np.array([(0.0, 0.0), *of.points])
    knots, rates = points.T
    widths, secants = np.diff(knots), np.diff(rates) / np.diff(knots)
    slopes = _slopes(widths, secants)
    left, right = slopes[:-1], slopes[1:]
    c = np.array([rates[:-1], left, (3 * secants - 2 * left - right) / widths, (left + right - 2 * secants) / widths**2])
    capacity = of.capacity if of.capacity is not None else float(rates[-1] + slopes[-1] * knots[-1])
    return _Curve(
        knots=readonly(knots),
        rates=readonly(rates),
        coefficients=readonly(c),
        capacity=capacity,
        half=float((capacity - rates[-1]) / slopes[-1]),
        inverse_sums=readonly(np.r_[0.0, np.cumsum(_moment(widths, c, knots[:-1]))]),
    )


@lru_cache(maxsize=256)
def _latency_integral(of: Table) -> CumulativeIntegral:
    """``∫_0^N s μ'(s)/μ(s) ds`` up to the last point."""
    return CumulativeIntegral(lambda n: of.latency(n) * of.slope(n), _curve(of).knots)
