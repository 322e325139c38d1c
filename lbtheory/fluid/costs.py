"""The three costs of a cell (DLB paper, section 2.3) as functions of its workload ``N`` and of its inflow ``z``.

==========  ================  ==========  =================================================
cost        ``f(N)``          ``g_ij``    potential ``p(z) = ∫_0^z f(μ⁻¹(s)) ds``
==========  ================  ==========  =================================================
rif         ``N/k``           0           ``(1/k) ∫_0^z μ⁻¹``
latency     ``N/μ(N)``        ``2τ_ij``   ``∫_0^z μ⁻¹(s)/s ds`` (Beckmann)
gradient    ``1/μ'(N)``       ``2τ_ij``   ``μ⁻¹(z)``, requests in flight
==========  ================  ==========  =================================================

The cost of an arc is ``c_ij = f_j(N_j) + g_ij``. ``k`` is the number of replicas; RIF is in requests a replica, the others in
seconds. The potentials are ours, from the definition of program (12).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, whole_number
from lbtheory.fluid.rates import COSTS as COSTS
from lbtheory.fluid.rates import CostShape, RateFamily
from lbtheory.fluid.rates import check_cost as check_cost
from lbtheory.fluid.rates._functions import solve_increasing
from lbtheory.fluid.rates._quadrature import CumulativeIntegral

Array = np.ndarray

LARGEST = 1e300
"""Where the search for ``f⁻¹`` ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellCost:
    """One cost of one cell, vectorised; made by `cell_cost`.

    Attributes
    ----------
    cost : str
        One of `COSTS`.
    rate : RateFamily
    replicas : int
        ``k``.
    """

    cost: str
    rate: RateFamily
    replicas: int

    @property
    def shape(self) -> CostShape:
        """What Assumption 3 and the thresholds of Theorem 1 need to know of ``f``."""
        return self.rate.cost_shape(self.cost)

    def value(self, n: Array | float) -> Array:
        """``f(N)``, ``N`` finite and ≥ 0."""
        if self.cost == "rif":
            return np.asarray(n, dtype=float) / self.replicas
        return self.rate.latency(n) if self.cost == "latency" else self.rate.marginal(n)

    def slope(self, n: Array | float) -> Array:
        """``f'(N)``."""
        if self.cost == "rif":
            return np.full(np.shape(n), 1 / self.replicas)
        return self.rate.latency_slope(n) if self.cost == "latency" else self.rate.marginal_slope(n)

    def potential(self, z: Array | float) -> Array:
        """``p(z)``, infinite above ``μ̄``."""
        if self.cost == "rif":
            return self.rate.integral_of_inverse(z) / self.replicas
        return self.rate.integral_of_latency(z) if self.cost == "latency" else self.rate.inverse(z)

    def potential_slope(self, z: Array | float) -> Array:
        """``p'(z) = f(μ⁻¹(z))``, infinite where ``μ⁻¹`` is."""
        return self._of_inflow(self.value, z)

    def potential_curvature(self, z: Array | float) -> Array:
        """``p''(z) = f'(N)/μ'(N)`` at ``N = μ⁻¹(z)``, infinite where that is."""
        if self.cost == "rif":
            return self._of_inflow(self.rate.marginal, z) / self.replicas
        return self._of_inflow(self.rate.latency_curvature if self.cost == "latency" else self.rate.marginal_curvature, z)

    def _of_inflow(self, function: Any, z: Array | float) -> Array:
        n = self.rate.inverse(z)
        return np.where(np.isfinite(n), function(np.where(np.isfinite(n), n, 0.0)), np.inf)

    def inverse(self, value: Array | float) -> Array:
        """``f⁻¹``: least ``N ≥ 0`` with ``f(N) ≥ value``, so 0 below ``f(0)``; infinite where it would exceed `LARGEST`.

        Raises
        ------
        ParameterError
            For NaN, or a cost that is not strictly increasing.
        """
        wanted = np.asarray(value, dtype=float)
        if np.isnan(wanted).any():
            raise ParameterError(f"`value` of `CellCost.inverse` must not be NaN; got {value!r}.")
        if self.cost == "rif":
            return np.maximum(wanted, 0.0) * self.replicas
        if not self.shape.increasing:
            raise ParameterError(
                f"`cost` of `CellCost.inverse` must be strictly increasing in N; got {self.cost} with {self.rate}. "
                f"{self.shape.why}"
            )
        with np.errstate(all="ignore"):
            reachable = (wanted > self.value(0.0)) & (wanted <= self.value(LARGEST)) & (wanted < np.inf)
            aim = np.where(reachable, wanted, self.value(0.0))

            def excess(n: Array) -> tuple[Array, Array]:
                return self.value(n) - aim, self.slope(n)

            start = np.full(wanted.shape, float(self.rate.inverse(self.rate.capacity_limit / 2)))
            root = solve_increasing(
                excess, np.zeros(wanted.shape), np.where(reachable, LARGEST, 0.0), np.where(reachable, start, 0.0)
            )
        return np.where(reachable, root, np.where(wanted > self.value(0.0), np.inf, 0.0))

    def conic(self, z: Any) -> Any:
        """``p(z)`` as a convex CVXPY expression of ``z`` on ``[0, μ̄]``; None where there is none (see `RateFamily.conic`)."""
        made = self.rate.conic(self.cost, z)
        return made / self.replicas if made is not None and self.cost == "rif" else made


