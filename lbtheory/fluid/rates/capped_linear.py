"""``capped_linear``: ``μ(N) = min(N, k)/a``, which breaks Assumptions 1 and 3: here to show what flat latency does (ours)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lbtheory.core import ParameterError
from lbtheory.fluid.rates.base import Array, CostShape, RateFamily, RateShape, check_cost, of_inflow, of_requests


@dataclass(frozen=True, slots=True, kw_only=True)
class CappedLinear(RateFamily):
    """``μ(N) = min(N, k)/a``, so ``μ⁻¹(z) = a z`` up to ``μ̄ = k/a``, which is attained; ``ℓ = max(a, N/μ̄)``.

    Slopes at ``N = k`` are those from below. ``1/μ'`` is ``a`` up to ``k`` and infinite beyond.
    Potentials: ``a z²/2`` (RIF times ``k``) and ``a z`` (latency, gradient).

    Parameters
    ----------
    service : float
        ``a``, seconds a request.
    slots : float
        ``k``.

    Raises
    ------
    ParameterError
        Unless both are positive and finite.
    """

    family: ClassVar[str] = "capped_linear"

    service: float
    slots: float

    @property
    def capacity_limit(self) -> float:
        return self.slots / self.service

    @of_requests
    def rate(self, n: Array) -> Array:
        return np.minimum(n / self.service, self.capacity_limit)

    @of_inflow
    def inverse(self, z: Array) -> Array:
        return np.minimum(self.service * z, self.slots)

    @of_requests
    def slope(self, n: Array) -> Array:
        return np.where(n <= self.slots, 1 / self.service, 0.0)

    @of_requests
    def latency(self, n: Array) -> Array:
        return np.maximum(self.service, n / self.capacity_limit)

    @of_requests
    def latency_slope(self, n: Array) -> Array:
        return np.where(n <= self.slots, 0.0, 1 / self.capacity_limit)

    @of_requests
    def marginal(self, n: Array) -> Array:
        return np.where(n <= self.slots, self.service, np.inf)

    @of_requests
    def marginal_slope(self, n: Array) -> Array:
        """``0`` up to ``k``; raises `ParameterError` beyond, where ``1/μ'`` is infinite."""
        if np.any(n > self.slots):
            raise ParameterError(
                f"`n` of `capped_linear.marginal_slope` must be at most `slots` = {self.slots:g}, beyond which 1/μ' is "
                f"infinite; got {np.max(n):g}. Use smooth_min for a rate that is never flat."
            )
        return 0 * n

    @of_inflow
    def integral_of_inverse(self, z: Array) -> Array:
        return self.service * z * z / 2

    @of_inflow
    def integral_of_latency(self, z: Array) -> Array:
        return self.service * z

    def conic(self, cost: str, z: Any) -> Any:
        import cvxpy as cp

        if check_cost(cost) == "rif":
            return self.service * self.capacity_limit**2 / 2 * cp.square(z / self.capacity_limit)
        return self.service * z

    def rate_shape(self) -> RateShape:
        why = "μ is flat from N = k on, and attains its supremum."
        return RateShape(holds=False, why=why, witness=(self.slots, self.slots))

    def _latency_shape(self) -> CostShape:
        return self._flat("ℓ = a up to N = k: two such cells at light load have a continuum of equilibria.", 0.0)

    def _marginal_shape(self) -> CostShape:
        return self._flat("1/μ' = a up to N = k and is infinite beyond.", np.nan)

    def _flat(self, why: str, growth: float) -> CostShape:
        witness = (self.slots / 4, self.slots / 4)
        return CostShape(increasing=False, unbounded=True, growth=growth, log_concave_from=None, why=why, witness=witness)
