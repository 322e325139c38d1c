"""``method="cvxpy"``: program (12) in arc flows, with conic potentials where they exist and cutting planes where they don't."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lbtheory.fluid.costs import CellCost, arc_constants
from lbtheory.fluid.equilibrium.result import EquilibriumSolverError
from lbtheory.fluid.network import Network

Array = np.ndarray
Pieces = Mapping[int, list[float] | tuple[float, float, float]]

CLARABEL = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12, "max_iter": 200}
ROUNDS = 60
"""Rounds of cutting planes."""
POLISH = 3
"""Newton rounds after them."""


def convex_flows(network: Network, cost: str, costs: Sequence[CellCost], tolerance: float) -> tuple[Array, int]:
    """Flows ``y`` (s, n) and the number of solves; ``costs`` holds the cost of each cell, ``cost`` says which it is.

    A cell whose potential has no conic form gets an epigraph variable ``t_j`` above tangents ``p(σ) + p'(σ)(z − σ)``; a
    round adds one at the latest inflow, until ``Σ_j (p_j(z_j) − t_j)``, which bounds the loss, is at most the tolerance of
    the objective. Flows are then off by the square root of that; `POLISH` Newton rounds, with the second-order expansion of
    ``p_j`` at the latest inflow in place of the tangents, take the rest away. Whatever they give is judged by its Wardrop gap.
    """
    live = np.nonzero(network.arrivals > 0)[0]
    flows = np.zeros(network.allowed.shape)
    if not live.size:
        return flows, 0
    at, to = np.nonzero(network.allowed[live])
    arrivals, capacity = network.arrivals[live], network.capacities
    g = arc_constants(cost, network.latency)[live][at, to]
    cuts = {j: _first_cuts(one) for j, one in enumerate(costs) if one.conic(_probe()) is None}
    scale = float(arrivals.mean())
    solves = 0

    def solve(pieces: Pieces) -> dict[int, float]:
        y, heights = _solve(arrivals / scale, g, at, to, capacity / scale, costs, scale, pieces)
        flows[:] = 0
        flows[live[at], to] = np.maximum(y, 0.0) * scale
        return heights

    while solves < ROUNDS:
        solves += 1
        planes = solve(cuts)
        inflow = _inside(flows, arrivals, live, capacity)
        if not cuts:
            return flows, solves
        true = {j: float(costs[j].potential(inflow[j])) for j in cuts}
        if sum(true[j] - planes[j] for j in cuts) <= 0.1 * tolerance * max(abs(sum(true.values())), 1e-300):
            break
        for j in cuts:
            cuts[j].append(float(inflow[j]))
    for _ in range(POLISH):
        curves = {j: float(costs[j].potential_curvature(inflow[j])) for j in cuts}
        if not all(0 < curve < np.inf for curve in curves.values()):
            break
        solves += 1
        solve({j: (float(inflow[j]), float(costs[j].potential_slope(inflow[j])), curve) for j, curve in curves.items()})
        inflow = _inside(flows, arrivals, live, capacity)
    return flows, solves


def _probe() -> Any:
    """A variable to ask whether a potential has a conic form."""
    import cvxpy as cp

    return cp.Variable()


def _first_cuts(cost: CellCost) -> list[float]:
    """Where the first tangents touch."""
    limit = cost.rate.capacity_limit
    return [float(limit * share) for share in (0.0, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 0.997, 0.999)]


def _inside(flows: Array, arrivals: Array, live: Array, capacity: Array) -> Array:
    """Inflows at scaled rows, kept below capacity."""
    rows = flows[live] / flows[live].sum(axis=1, keepdims=True) * arrivals[:, None]
    return np.minimum(rows.sum(axis=0), capacity * (1 - 1e-12))


def _solve(
    arrivals: Array,
    g: Array,
    at: Array,
    to: Array,
    capacity: Array,
    costs: Sequence[CellCost],
    scale: float,
    pieces: Pieces,
) -> tuple[Array, dict[int, float]]:
    """One conic program, flows in units of ``scale``; returns flows on arcs and the values of the epigraph variables.

    ``pieces`` stand in for the potentials of cells without a conic form: places of tangents (a list), or the place, slope and
    curvature of an expansion (a tuple).
    """
    import cvxpy as cp
    import scipy.sparse as sp

    arcs, m, n = len(at), len(arrivals), len(capacity)
    y = cp.Variable(arcs, nonneg=True)
    rows = sp.csr_array((np.ones(arcs), (at, np.arange(arcs))), shape=(m, arcs))
    columns = sp.csr_array((np.ones(arcs), (to, np.arange(arcs))), shape=(n, arcs))
    z = columns @ y
    unit = cp.Variable(max(len(pieces), 1))
    constraints = [rows @ y == arrivals]
    terms, places = [], {j: place for place, j in enumerate(pieces)}
    for j, one in enumerate(costs):
        piece = pieces.get(j)
        if piece is None:
            terms.append(one.conic(scale * z[j]))
            continue
        constraints.append(z[j] <= capacity[j] * (1 - 1e-9))
        if isinstance(piece, tuple):
            touch, slope, curve = piece
            terms.append(slope * (scale * z[j]) + curve / 2 * cp.square(scale * z[j] - touch))
            continue
        terms.append(unit[places[j]])
        for touch in sorted(set(piece)):
            value, slope = float(one.potential(touch)), float(one.potential_slope(touch))
            if np.isfinite(value) and np.isfinite(slope):
                constraints.append(unit[places[j]] >= value + slope * (scale * z[j] - touch))
    problem = cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms)) + scale * (g @ y)), constraints)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # inaccurate or not is judged by our own certificate
            problem.solve(solver=cp.CLARABEL, **CLARABEL)
    except cp.error.SolverError as error:
        raise EquilibriumSolverError(f"CVXPY's solver failed ({error}). Use `--method fast`.") from None
    if y.value is None:
        raise EquilibriumSolverError(f"CVXPY's solver ended with status {problem.status}. Use `--method fast`.")
    heights = np.zeros(len(places)) if unit.value is None else unit.value
    return np.asarray(y.value), {j: float(heights[place]) for j, place in places.items()}