def cell_cost(cost: str, rate: RateFamily, replicas: int = 1) -> CellCost:
    """A cost of a cell.

    Raises
    ------
    UnknownNameError
        Unless ``cost`` is one of `COSTS`.
    ParameterError
        Unless ``replicas`` is a whole number ≥ 1.
    """
    return CellCost(cost=check_cost(cost), rate=rate, replicas=whole_number("replicas", "cell_cost", replicas, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class BelievedCost(CellCost):
    """A latency or gradient cost that roots compute from a model ``μ̂`` of the cell, stale or noisy, not from its rate ``μ``.

    ``f̂(N)`` is the cost of ``μ̂`` at the true workload, ``N = μ⁻¹(z)`` that of the true rate, ``p(z) = ∫_0^z f̂(μ⁻¹(s)) ds``.

    Attributes
    ----------
    believed : RateFamily
        ``μ̂``.
    """

    believed: RateFamily

    @property
    def shape(self) -> CostShape:
        return self.believed.cost_shape(self.cost)

    def value(self, n: Array | float) -> Array:
        return self.believed.latency(n) if self.cost == "latency" else self.believed.marginal(n)

    def slope(self, n: Array | float) -> Array:
        return self.believed.latency_slope(n) if self.cost == "latency" else self.believed.marginal_slope(n)

    def potential(self, z: Array | float) -> Array:
        """``∫_0^N f̂(s) μ'(s) ds``, ``N = μ⁻¹(z)``, by quadrature; infinite where ``N`` is."""
        ends = np.atleast_1d(self.rate.inverse(z))
        values = [self._integral(float(n)) if np.isfinite(n) else np.inf for n in ends]
        return np.reshape(values, np.shape(z))

    def _integral(self, n: float) -> float:
        if n == 0:
            return 0.0
        return float(CumulativeIntegral(lambda s: self.value(s) * self.rate.slope(s), (0.0, n)).sums[-1])

    def potential_curvature(self, z: Array | float) -> Array:
        return self._of_inflow(lambda n: self.slope(n) * self.rate.marginal(n), z)

    def conic(self, z: Any) -> Any:
        return None


def cell_values(costs: Sequence[CellCost], workloads: Array) -> Array:
    """``f_j(N_j)`` of every cell, float array (n,); infinite where the workload is."""
    return np.array([float(one.value(n)) if np.isfinite(n) else np.inf for one, n in zip(costs, workloads, strict=True)])


def arc_constants(cost: str, latency: Array) -> Array:
    """``g_ij``: 0 for RIF, ``2τ_ij`` for the others, seconds; of the shape of ``latency``, with 0 where that is infinite.

    An infinite latency means that there is no arc, so that nothing is ever sent there.
    """
    times = np.asarray(latency, dtype=float)
    if check_cost(cost) == "rif":
        return np.zeros(times.shape)
    return np.where(np.isfinite(times), 2 * times, 0.0)
