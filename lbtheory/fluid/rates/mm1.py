"""``mm1``: ``μ(N) = μ̄ N/(N + h)``, the M/M/1 queue at ``h = 1`` (ours; all assumptions hold)."""

from dataclasses import dataclass
from typing import Any, ClassVar

from lbtheory.fluid.rates._functions import log_spare, quadratic_log
from lbtheory.fluid.rates.base import Array, CostShape, RateFamily, RateShape, check_cost, of_inflow, of_requests


@dataclass(frozen=True, slots=True, kw_only=True)
class MM1(RateFamily):
    """``μ(N) = μ̄ N/(N + h)``, so ``μ⁻¹(z) = h z/(μ̄ − z)``, ``ℓ = (N + h)/μ̄``, ``1/μ' = (N + h)²/(μ̄ h)``.

    Potentials, ``ρ = z/μ̄``: ``−h(z + μ̄ log(1 − ρ))`` (RIF times ``k``) and ``−h log(1 − ρ)`` (latency).

    Parameters
    ----------
    capacity : float
        ``μ̄``, requests per second.
    half : float
        ``h``, requests in flight at which the rate is half the capacity.

    Raises
    ------
    ParameterError
        Unless both are positive and finite.
    """

    family: ClassVar[str] = "mm1"

    capacity: float
    half: float

    @property
    def capacity_limit(self) -> float:
        return self.capacity

    @of_requests
    def rate(self, n: Array) -> Array:
        return self.capacity * (n / (n + self.half))

    @of_inflow
    def inverse(self, z: Array) -> Array:
        return self.half * (z / (self.capacity - z))

    @of_requests
    def slope(self, n: Array) -> Array:
        return (self.half / (n + self.half)) * (self.capacity / (n + self.half))

    @of_requests
    def latency(self, n: Array) -> Array:
        return (n + self.half) / self.capacity

    @of_requests
    def latency_slope(self, n: Array) -> Array:
        return 1 / self.capacity + 0 * n

    @of_requests
    def marginal(self, n: Array) -> Array:
        return ((n + self.half) / self.capacity) * ((n + self.half) / self.half)

    @of_requests
    def marginal_slope(self, n: Array) -> Array:
        return 2 * ((n + self.half) / self.half) / self.capacity

    @of_inflow
    def integral_of_inverse(self, z: Array) -> Array:
        return self.half * self.capacity * quadratic_log(z, self.capacity)

    @of_inflow
    def integral_of_latency(self, z: Array) -> Array:
        return -self.half * log_spare(z, self.capacity)

    def conic(self, cost: str, z: Any) -> Any:
        import cvxpy as cp

        share = z / self.capacity
        if check_cost(cost) == "gradient":
            return self.half * (cp.inv_pos(1 - share) - 1)
        log = -cp.log(1 - share)
        return self.half * log if cost == "latency" else self.half * self.capacity * (log - share)

    def rate_shape(self) -> RateShape:
        return RateShape(holds=True, why="μ' = μ̄h/(N+h)² > 0 and μ < μ̄.")

    def _latency_shape(self) -> CostShape:
        return CostShape(increasing=True, unbounded=True, growth=0.0, log_concave_from=0.0, why="ℓ = (N+h)/μ̄ is affine.")

    def _marginal_shape(self) -> CostShape:
        why = "1/μ' = (N+h)²/(μ̄h) grows as a square."
        return CostShape(increasing=True, unbounded=True, growth=0.0, log_concave_from=0.0, why=why)
