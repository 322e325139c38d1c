"""``softplus``: ``ℓ(N) = a + b w log(1 + e^{(N−k)/w})``, the latency that the DLB paper fits.

``μ`` is strictly increasing iff ``a ≥ bk``; the gradient cost meets Assumption 3 iff ``a > bk`` (ours, proved in `Softplus`).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy import special

from lbtheory.core import ParameterError
from lbtheory.fluid.rates._functions import solve_increasing
from lbtheory.fluid.rates._quadrature import CumulativeIntegral
from lbtheory.fluid.rates.base import Array, CostShape, RateFamily, RateShape, of_inflow, of_requests

TAIL = 40.0
"""Beyond ``u = 40`` the softplus is its asymptote to ``e^{−40} ≈ 4e-18``, and integrals go on in closed form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Softplus(RateFamily):
    """``ℓ(N) = a + b w log(1 + e^u)``, ``u = (N − k)/w``, and ``μ = N/ℓ``.

    ``μ' = G/ℓ²`` with ``G = ℓ − N ℓ' = (a − bk) + b[w log(1 + e^{−u}) + N σ(−u)]``, which decreases to the margin ``a − bk``:

    - ``a > bk``: ``μ`` increases to ``μ̄ = 1/b`` and ``1/μ'`` grows as ``b² N²/(a − bk)``;
    - ``a = bk``: ``μ`` still increases, but ``1/μ'`` grows as ``b N e^u``, too fast for Assumption 3;
    - ``a < bk``: ``μ`` peaks and falls to ``1/b`` from above; ``μ̄`` is the peak, ``inverse`` the rising branch, and ``1/μ'`` is
      negative beyond the peak.

    ``G' = −Nℓ'' < 0`` and ``G(∞) = a − bk`` prove all three. ``a − bk`` is computed from the parameters as decimals, so that
    0.3 − 0.1 × 3 is 0. Potentials (``∫_0^N s G/ℓ² ds``, RIF times ``k``, and ``∫_0^N G/ℓ ds``, latency) are by quadrature with
    relative error 1e-13, their tail in closed form.

    Parameters
    ----------
    a : float
        Latency of an idle cell up to ``b w log(1 + e^{−k/w})``, seconds.
    b : float
        Slope of the latency at saturation, seconds a request.
    k : float
        Knee, requests.
    w : float
        Width of the knee, requests.

    Raises
    ------
    ParameterError
        Unless all are positive and finite.
    """

    family: ClassVar[str] = "softplus"

    a: float
    b: float
    k: float
    w: float

    def __post_init__(self) -> None:
        self._check_positive()
        if not 0 < 1 / self.b < np.inf:
            raise ParameterError(f"`b` of `softplus` must give a finite capacity 1/b; got {self.b!r}.")

    @property
    def margin(self) -> float:
        """``a − bk``, seconds."""
        return _margin(self)

    @property
    def capacity_limit(self) -> float:
        return 1 / self.b if self.margin >= 0 else _peak(self)[1]

    @property
    def peak(self) -> float:
        """Where ``μ`` is greatest, requests; infinite for ``a ≥ bk``."""
        return np.inf if self.margin >= 0 else _peak(self)[0]

    def _fall(self, n: Array) -> Array:
        """``G(N)``: below the knee as ``ℓ − Nℓ'``, above it from the margin."""
        u = (n - self.k) / self.w
        below = self.a + self.b * (self.w * _softplus(u) - n * special.expit(u))
        above = self.margin + self.b * (self.w * _softplus(-u) + n * special.expit(-u))
        return np.where(u < 0, below, above)

    @of_requests
    def rate(self, n: Array) -> Array:
        return np.minimum(n / self.latency(n), self.capacity_limit)

    @of_inflow
    def inverse(self, z: Array) -> Array:
        limit = 1 / self.b
        spare = (limit - z) / limit

        def excess(n: Array) -> tuple[Array, Array]:
            # N − zℓ(N); above the knee as N(1 − bz) − z(a − bk + b w log(1 + e^{−u})), without cancellation
            u = (n - self.k) / self.w
            above = n * spare - z * (self.margin + self.b * self.w * _softplus(-u))
            below = n - z * (self.a + self.b * self.w * _softplus(u))
            return np.where(u > 0, above, below), np.where(
                u > 0, spare + self.b * z * special.expit(-u), 1 - self.b * z * special.expit(u)
            )

        low = z * self.latency(np.zeros(()))
        if self.margin < 0:
            return solve_increasing(excess, np.minimum(low, self.peak), np.full_like(z, self.peak), np.minimum(low, self.peak))
        # ℓ(N) ≤ a + bN + b w log 2, so N = zℓ(N) is at most z(a + b w log 2)/(1 − bz).
        high = 2 * z * (self.a + self.b * self.w) / spare
        attained = spare > 0
        root = solve_increasing(
            excess, np.where(attained, low, 0.0), np.where(attained, high, 0.0), np.where(attained, low, 0.0)
        )
        return np.where(attained, root, np.inf)

    @of_requests
    def slope(self, n: Array) -> Array:
        latency = self.latency(n)
        return (self._fall(n) / latency) / latency

    @of_requests
    def latency(self, n: Array) -> Array:
        return self.a + self.b * (np.maximum(n - self.k, 0) + self.w * np.log1p(np.exp(-np.abs(n - self.k) / self.w)))

    @of_requests
    def latency_slope(self, n: Array) -> Array:
        return self.b * special.expit((n - self.k) / self.w)

    @of_requests
    def marginal(self, n: Array) -> Array:
        latency = self.latency(n)
        return latency * (latency / self._fall(n))

    @of_requests
    def marginal_slope(self, n: Array) -> Array:
        # f' = f (−G'/G + 2ℓ'/ℓ), −G' = Nℓ''; above the knee both G and ℓ'' are scaled by e^u, so that neither underflows.
        u = (n - self.k) / self.w
        small = np.exp(-np.abs(u))
        bend = n * self.b / self.w / (1 + small) ** 2  # −G' e^{|u|}
        scaled = self.b * (self.w * _log1p_share(small) + n / (1 + small))
        scaled = scaled + (self.margin / small if self.margin != 0 else 0.0)
        decay = np.where(u > 0, bend / scaled, bend * small / self._fall(n))
        return self.marginal(n) * (decay + 2 * self.latency_slope(n) / self.latency(n))

    @of_inflow
    def integral_of_inverse(self, z: Array) -> Array:
        return self._potential(z, by_requests=True)

    @of_inflow
    def integral_of_latency(self, z: Array) -> Array:
        return self._potential(z, by_requests=False)

    def _potential(self, z: Array, *, by_requests: bool) -> Array:
        n = self.inverse(z)
        start = self.k + TAIL * self.w
        main = _integral(self, by_requests)(np.minimum(n, start))
        shift = self.margin / self.b  # beyond the start ℓ = b(N + shift) and G = a − bk
        if shift == 0:
            return main
        n = np.maximum(n, start)
        tail = shift * np.log1p((n - start) / (start + shift))
        if by_requests:
            tail = (tail - shift * (n - start) / (n + shift) * (shift / (start + shift))) / self.b
        return main + np.where(np.isinf(n), np.inf, tail)

    def rate_shape(self) -> RateShape:
        if self.margin >= 0:
            why = f"a {'>' if self.margin > 0 else '='} bk, so μ' = G/ℓ² > 0 for every N, and μ < 1/b."
            return RateShape(holds=True, why=why)
        why = f"a < bk: μ peaks at N = {self.peak:.6g} with {self.capacity_limit:.6g} and falls to 1/b: overload collapse."
        return RateShape(holds=False, why=why + f" Remedy: k ≤ a/b = {self.a / self.b:.6g}.", witness=(self.peak, self.peak))

    def _latency_shape(self) -> CostShape:
        # log ℓ is concave where e^u − log(1 + e^u) ≥ a/(bw), an increasing function of u.
        level = self.a / (self.b * self.w)

        def excess(power: Array) -> tuple[Array, Array]:
            return power - np.log1p(power) - level, power / (1 + power)

        start = np.asarray(level + np.sqrt(2 * level) + 1)  # x − log(1 + x) ≥ level there
        u = float(np.log(solve_increasing(excess, np.zeros(()), 2 * start, start)))
        return CostShape(
            increasing=True,
            unbounded=True,
            growth=0.0,
            log_concave_from=max(0.0, self.k + self.w * u),
            why="ℓ' = bσ(u) > 0 and ℓ is asymptotic to bN, for all a, b, k, w.",
        )

    def _marginal_shape(self) -> CostShape:
        if self.margin > 0:
            why = "a > bk: G decreases to a − bk > 0 and ℓ increases, so 1/μ' = ℓ²/G increases, as b²N²/(a − bk) in the end."
            return CostShape(increasing=True, unbounded=True, growth=0.0, log_concave_from=None, why=why)
        if self.margin == 0:
            why = (
                "a = bk: 1/μ' grows as bN e^{(N−k)/w}: f(N+Δ)/f(N) → e^{Δ/w}, not 1. Remedy: a > bk, for example k = a/(1.05b)."
            )
            at = (self.k + 200 * self.w, 2 * self.w)
            return CostShape(increasing=True, unbounded=True, growth=1 / self.w, log_concave_from=None, why=why, witness=at)
        why = f"a < bk: 1/μ' is infinite at the peak N = {self.peak:.6g} of μ and negative beyond. Remedy: a > bk."
        return CostShape(
            increasing=False,
            unbounded=False,
            growth=np.nan,
            log_concave_from=None,
            why=why,
            witness=(self.peak / 2, self.peak),
        )


