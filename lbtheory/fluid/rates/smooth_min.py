"""``smooth_min``: a smooth ``min(N, k)/a``, given by ``N(z) = a z + h a z/(k − a z)`` (ours; all assumptions hold)."""

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from lbtheory.fluid.rates._functions import log_spare, quadratic_log
from lbtheory.fluid.rates.base import Array, CostShape, RateFamily, RateShape, check_cost, of_inflow, of_requests


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoothMin(RateFamily):
    """``N(z) = a z + h a z/(k − a z)``: ``k`` slots of service time ``a``, softened by ``h``; ``μ̄ = k/a``.

    With the free slots ``q = k − a μ(N)``, the positive root of ``q² + (N + h − k) q = k h``: ``ℓ = a(1 + h/q)``,
    ``1/μ' = a(1 + hk/q²)``, ``ℓ' = a h/(q² + hk)``, ``(1/μ')' = 2 a h k/(q (q² + hk))``.
    Potentials, ``u = a z``: ``(1/a)[u²/2 − h(u + k log(1 − u/k))]`` (RIF times ``k``) and ``u − h log(1 − u/k)`` (latency).

    Parameters
    ----------
    service : float
        ``a``, seconds a request.
    slots : float
        ``k``.
    half : float
        ``h``, requests.

    Raises
    ------
    ParameterError
        Unless all are positive and finite.
    """

    family: ClassVar[str] = "smooth_min"

    service: float
    slots: float
    half: float

    @property
    def capacity_limit(self) -> float:
        return self.slots / self.service

    def _free(self, n: Array) -> Array:
        """``q``, without cancellation."""
        shift = n + self.half - self.slots
        root = np.hypot(shift, 2 * sqrt(self.slots) * sqrt(self.half))
        return np.where(shift > 0, 2 * self.slots * (self.half / (shift + root)), (root - shift) / 2)

    @of_requests
    def rate(self, n: Array) -> Array:
        free = self._free(n)
        return np.minimum(n * (free / (free + self.half)) / self.service, self.capacity_limit)

    @of_inflow
    def inverse(self, z: Array) -> Array:
        return self.service * z + self.half * (z / (self.capacity_limit - z))

    @of_requests
    def slope(self, n: Array) -> Array:
        return 1 / self.marginal(n)

    @of_requests
    def latency(self, n: Array) -> Array:
        return self.service * (1 + self.half / self._free(n))

    @of_requests
    def latency_slope(self, n: Array) -> Array:
        return self.service * (self.half / (self._free(n) ** 2 + self.half * self.slots))

    @of_requests
    def marginal(self, n: Array) -> Array:
        free = self._free(n)
        return self.service * (1 + (self.half / free) * (self.slots / free))

    @of_requests
    def marginal_slope(self, n: Array) -> Array:
        free, product = self._free(n), self.half * self.slots
        return 2 * self.service * (product / (free**2 + product)) / free

    @of_inflow
    def integral_of_inverse(self, z: Array) -> Array:
        limit = self.capacity_limit
        return self.service * z * z / 2 + self.half * limit * quadratic_log(z, limit)

    @of_inflow
    def integral_of_latency(self, z: Array) -> Array:
        return self.service * z - self.half * log_spare(z, self.capacity_limit)

    def conic(self, cost: str, z: Any) -> Any:
        import cvxpy as cp

        share = z / self.capacity_limit
        if check_cost(cost) == "gradient":
            return self.service * z + self.half * (cp.inv_pos(1 - share) - 1)
        log = -cp.log(1 - share)
        if cost == "latency":
            return self.service * z + self.half * log
        return self.capacity_limit * (self.slots / 2 * cp.square(share) + self.half * (log - share))

    def rate_shape(self) -> RateShape:
        return RateShape(holds=True, why="dN/dz = a(1 + hk/q²) is positive, and infinite at z = k/a only.")

    def _requests_at(self, free: float) -> float:
        """``N`` where ``q = free``; 0 where ``q`` starts below it."""
        return (self.slots - free) * (1 + self.half / free) if free < self.slots else 0.0

    def _latency_shape(self) -> CostShape:
        h, k = self.half, self.slots
        # log ℓ is concave where 2q³ + hq² ≤ h²k, which holds for q up to its one positive root.
        roots = np.roots([2 * (k / h), 1.0, 0.0, -(h / k)])  # in q/k
        free = k * float(max(root.real for root in roots if abs(root.imag) <= 1e-9 * abs(root)))
        return CostShape(
            increasing=True,
            unbounded=True,
            growth=0.0,
            log_concave_from=self._requests_at(free),
            why="ℓ = a(1 + h/q) and q falls to 0 as kh/N.",
        )

    def _marginal_shape(self) -> CostShape:
        free = sqrt(self.half / 3) * sqrt(self.slots)  # 3q² ≤ hk
        why = "1/μ' = a(1 + hk/q²) and q falls to 0 as kh/N."
        return CostShape(increasing=True, unbounded=True, growth=0.0, log_concave_from=self._requests_at(free), why=why)
