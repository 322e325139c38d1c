"""``method="fast"``: the structured interior point, compiled for five families, prices from Python for the others (ours)."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from lbtheory.fluid.costs import COSTS, CellCost, arc_constants
from lbtheory.fluid.equilibrium import _kernel as kernel
from lbtheory.fluid.equilibrium import _prices
from lbtheory.fluid.equilibrium.result import EquilibriumSolverError
from lbtheory.fluid.network import Network
from lbtheory.fluid.rates import MM1, Exponential, Hill, SmoothMin, Softplus

Array = np.ndarray

CODES: dict[Any, int] = {
    MM1: _prices.MM1,
    SmoothMin: _prices.SMOOTH_MIN,
    Exponential: _prices.EXPONENTIAL,
    Hill: _prices.HILL,
    Softplus: _prices.SOFTPLUS,
}
FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in CODES} | {Softplus: ("a", "b", "k", "w", "margin")}
HOLDS = (0.001, 1.0, 0.03)
"""How firmly the gap is held while residuals last, from one attempt to the next."""
LIMIT = 100
"""Iterations of an attempt."""


class InteriorPoint:
    """Iterates of one network. A smaller tolerance goes on from where the larger one was met."""

    def __init__(self, network: Network, cost: str, costs: Sequence[CellCost]) -> None:
        live = np.nonzero(network.arrivals > 0)[0]
        cells = np.nonzero(network.allowed[live].any(axis=0))[0]
        self.part = np.ix_(live, cells)
        self.shape = network.allowed.shape
        self.costs = [costs[int(j)] for j in cells]
        self.kind = COSTS.index(cost)
        self.table = _table(self.costs) if all(_is_compiled(one) for one in self.costs) else None
        g = np.ascontiguousarray(arc_constants(cost, network.latency)[self.part])
        capacity = np.array([one.rate.capacity_limit for one in self.costs])
        self.problem = network.arrivals[live], g, np.ascontiguousarray(network.allowed[self.part]), capacity
        self.best, self.gap, self.attempt = np.zeros(g.shape), np.inf, 0
        self.state: tuple[Array, ...] | None = None

    def flows(self, tolerance: float) -> tuple[Array, int]:
        """Flows ``y`` (s, n) whose Wardrop gap is at most the tolerance, or the best found, and the number of iterations.

        Raises
        ------
        EquilibriumSolverError
            No flows below all capacities.
        """
        flows = np.zeros(self.shape)
        if not flows[self.part].size:
            return flows, 0
        iterations = 0
        while self.gap > tolerance and self.attempt < len(HOLDS):
            self.state = self._start() if self.state is None else self.state
            found = np.zeros(self.best.shape)
            steps, reached = self._iterate(self.state, found, tolerance, HOLDS[self.attempt])
            iterations += steps
            if reached < self.gap:
                self.best, self.gap = found, reached
            if self.gap > tolerance:
                self.attempt, self.state = self.attempt + 1, None
        if not np.isfinite(self.gap):
            raise EquilibriumSolverError(
                "The interior point found no flows below all capacities: some set of cells is loaded to the precision of "
                "doubles. Lower the arrival rates, or use `--method cvxpy`."
            )
        flows[self.part] = self.best
        return flows, iterations

    def _start(self) -> tuple[Array, ...]:
        """``y, s, u, z, q`` and a scratch array."""
        arrivals, g, allowed, capacity = self.problem
        m, n = g.shape
        y, s, u, z = np.zeros((m, n)), np.empty((m, n)), np.empty(m), np.empty(n)
        kernel.first_flows(arrivals, allowed, capacity, y, z)
        q = self._prices(z)[0]
        kernel.first_prices(g, allowed, q, u, s)
        return y, s, u, z, q, np.empty((6, m, n))

    def _iterate(self, state: Any, best: Array, tolerance: float, hold: float) -> tuple[int, float]:
        """`kernel.iterate`, or the same with prices from Python."""
        if self.table:
            return kernel.iterate(self.problem, *self.table, self.kind, state, best, tolerance, LIMIT, hold)
        (arrivals, g, allowed, capacity), (y, s, u, z, q, scratch) = self.problem, state
        inflow, least, alpha, stale = np.empty(z.size), np.inf, 1.0, 0
        for iteration in range(LIMIT):
            if kernel.normalised_inflow(arrivals, allowed, y, inflow) and (inflow < capacity).all():
                least, stale = kernel.keep_best(arrivals, g, allowed, y, self._slopes(inflow), best, least, stale)
                if kernel.settled(least, stale, tolerance):
                    return iteration, least
            f, h = self._prices(z)
            alpha = kernel.advance(arrivals, g, allowed, capacity, f, h, y, s, u, z, q, alpha, hold, scratch)
            if not alpha > 0:
                return iteration, least
        return LIMIT, least

    def _prices(self, z: Array) -> tuple[Array, Array]:
        """``p'`` and ``p''`` of every cell."""
        if self.table:
            slopes, curves = np.empty(z.size), np.empty(z.size)
            codes, parameters, replicas = self.table
            _prices.prices(codes, self.kind, parameters, replicas, z, slopes, curves)
            return slopes, curves
        inside = zip(self.costs, np.maximum(z, 1e-300), strict=True)
        return self._slopes(z), np.array([float(one.potential_curvature(value)) for one, value in inside])

    def _slopes(self, z: Array) -> Array:
        """``p'`` of every cell, from Python."""
        inside = zip(self.costs, np.maximum(z, 1e-300), strict=True)
        return np.array([float(one.potential_slope(value)) for one, value in inside])


def _is_compiled(one: CellCost) -> bool:
    """Whether the kernel knows its prices: not those by a believed model, nor a softplus that falls."""
    falls = isinstance(one.rate, Softplus) and one.rate.margin < 0
    return type(one) is CellCost and type(one.rate) in CODES and not falls


def _table(costs: list[CellCost]) -> tuple[Array, Array, Array]:
    """Codes and parameters for the compiled prices."""
    codes = np.array([CODES[type(one.rate)] for one in costs], dtype=np.int64)
    parameters = np.zeros((len(costs), 5))
    for j, one in enumerate(costs):
        names = FIELDS[type(one.rate)]
        for place, name in enumerate(names):
            parameters[j, place] = getattr(one.rate, name)
    return codes, parameters, np.array([float(one.replicas) for one in costs])