def _softplus(u: Array) -> Array:
    """``log(1 + e^u)``."""
    return np.maximum(u, 0) + np.log1p(np.exp(-np.abs(u)))


def _log1p_share(x: Array) -> Array:
    """``log(1 + x)/x``, 1 at 0."""
    return np.where(x > 0, np.log1p(x) / np.where(x > 0, x, 1.0), 1.0)


@lru_cache(maxsize=1024)
def _margin(of: Softplus) -> float:
    a, b, k = (Fraction(repr(value)) for value in (of.a, of.b, of.k))
    return float(a - b * k)


@lru_cache(maxsize=1024)
def _peak(of: Softplus) -> tuple[float, float]:
    """Where ``G = 0`` and ``μ`` there, for ``a < bk``."""

    def rise(n: Array) -> tuple[Any, Any]:
        u = (n - of.k) / of.w
        return -of._fall(n), n * of.b / of.w * special.expit(u) * special.expit(-u)

    high = np.asarray(of.k + of.w)
    while of._fall(high) > 0:
        high = 2 * high
    n = solve_increasing(rise, np.zeros(()), high, high)
    return float(n), float(n / of.latency(n))


@lru_cache(maxsize=256)
def _integral(of: Softplus, by_requests: bool) -> CumulativeIntegral:
    """``∫_0^N s G/ℓ² ds`` or ``∫_0^N G/ℓ ds`` up to where the tail begins."""
    end = of.k + TAIL * of.w if of.margin >= 0 else min(of.peak, of.k + TAIL * of.w)
    steps = of.k + of.w * np.arange(-TAIL, TAIL, 4.0)

    def integrand(n: Array) -> Array:
        density = of._fall(n) / of.latency(n)
        return n * density / of.latency(n) if by_requests else density

    return CumulativeIntegral(integrand, np.r_[0.0, steps[(steps > 0) & (steps < end)], end])
