"""Test-only rate families at the limits of the theory, written from their formulas with no regard for speed."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from lbtheory.fluid.rates.base import Array, CostShape, RateFamily, RateShape, of_inflow, of_requests

REACH = 10.0
"""Inflows that the limit cells are asked for stay far below it."""


@dataclass(frozen=True, kw_only=True)
class PowerLatency(RateFamily):
    """``ℓ = z^d`` of the inflow: ``N = z^{d+1}``, ``μ = N^{1/(d+1)}``, ``1/μ' = (d + 1) z^d``; times ``factor``.

    Not bounded, and for ``d = 0`` its cost is flat, so that Assumptions 1 and 3 fail: a limit cell.
    """

    family: ClassVar[str] = "power-latency"

    degree: float
    factor: float = 1.0

    def __post_init__(self) -> None:
        pass

    @property
    def capacity_limit(self) -> float:
        return REACH

    @of_requests
    def rate(self, n: Array) -> Array:
        return (n / self.factor) ** (1 / (self.degree + 1))

    @of_inflow
    def inverse(self, z: Array) -> Array:
        return self.factor * z ** (self.degree + 1)

    @of_requests
    def slope(self, n: Array) -> Array:
        return 1 / self.marginal(n)

    @of_requests
    def latency(self, n: Array) -> Array:
        return self.factor * (n / self.factor) ** (self.degree / (self.degree + 1))

    @of_requests
    def latency_slope(self, n: Array) -> Array:
        z = (n / self.factor) ** (1 / (self.degree + 1))
        return self.factor * self.degree * z ** (self.degree - 1) / self.marginal(n)

    @of_requests
    def marginal(self, n: Array) -> Array:
        return (self.degree + 1) * self.latency(n)

    @of_requests
    def marginal_slope(self, n: Array) -> Array:
        return (self.degree + 1) * self.latency_slope(n)

    @of_inflow
    def integral_of_inverse(self, z: Array) -> Array:
        return self.factor * z ** (self.degree + 2) / (self.degree + 2)

    @of_inflow
    def integral_of_latency(self, z: Array) -> Array:
        return self.factor * z ** (self.degree + 1) / (self.degree + 1)

    def conic(self, cost: str, z: Any) -> Any:
        import cvxpy as cp

        if self.degree == 0:
            return self.factor * z
        power = cp.power(z, self.degree + 1)
        return self.factor * (power if cost == "gradient" else power / (self.degree + 1))

    def rate_shape(self) -> RateShape:
        return RateShape(holds=False, why="not bounded", witness=(1.0, 1.0))

    def _latency_shape(self) -> CostShape:
        return CostShape(increasing=self.degree > 0, unbounded=True, growth=0.0, log_concave_from=0.0, why="z^d")

    def _marginal_shape(self) -> CostShape:
        return self._latency_shape()


def pigou_price(degree: float) -> float:
    """``[1 − d (d+1)^{−(d+1)/d}]^{−1}`` (Roughgarden and Tardos, JACM 49, 2002)."""
    return 1 / (1 - degree * (degree + 1) ** (-(degree + 1) / degree))


def two_cell_split(costs: list[Any], total: float, constants: tuple[float, float]) -> float:
    """Inflow of the first of two cells in equilibrium, by bisection on the difference of costs; 0 or ``total`` at an end."""
    low, high = 0.0, total

    def difference(z: float) -> float:
        first, second = float(costs[0].potential_slope(z)), float(costs[1].potential_slope(total - z))
        return first + constants[0] - second - constants[1]

    if difference(low) >= 0:
        return low
    if difference(high) <= 0:
        return high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if difference(middle) < 0 else (low, middle)
        if math.isclose(low, high, rel_tol=1e-16):
            break
    return low
