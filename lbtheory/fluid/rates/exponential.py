"""``exponential``: ``μ(N) = μ̄(1 − e^{−N/h})`` (ours): Assumption 3 fails for the gradient cost."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from lbtheory.fluid.rates._functions import dilogarithm, entropic, log_spare
from lbtheory.fluid.rates.base import Array, CostShape, RateFamily, RateShape, check_cost, of_inflow, of_requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential(RateFamily):
    """``μ(N) = μ̄(1 − e^{−N/h})``, so ``μ⁻¹(z) = −h log(1 − ρ)``, ``ρ = z/μ̄``, and ``1/μ' = (h/μ̄) e^{N/h}``.

    Potentials: ``h[(μ̄ − z) log(1 − ρ) + z]`` (RIF times ``k``) and ``h Li₂(ρ)`` (latency), both finite at ``μ̄``.

    Parameters
    ----------
    capacity : float
        ``μ̄``, requests per second.
    scale : float
        ``h``, requests in flight.

    Raises
    ------
    ParameterError
        Unless both are positive and finite.
    """

    family: ClassVar[str] = "exponential"

    capacity: float
    scale: float

    @property
    def capacity_limit(self) -> float:
        return self.capacity

    @of_requests
    def rate(self, n: Array) -> Array:
        return -self.capacity * np.expm1(-n / self.scale)

    @of_inflow
    def inverse(self, z: Array) -> Array:
        return -self.scale * log_spare(z, self.capacity)

    @of_requests
    def slope(self, n: Array) -> Array:
        return self.capacity / self.scale * np.exp(-n / self.scale)

    @of_requests
    def latency(self, n: Array) -> Array:
        return self.scale / self.capacity / special.exprel(-n / self.scale)

    @of_requests
    def latency_slope(self, n: Array) -> Array:
        # With x = N/h: [1 − (1 + x)e^{−x}]/(1 − e^{−x})², whose numerator is the incomplete gamma function P(2, x).
        x = n / self.scale
        series = 0.5 + x / 6 - x**3 / 180
        return np.where(x < 1e-3, series, special.gammainc(2, x) / np.expm1(-x) ** 2) / self.capacity

    @of_requests
    def marginal(self, n: Array) -> Array:
        return self.scale / self.capacity * np.exp(n / self.scale)

    @of_requests
    def marginal_slope(self, n: Array) -> Array:
        return np.exp(n / self.scale) / self.capacity

    @of_inflow
    def integral_of_inverse(self, z: Array) -> Array:
        return self.scale * self.capacity * entropic(z, self.capacity)

    @of_inflow
    def integral_of_latency(self, z: Array) -> Array:
        return self.scale * dilogarithm(z, self.capacity)

    def conic(self, cost: str, z: Any) -> Any:
        import cvxpy as cp

        share = z / self.capacity
        if check_cost(cost) == "rif":
            return self.scale * self.capacity * (share - cp.entr(1 - share))
        return -self.scale * cp.log(1 - share) if cost == "gradient" else None

    def rate_shape(self) -> RateShape:
        return RateShape(holds=True, why="μ' = (μ̄/h)e^{−N/h} > 0 and μ < μ̄.")

    def _latency_shape(self) -> CostShape:
        why = "ℓ = (h/μ̄) x/(1 − e^{−x}), x = N/h, increases and is asymptotic to N/μ̄."
        return CostShape(increasing=True, unbounded=True, growth=0.0, log_concave_from=0.0, why=why)

    def _marginal_shape(self) -> CostShape:
        return CostShape(
            increasing=True,
            unbounded=True,
            growth=1 / self.scale,
            log_concave_from=0.0,
            why="1/μ' grows as e^{N/h}: f(N+Δ)/f(N) = e^{Δ/h} for every N, not 1.",
            witness=(10 * self.scale, 2 * self.scale),
        )
