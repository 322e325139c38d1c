"""``method="fast"``: the structured interior point, compiled for four families, prices from Python for the others (ours)."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from lbtheory.fluid.costs import COSTS, CellCost, arc_constants
from lbtheory.fluid.equilibrium import _kernel as kernel
from lbtheory.fluid.network import Network
from lbtheory.fluid.rates import MM1, Exponential, Hill, SmoothMin

Array = np.ndarray
Prices = Callable[[Array], tuple[Array, Array]]

CODES: dict[Any, int] = {MM1: kernel.MM1, SmoothMin: kernel.SMOOTH_MIN, Exponential: kernel.EXPONENTIAL, Hill: kernel.HILL}
FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in CODES}
HOLDS = (0.01, 0.1, 1.0)
"""How firmly the gap is held while residuals last, from one attempt to the next."""
LIMIT = 100
"""Iterations of an attempt."""


def fast_flows(network: Network, cost: str, tolerance: float) -> tuple[Array, int]:
    """Flows ``y`` (s, n) whose Wardrop gap is at most the tolerance, or the best found, and the number of iterations."""
    everywhere, every = network.arrivals, network.costs(cost)
    live = np.nonzero(everywhere > 0)[0]
    flows = np.zeros(network.allowed.shape)
    if not live.size:
        return flows, 0
    cells = np.nonzero(network.allowed[live].any(axis=0))[0]
    part = np.ix_(live, cells)
    arrivals, allowed = everywhere[live], network.allowed[part]
    g = arc_constants(cost, network.latency)[part]
    costs = [every[j] for j in cells]
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
    if all(type(one.rate) in CODES for one in costs):
        codes, parameters, replicas = _table(costs)
        kind = COSTS.index(cost)
        return kernel.solve_compiled(
            arrivals, g, allowed, capacity, codes, parameters, replicas, kind, tolerance, LIMIT, hold, y, best
        )
    return _solve_plain(arrivals, g, allowed, capacity, _vectorised(costs), tolerance, hold, y, best)


def _table(costs: list[CellCost]) -> tuple[Array, Array, Array]:
    """Codes and parameters for the compiled prices."""
    codes = np.array([CODES[type(one.rate)] for one in costs], dtype=np.int64)
    parameters = np.zeros((len(costs), 3))
    for j, one in enumerate(costs):
        names = FIELDS[type(one.rate)]
        for place, name in enumerate(names):
            parameters[j, place] = getattr(one.rate, name)
    return codes, parameters, np.array([float(one.replicas) for one in costs])


def _vectorised(costs: list[CellCost]) -> Prices:
    """``p'`` and ``p''`` of every cell."""

    def prices(z: Array) -> tuple[Array, Array]:
        inside = np.maximum(z, 1e-300)
        slopes = [float(one.potential_slope(value)) for one, value in zip(costs, inside, strict=True)]
        curves = [float(one.potential_curvature(value)) for one, value in zip(costs, inside, strict=True)]
        return np.array(slopes), np.array(curves)

    return prices


def _solve_plain(
    arrivals: Array,
    g: Array,
    allowed: Array,
    capacity: Array,
    prices: Prices,
    tolerance: float,
    hold: float,
    y: Array,
    best: Array,
) -> tuple[int, float]:
    """`kernel.solve_compiled` with prices from Python."""
    m, n = g.shape
    z, u, s, inflow = np.empty(n), np.empty(m), np.empty((m, n)), np.empty(n)
    kernel.first_flows(arrivals, allowed, capacity, y, z)
    q, _ = prices(z)
    kernel.first_prices(g, allowed, q, u, s)
    least, alpha, stale = np.inf, 1.0, 0
    for iteration in range(LIMIT):
        if kernel.normalised_inflow(arrivals, allowed, y, inflow) and (inflow < capacity).all():
            least, stale = kernel.keep_best(arrivals, g, allowed, y, prices(inflow)[0], best, least, stale)
            if kernel.settled(least, stale, tolerance):
                return iteration, least
        f, h = prices(z)
        alpha = kernel.advance(arrivals, g, allowed, capacity, f, h, y, s, u, z, q, alpha, hold)
        if not alpha > 0:
            return iteration, least
    return LIMIT, least
