"""``hill``: ``μ(N) = μ̄ N^p/(N^p + h^p)`` (ours): all assumptions hold for ``p ≤ 1``, for the RIF cost alone when ``p > 1``."""

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from scipy import special

from lbtheory.core import readonly
from lbtheory.fluid.rates._functions import spare_share
from lbtheory.fluid.rates.base import Array, CostShape, RateFamily, RateShape, check_cost, of_inflow, of_requests

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_PANELS, _WIDTH = 32, 2.5
LAPLACE_NODES = readonly((_WIDTH / 2 * (1 + _NODES) + _WIDTH * np.arange(_PANELS)[:, None]).ravel())
LAPLACE_WEIGHTS = readonly(np.tile(_WIDTH / 2 * _WEIGHTS, _PANELS))
"""Gauss–Legendre on 32 panels of ``[0, 80]`` for ``∫_0^∞ e^{−y} w(y)/(1 − ρ + ρ e^{−y/α}) dy`` with ``α ≥ 1/2``.

What is cut off is below ``e^{−43}`` of the whole, and the poles lie at least ``π/2`` off the axis, so that a panel errs by less
than ``2.8^{−40}`` of it: the stated relative error is 1e-14, all of it rounding.
"""
LEAST_ALPHA = 0.5
"""Below it the incomplete beta function is used, which is well-conditioned there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hill(RateFamily):
    """``μ(N) = μ̄ y/(1 + y)``, ``y = x^p``, ``x = N/h``; so ``μ⁻¹(z) = h (ρ/(1 − ρ))^{1/p}``, ``ρ = z/μ̄``.

    ``ℓ = (h/μ̄)(x + x^{1−p})`` and ``1/μ' = (h/(μ̄p))(x^{1−p} + 2x + x^{1+p})``. Potentials, with ``α = 1/p``:
    ``h μ̄ B_ρ(1 + α, 1 − α)`` (RIF times ``k``) and ``h B_ρ(α, 1 − α)`` (latency), incomplete beta integrals.

    Parameters
    ----------
    capacity : float
        ``μ̄``, requests per second.
    half : float
        ``h``, requests in flight at which the rate is half the capacity.
    power : float
        ``p``.

    Raises
    ------
    ParameterError
        Unless all are positive and finite.
    """

    family: ClassVar[str] = "hill"

    capacity: float
    half: float
    power: float

    @property
    def capacity_limit(self) -> float:
        return self.capacity

    @of_requests
    def rate(self, n: Array) -> Array:
        x = n / self.half
        return self.capacity * np.where(x > 1, 1 / (1 + x**-self.power), x**self.power / (1 + x**self.power))

    @of_inflow
    def inverse(self, z: Array) -> Array:
        return self.half * (z / (self.capacity - z)) ** (1 / self.power)

    @of_requests
    def slope(self, n: Array) -> Array:
        x, p = n / self.half, self.power
        low = x ** (p - 1) / (1 + x**p) ** 2
        spare = x**-p / (1 + x**-p)
        return self.capacity / self.half * p * np.where(x > 1, (1 - spare) * spare / x, low)

    @of_requests
    def latency(self, n: Array) -> Array:
        x = n / self.half
        return self.half / self.capacity * (x + x ** (1 - self.power))

    @of_requests
    def latency_slope(self, n: Array) -> Array:
        if self.power == 1:
            return 1 / self.capacity + 0 * n
        return (1 + (1 - self.power) * (n / self.half) ** -self.power) / self.capacity

    @of_requests
    def marginal(self, n: Array) -> Array:
        x, p = n / self.half, self.power
        return self.half / self.capacity / p * (x ** (1 - p) + 2 * x + x ** (1 + p))

    @of_requests
    def marginal_slope(self, n: Array) -> Array:
        x, p = n / self.half, self.power
        first = 0.0 if p == 1 else (1 - p) * x**-p
        return (first + 2 + (1 + p) * x**p) / self.capacity / p

    @of_requests
    def latency_curvature(self, n: Array) -> Array:
        return np.where(n == 0, self._curvature_at_0(), self.latency_slope(n) * self.marginal(n))

    @of_requests
    def marginal_curvature(self, n: Array) -> Array:
        return np.where(n == 0, self._curvature_at_0() / self.power, self.marginal_slope(n) * self.marginal(n))

    def _curvature_at_0(self) -> float:
        """``lim_{N→0} ℓ'/μ'``: the leading term is ``(1 − p) x^{1−2p} h/(μ̄²p)``."""
        p, unit = self.power, self.half / self.capacity**2 / self.power
        if p == 1:
            return unit
        return (1 - p) * unit * (0.0 if p < 0.5 else 1.0 if p == 0.5 else np.inf)

    @of_inflow
    def integral_of_inverse(self, z: Array) -> Array:
        # B_ρ(1+α, 1−α) = ρ^{1+α} (1−ρ)^{1−α} ∫ e^{−y}(1 − e^{−y/α})/(1 − ρ + ρe^{−y/α}) dy
        alpha, share, spare = 1 / self.power, z / self.capacity, spare_share(z, self.capacity)
        if alpha < LEAST_ALPHA:
            value = _incomplete_beta(1 + alpha, 1 - alpha, share, spare)
        else:
            factor = -np.expm1(-LAPLACE_NODES / alpha)
            value = share * spare * (share / spare) ** alpha * _laplace(share, spare, alpha, factor)
        return self.half * self.capacity * np.where(spare > 0, value, _whole_beta(1 + alpha, 1 - alpha))

    @of_inflow
    def integral_of_latency(self, z: Array) -> Array:
        # B_ρ(α, 1−α) = (ρ^α/α) (1−ρ)^{1−α} ∫ e^{−y}/(1 − ρ + ρe^{−y/α}) dy
        alpha, share, spare = 1 / self.power, z / self.capacity, spare_share(z, self.capacity)
        if alpha < LEAST_ALPHA:
            value = _incomplete_beta(alpha, 1 - alpha, share, spare)
        else:
            value = spare * (share / spare) ** alpha / alpha * _laplace(share, spare, alpha, np.ones_like(LAPLACE_NODES))
        return self.half * np.where(spare > 0, value, _whole_beta(alpha, 1 - alpha))

    def conic(self, cost: str, z: Any) -> Any:
        if check_cost(cost) != "gradient" or self.power > 1:
            return None
        import cvxpy as cp

        odds = cp.pos(cp.inv_pos(1 - z / self.capacity) - 1)
        return self.half * cp.power(odds, 1 / self.power)

    def rate_shape(self) -> RateShape:
        return RateShape(holds=True, why="N^p/(N^p + h^p) increases strictly from 0 to 1.")

    def _latency_shape(self) -> CostShape:
        p = self.power
        if p <= 1:
            why = "ℓ = (h/μ̄)(x + x^{1−p}), x = N/h, increases strictly and grows as N/μ̄."
            return CostShape(increasing=True, unbounded=True, growth=0.0, log_concave_from=0.0, why=why)
        # (log ℓ)'' has the sign of (p−1) + (p−1)(p+2) y − y².
        b = (p - 1) * (p + 2)
        return self._falling("ℓ", (p - 1) ** (1 / p), (b + sqrt(b * b + 4 * (p - 1))) / 2)

    def _marginal_shape(self) -> CostShape:
        p = self.power
        if p <= 1:
            why = "1/μ' = (h/(μ̄p))(x^{1−p} + 2x + x^{1+p}), x = N/h, increases strictly and grows as a power."
            return CostShape(increasing=True, unbounded=True, growth=0.0, log_concave_from=0.0, why=why)
        # (log 1/μ')'' has the sign of (p−1) + 2(p−1)(p+1) y − (p+1) y².
        return self._falling("1/μ'", ((p - 1) / (p + 1)) ** (1 / p), (p - 1) + sqrt((p - 1) ** 2 + (p - 1) / (p + 1)))

    def _falling(self, name: str, turn: float, odds: float) -> CostShape:
        """Facts for ``p > 1``: infinite at 0, falling up to ``x = turn``, log-concave from ``y = odds``."""
        least = self.half * turn
        return CostShape(
            increasing=False,
            unbounded=True,
            growth=0.0,
            log_concave_from=self.half * odds ** (1 / self.power),
            why=f"p > 1: {name} is infinite at N = 0 and falls up to N = {least:.6g}, for μ is convex near 0.",
            witness=(least / 2, least / 2),
        )


def _incomplete_beta(a: float, b: float, share: Array, spare: Array) -> Array:
    """``B_ρ(a, b)``, ``a, b > 0``, from ``1 − ρ`` in the upper half."""
    portion = np.where(share < 0.5, special.betainc(a, b, share), 1 - special.betainc(b, a, spare))
    return np.asarray(special.beta(a, b) * portion)


def _whole_beta(a: float, b: float) -> float:
    """``B(a, b)``, infinite for ``b ≤ 0``."""
    return float(special.beta(a, b)) if b > 0 else np.inf


def _laplace(share: Array, spare: Array, alpha: float, factor: Array) -> Array:
    """``∫_0^∞ e^{−y} factor(y)/(1 − ρ + ρ e^{−y/α}) dy``, positive terms only."""
    weights = LAPLACE_WEIGHTS * np.exp(-LAPLACE_NODES) * factor
    decay = np.exp(-LAPLACE_NODES / alpha)
    return np.asarray((weights / (spare[..., None] + share[..., None] * decay)).sum(axis=-1))
