"""Laws of sums of many independent whole-number variables, with relative precision in both tails and a bound on the error.

The law of ``L = Σ_j Σ_{i ≤ n_j} X_ji`` is cut into bands. In a band it is tilted, ``P_θ(L = x) = e^{θx − K(θ)} P(L = x)`` with
``K`` the cumulant function of ``L``, so that the tilted mean lies in the band: rounding, which is relative to the largest
tilted probability, is then relative to the probabilities of the band. The tilted law is the inverse Fourier transform of
``Π_j φ_j(ω)^{n_j}`` at ``ω = 2πk/N``; what wraps round the period ``N`` is bounded by Chernoff's inequality. Ours. Bounds of
rounding are worst cases to first order in the unit ``u``; a stage of a fast transform costs at most ``√5 u`` for its complex
product (Brent, Percival, Zimmermann, Math. Comp. 76, 2007), ``u`` for its root of unity and ``u`` for its sum.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, exp, expm1, log, log1p, log2, pi, sqrt
from typing import Protocol

import numpy as np
from numba import njit
from scipy import fft

from lbtheory.core import ParameterError

UNIT = 2.0**-53
"""Unit rounding error of a double."""
STAGE = 5.0
"""Rounding of one of the ``log₂ N`` stages of a fast transform, in units, relative to the sum of moduli."""
DEPTH = 46.0
"""Logarithm of the mass cut off at an end (``e^{−46} = 1e-20``), and of the modulus below which a frequency is left out."""
WRAP = 55.0
"""Logarithm of the mass of a tilted law that may wrap round a period at an end (``1e-24``)."""
BANDS = 3
"""Bands on each side of the mean, at least."""
GAP = 4.0
"""Largest logarithm of the loss of precision at the end of a band."""
LARGEST = 2**27
"""Largest number of points that is tried."""
SERIES = 12
"""Terms a point of a period up to which a sum over the few frequencies that count is faster than a fast transform."""
DIRECT = 2**22
"""Largest number of terms of a Fourier transform that is summed term by term."""


class Summand(Protocol):
    """A whole-number variable with a tilt: its cumulants and its tilted Fourier transform."""

    @property
    def low(self) -> int:
        """Smallest value."""

    @property
    def high(self) -> float:
        """Largest value, perhaps infinite."""

    @property
    def limit(self) -> float:
        """Tilts below this are allowed."""

    @property
    def spread(self) -> float:
        """Variance."""

    def cumulants(self, theta: float) -> tuple[float, float]:
        """``K(θ) = log E e^{θX}`` and ``K'(θ)``."""

    def transform(self, theta: float, period: int, count: int) -> tuple[np.ndarray, float]:
        """``E_θ e^{−iωX}`` at ``ω = 2πk/period``, ``k = 0 … count − 1``, and a bound of the absolute error of each."""


class Geometric:
    """``P(A = a) = p q^a``, ``a ≥ 0``."""

    low, high = 0, np.inf

    def __init__(self, p: float) -> None:
        self.limit = -log1p(-p)
        self.log_p = log(p)
        self.spread = (1 - p) / p**2

    def cumulants(self, theta: float) -> tuple[float, float]:
        stop = -expm1(theta - self.limit)
        return self.log_p - log(stop), exp(theta - self.limit) / stop

    def transform(self, theta: float, period: int, count: int) -> tuple[np.ndarray, float]:
        go, stop = exp(theta - self.limit), -expm1(theta - self.limit)
        angle = 2 * pi * np.arange(count) / period
        return stop / (stop + go * (2 * np.sin(angle / 2) ** 2 + 1j * np.sin(angle))), 0.0

    def significant(self, theta: float, period: int, n: int) -> int:
        """Frequencies ``k < result`` hold all with ``n log |φ(2πk/period)| ≥ −DEPTH``; ``|φ|`` falls in ``k``."""
        go, stop = exp(theta - self.limit), -expm1(theta - self.limit)
        sine = stop * sqrt(expm1(2 * DEPTH / n) / (4 * go)) if 2 * DEPTH / n < 700 else 1.0
        whole = period // 2 + 1
        return whole if sine >= 1 else min(whole, int(np.arcsin(sine) / pi * period) + 2)


