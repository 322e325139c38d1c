"""``method="fast"``: the structured interior point, compiled for five families, prices from Python for the others (ours)."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from lbtheory.fluid.costs import COSTS, CellCost, arc_constants
from lbtheory.fluid.equilibrium import _kernel as kernel
from lbtheory.fluid.equilibrium.result import EquilibriumSolverError
from lbtheory.fluid.network import Network
from lbtheory.fluid.rates import MM1, Exponential, Hill, SmoothMin, Softplus

Array = np.ndarray

CODES: dict[Any, int] = {
    MM1: kernel.MM1,
    SmoothMin: kernel.SMOOTH_MIN,
    Exponential: kernel.EXPONENTIAL,
    Hill: kernel.HILL,
    Softplus: kernel.SOFTPLUS,
}
FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in CODES} | {Softplus: ("a", "b", "k", "w", "margin")}
HOLDS = (0.01, 0.1, 1.0)
"""How firmly the gap is held while residuals last, from one attempt to the next."""
LIMIT = 100
"""Iterations of an attempt."""


def fast_flows(network: Network, cost: str, every: Sequence[CellCost], tolerance: float) -> tuple[Array, int]:
    """Flows ``y`` (s, n) whose Wardrop gap is at most the tolerance, or the best found, and the number of iterations.

    ``every`` holds the cost of each cell, ``cost`` says which it is.
    """
    everywhere = network.arrivals
    live = np.nonzero(everywhere > 0)[0]
    flows = np.zeros(network.allowed.shape)
    if not live.size:
        return flows, 0
    cells = np.nonzero(network.allowed[live].any(axis=0))[0]
    part = np.ix_(live, cells)
    arrivals, allowed = everywhere[live], network.allowed[part]
    g = arc_constants(cost, network.latency)[part]
    costs = [every[int(j)] for j in cells]
    capacity = np.array([one.rate.capacity_limit for one in costs])
    best, gap, used_up = np.zeros(g.shape), np.inf, 0
    for hold in HOLDS:
        found = np.zeros(g.shape)
        iterations, reached = _attempt(arrivals, g, allowed, capacity, costs, cost, tolerance, hold, found)
        used_up += iterations
        if reached < gap:
            best, gap = found, reached
        if gap <= tolerance:
            break
    if not np.isfinite(gap):
        raise EquilibriumSolverError(
            "The interior point found no flows below all capacities: some set of cells is loaded to the precision of doubles. "
            "Lower the arrival rates, or use `--method cvxpy`."
        )
    flows[part] = best
    return flows, used_up


def _attempt(
    arrivals: Array,
    g: Array,
    allowed: Array,
    capacity: Array,
    costs: list[CellCost],
    cost: str,
    tolerance: float,
    hold: float,
    best: Array,
) -> tuple[int, float]:
    """One run of the interior point; fills ``best``."""
    y = np.zeros(g.shape)
    if all(_is_compiled(one) for one in costs):
        codes, parameters, replicas = _table(costs)
        kind = COSTS.index(cost)
        return kernel.solve_compiled(
            arrivals, g, allowed, capacity, codes, parameters, replicas, kind, tolerance, LIMIT, hold, y, best
        )
    return _solve_plain(arrivals, g, allowed, capacity, costs, tolerance, hold, y, best)


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


def _slopes(costs: list[CellCost], z: Array) -> Array:
    """``p'`` of every cell."""
    return np.array([float(one.potential_slope(max(value, 1e-300))) for one, value in zip(costs, z, strict=True)])


def _curvatures(costs: list[CellCost], z: Array) -> Array:
    """``p''`` of every cell."""
    return np.array([float(one.potential_curvature(max(value, 1e-300))) for one, value in zip(costs, z, strict=True)])


def _solve_plain(
    arrivals: Array,
    g: Array,
    allowed: Array,
    capacity: Array,
    costs: list[CellCost],
    tolerance: float,
    hold: float,
    y: Array,
    best: Array,
) -> tuple[int, float]:
    """`kernel.solve_compiled` with prices from Python."""
    m, n = g.shape
    z, u, s, inflow, scratch = np.empty(n), np.empty(m), np.empty((m, n)), np.empty(n), np.empty((6, m, n))
    kernel.first_flows(arrivals, allowed, capacity, y, z)
    q = _slopes(costs, z)
    kernel.first_prices(g, allowed, q, u, s)
    least, alpha, stale = np.inf, 1.0, 0
    for iteration in range(LIMIT):
        if kernel.normalised_inflow(arrivals, allowed, y, inflow) and (inflow < capacity).all():
            least, stale = kernel.keep_best(arrivals, g, allowed, y, _slopes(costs, inflow), best, least, stale)
            if kernel.settled(least, stale, tolerance):
                return iteration, least
        f, h = _slopes(costs, z), _curvatures(costs, z)
        alpha = kernel.advance(arrivals, g, allowed, capacity, f, h, y, s, u, z, q, alpha, hold, scratch)
        if not alpha > 0:
            return iteration, least
    return LIMIT, least