class Atoms:
    """Finitely many values with probabilities proportional to ``weights``."""

    limit = np.inf

    def __init__(self, values: np.ndarray, weights: np.ndarray) -> None:
        kept = np.asarray(weights) > 0
        self.values = np.asarray(values, dtype=np.int64)[kept]
        self.weights = np.asarray(weights, dtype=float)[kept]
        self.weights = self.weights / self.weights.sum()
        self.low, self.high = int(self.values[0]), float(self.values[-1])
        mean = float(self.weights @ self.values)
        self.spread = float(self.weights @ (self.values - mean) ** 2)

    def tilted(self, theta: float) -> tuple[np.ndarray, float, float]:
        """Tilted weights with sum ``e^{K(θ) − shift}``, that sum, and ``shift``."""
        shift = theta * float(self.values[-1] if theta > 0 else self.low)
        tilted = self.weights * np.exp(theta * self.values - shift)
        return tilted, float(tilted.sum()), shift

    def cumulants(self, theta: float) -> tuple[float, float]:
        tilted, total, shift = self.tilted(theta)
        return log(total) + shift, float((tilted * self.values).sum()) / total

    def transform(self, theta: float, period: int, count: int) -> tuple[np.ndarray, float]:
        tilted, total, shift = self.tilted(theta)
        tilted /= total
        own = (8 + 2 * abs(shift)) * UNIT
        if count * len(tilted) <= min(period, DIRECT):
            phase = np.arange(count)[:, None] * (self.values % period) % period
            terms = tilted * np.exp(-2j * pi / period * phase)
            return terms.sum(axis=1), own + (16 + log2(len(tilted))) * UNIT
        folded = np.bincount(self.values % period, weights=tilted, minlength=period)
        return fft.rfft(folded)[:count], own + STAGE * log2(period) * UNIT


Parts = Sequence[tuple[Summand, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The law of a sum on ``offset, …, last``; arrays are read-only.

    Attributes
    ----------
    offset : int
    pmf : float64 array (last − offset + 1,)
        ``P(L = x)``.
    lower : float64 array (centre − offset,)
        ``P(L ≤ x)`` for ``x < centre``, where it is at most one half.
    upper : float64 array (last − centre + 1,)
        ``P(L > x)`` for ``x ≥ centre``.
    lower_error, upper_error : (relative, absolute)
        ``lower`` and ``upper`` are within ``relative`` times themselves plus ``absolute``.
    cut_sum : float
        Bound of ``E (L − last)⁺`` and of ``E (offset − L)⁺``.
    """

    offset: int
    pmf: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    lower_error: tuple[float, float]
    upper_error: tuple[float, float]
    cut_sum: float

    @property
    def centre(self) -> int:
        """Where ``upper`` begins."""
        return self.offset + len(self.lower)

    @property
    def last(self) -> int:
        """The last point."""
        return self.offset + len(self.pmf) - 1


class _Plan:
    """Cumulants of the sum on a grid of tilts, and what Chernoff's inequality makes of them."""

    def __init__(self, parts: Parts) -> None:
        self.parts = [(part, n) for part, n in parts if n]
        self.low = sum(n * part.low for part, n in self.parts)
        self.high = sum(n * part.high for part, n in self.parts)
        deviation = sqrt(sum(n * part.spread for part, n in self.parts))
        self.limit = min(part.limit for part, _ in self.parts)
        down = np.geomspace(0.02, 200, 64) / deviation
        up = np.geomspace(0.02 / deviation, 200 * max(1 / deviation, self.limit if self.limit < np.inf else 0.0), 80)
        self.tilts = np.concatenate([-down[::-1], [0.0], up / (1 + up / self.limit)])
        self.k, self.slope = np.array([self.cumulants(theta) for theta in self.tilts]).T
        rate = np.maximum(self.tilts * self.slope - self.k, 0)
        self.root = np.sign(self.tilts) * np.sqrt(2 * rate)

    def cumulants(self, theta: float) -> tuple[float, float]:
        """``K`` and ``K'`` of the sum."""
        values = [(n * k, n * slope) for part, n in self.parts for k, slope in [part.cumulants(theta)]]
        return sum(v[0] for v in values), sum(v[1] for v in values)

    def tilt(self, root: float) -> float:
        """The tilt at which Chernoff's exponent at the tilted mean is ``root²/2``, on the side of its sign (interpolated).

        It stays below 7/8 of the limit: nearer to it the tilted law is long, and in an exponential tail any tilt serves.
        """
        order = np.maximum.accumulate(self.root)
        return min(float(np.interp(root, order, self.tilts)), 0.875 * self.limit)

    def bands(self, first: int, stop: int) -> list[tuple[float, int, int]]:
        """Tilt and ends of each band of ``first, …, stop − 1``: equal steps of the root, halved where a tilt is short by `GAP`.

        A tilt is short at ``x`` by the difference of Chernoff's exponent there and the exponent that the tilt gives.
        """
        down, up = max(self.root[0], -sqrt(2 * DEPTH)), min(self.root[-1], sqrt(2 * DEPTH))
        roots = np.append(np.linspace(down, 0, BANDS + 1)[:-1], np.linspace(0, up, BANDS + 1))
        pending = [(float(a), float(b)) for a, b in pairwise(roots)][::-1]
        tilts: list[float] = []
        starts: list[int] = []
        while pending:
            a, b = pending.pop()
            theta, ends = self.tilt((a + b) / 2), [self.tilt(a), self.tilt(b)]
            k, left = self.cumulants(theta)[0], self.cumulants(ends[0])[1]
            short = [end * x - at - (theta * x - k) for end in ends for at, x in [self.cumulants(end)]]
            if max(short) > GAP and b - a > 0.1:
                pending += [((a + b) / 2, b), (a, (a + b) / 2)]
            elif not tilts or theta > tilts[-1]:
                tilts.append(theta)
                starts.append(min(max(int(left), starts[-1]), stop) if starts else first)
        return [band for band in zip(tilts, starts, [*starts[1:], stop], strict=True) if band[2] > band[1]]

    def reach(self, theta: float, depth: float, side: int) -> int:
        """An ``x`` with ``P_θ(L ≥ x) ≤ e^{−depth}`` (``side`` 1) or ``P_θ(L ≤ x) ≤ e^{−depth}`` (−1)."""
        k = self.cumulants(theta)[0]
        change = side * (self.tilts - theta)
        use = change > 1e-9 * abs(theta)
        end = self.high + 1 if side > 0 else 1 - self.low
        x = float(((depth + self.k[use] - k) / change[use]).min(initial=end))
        if x == np.inf:
            raise ParameterError("the law has too long a tail for its window to be planned. Take a larger `p`.")
        return side * ceil(x)

    def cut_sum(self, x: int, side: int) -> tuple[float, float]:
        """Bounds of ``P(L > x)`` and ``E (L − x)⁺`` (``side`` 1), or of ``P(L < x)`` and ``E (x − L)⁺`` (−1)."""
        if side * x >= (self.high if side > 0 else -self.low):
            return 0.0, 0.0
        use = side * self.tilts > 0
        size = np.abs(self.tilts[use])
        mass = np.exp(np.minimum(self.k[use] - size * (side * x + 1), 300))
        return float(mass.min()), float((mass / -np.expm1(-size)).min())


def law_of_sum(parts: Parts) -> Window:
    """The law of a sum of independent whole-number variables.

    Parameters
    ----------
    parts : sequence of (Summand, count)

    Raises
    ------
    ParameterError
        The law needs more than 2^27 points.
    """
    plan = _Plan(parts)
    first, last = plan.reach(0.0, DEPTH, -1) + 1, plan.reach(0.0, DEPTH, 1) - 1
    if last - first >= LARGEST:
        raise ParameterError(
            f"the law needs {last - first + 1} points, of at most {LARGEST}. Take a larger `p`, fewer slots, or coarser sizes."
        )
    bands = [_band(plan, theta, start, stop) for theta, start, stop in plan.bands(first, last + 1)]
    pmf, errors = (np.concatenate([band[i] for band in bands]) for i in (0, 1))
    lower, upper = _running_sum(pmf), _running_sum(pmf[::-1])[::-1]
    _check_total(lower[-1], _running_sum(errors)[-1])
    centre = int(np.searchsorted(lower, 0.5, side="right"))
    lower, upper = lower[:centre], np.append(upper[centre + 1 :], 0.0)
    below, above = _running_sum(errors[:centre]), np.append(_running_sum(errors[centre + 1 :][::-1])[::-1], 0.0)
    (cut_below, sum_below), (cut_above, sum_above) = plan.cut_sum(first, -1), plan.cut_sum(last, 1)
    return Window(
        offset=first,
        pmf=_fixed(pmf),
        lower=_fixed(lower),
        upper=_fixed(upper),
        lower_error=_split_error(lower, below, cut_below, 1e2),
        upper_error=_split_error(upper, above, cut_above, 1e8),
        cut_sum=max(sum_below, sum_above),
    )


def _band(plan: _Plan, theta: float, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """``P(L = x)``, ``start ≤ x < stop``, from the law tilted by ``theta``, and a bound of the error of each."""
    k = plan.cumulants(theta)[0]
    first = min(start, plan.reach(theta, WRAP, -1) + 1)
    last = max(stop, plan.reach(theta, WRAP, 1)) - 1
    period = fft.next_fast_len(last - first + 1, real=True)
    if period > 4 * LARGEST:
        raise ParameterError(
            f"the law needs a period of {period} points, of at most {4 * LARGEST}. Take a larger `p` or coarser sizes."
        )
    phi, error = _coefficients(plan.parts, theta, period)
    used = int(np.flatnonzero(phi)[-1]) + 1
    size = (2 * float(np.abs(phi).sum()) - 1) / period
    if used * (stop - start) <= SERIES * period and 2 * used < period:
        tilted = _series(phi[:used], period, start, stop - start)
        error += 20 * used * UNIT * size
    else:
        whole = fft.irfft(np.append(phi, np.zeros(period // 2 + 1 - len(phi))), period)
        tilted = whole[np.arange(start, stop) % period]
        error += STAGE * log2(period) * UNIT * size
    scale = np.exp(k - theta * start - theta * np.arange(stop - start))
    shifts = sum(n * (4 + 2 * abs(theta) * part.high) for part, n in plan.parts if part.high < np.inf)
    rounding = (shifts + 4 * sum(n for _, n in plan.parts) + 4 * abs(k) + 4 * abs(theta) * stop + 8) * UNIT
    pmf = scale * np.maximum(tilted, 0)
    return pmf, scale * (error + 2 * exp(-WRAP)) + rounding * pmf


def _coefficients(parts: Parts, theta: float, period: int) -> tuple[np.ndarray, float]:
    """Fourier coefficients of the tilted law, and the error that they cause in every probability."""
    count = period // 2 + 1
    for part, n in parts:
        if isinstance(part, Geometric):
            count = min(count, part.significant(theta, period, n))
    exponent, size, relative = np.zeros(count, complex), np.zeros(count), np.zeros(count)
    for part, n in parts:
        phi, error = part.transform(theta, period, count)
        modulus = np.abs(phi)
        with np.errstate(divide="ignore"):
            exponent += n * np.log(np.where(modulus > 0, phi, 1e-300))
            size += n * np.log(modulus + error)
        relative += n * (error / (modulus + error) + 8 * UNIT)
    kept = exponent.real > -DEPTH
    exponent[~kept] = -np.inf
    size = np.exp(size)
    wrong = float(np.sum(size * relative)) + float(np.sum(size[~kept]))
    return np.where(kept, np.exp(exponent), 0), 2 * wrong / period + exp(-DEPTH)


@njit(cache=True)
def _series(phi: np.ndarray, period: int, start: int, count: int) -> np.ndarray:
    """``(1/N) Σ_{|k| < len(phi)} φ_k e^{2πi k x/N}`` at ``x = start, …``, ``φ_{−k}`` the conjugate of ``φ_k``."""
    values = np.empty(count)
    for i in range(count):
        angle = 2 * np.pi * ((start + i) % period) / period
        z = complex(np.cos(angle), np.sin(angle))
        total = 0j
        for k in range(len(phi) - 1, 0, -1):
            total = (total + phi[k]) * z
        values[i] = (phi[0].real + 2 * total.real) / period
    return values


def _running_sum(values: np.ndarray) -> np.ndarray:
    """Sums of the first 1, 2, … values; by blocks, so that rounding grows like the square root of their number."""
    width = max(1, int(sqrt(len(values))))
    rows = -(-len(values) // width)
    blocks = np.zeros(rows * width)
    blocks[: len(values)] = values
    inside = np.cumsum(blocks.reshape(rows, width), axis=1)
    inside[1:] += np.cumsum(inside[:-1, -1])[:, None]
    return inside.ravel()[: len(values)]


def _fixed(values: np.ndarray) -> np.ndarray:
    """Read-only in place: the arrays may be large."""
    values.setflags(write=False)
    return values


def _split_error(tail: np.ndarray, error: np.ndarray, cut: float, weight: float) -> tuple[float, float]:
    """``relative``, ``absolute`` with ``error ≤ relative tail + absolute``, about least in ``relative + weight absolute``.

    A maximum of many loads needs the upper tail far below one over their number; the lower tail matters to it absolutely.
    """
    rounding = 2 * sqrt(len(tail)) * UNIT
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(error > 0, error / tail, 0.0)
    splits = []
    for relative in [*(10.0**k for k in range(-13, 0)), float(ratio.max(initial=0.0))]:
        splits.append((relative + rounding, float(error[ratio > relative].max(initial=0.0)) + cut))
    return min(splits, key=lambda split: split[0] + weight * split[1])


def _check_total(total: float, error: float) -> None:
    if not abs(total - 1) <= 4 * error + 1e-12:
        raise ArithmeticError(f"the probabilities of a law sum to {total!r}, further from 1 than the error bound {error:.1e}.")
