"""``method="cvxpy"``: program (12) in arc flows, with conic potentials where they exist and cutting planes where they don't."""

import warnings
from typing import Any

import numpy as np

from lbtheory.core import LBTheoryError
from lbtheory.fluid.costs import CellCost, arc_constants
from lbtheory.fluid.network import Network

Array = np.ndarray

CLARABEL = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12, "max_iter": 200}
ROUNDS = 60
"""Rounds of cutting planes."""


class ConicSolverError(LBTheoryError):
    """The conic solver gave no flows; use the other method."""


def convex_flows(network: Network, cost: str, tolerance: float) -> tuple[Array, int]:
    """Flows ``y`` (s, n) and the number of solves.

    A cell whose potential has no conic form gets an epigraph variable ``t_j`` above tangents ``p(σ) + p'(σ)(z − σ)``; a
    round adds one at the latest inflow, until ``Σ_j (p_j(z_j) − t_j)``, which bounds the loss, is at most the tolerance of
    the objective.
    """
    live = np.nonzero(network.arrivals > 0)[0]
    flows = np.zeros(network.allowed.shape)
    if not live.size:
        return flows, 0
    at, to = np.nonzero(network.allowed[live])
    arrivals, capacity = network.arrivals[live], network.capacities
    g = arc_constants(cost, network.latency)[live][at, to]
    costs = network.costs(cost)
    cuts = {j: _first_cuts(one) for j, one in enumerate(costs) if one.conic(_probe()) is None}
    scale = float(arrivals.mean())
    solves = 0
    while solves < ROUNDS:
        solves += 1
        y, planes = _solve(arrivals / scale, g, at, to, capacity / scale, costs, scale, cuts)
        flows[:] = 0
        flows[live[at], to] = np.maximum(y, 0.0) * scale
        inflow = _inside(flows, arrivals, live, capacity)
        if not cuts:
            break
        true = {j: float(costs[j].potential(inflow[j])) for j in cuts}
        if sum(true[j] - planes[j] for j in cuts) <= 0.1 * tolerance * max(abs(sum(true.values())), 1e-300):
            break
        for j in cuts:
            cuts[j].append(float(inflow[j]))
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
    costs: tuple[CellCost, ...],
    scale: float,
    cuts: dict[int, list[float]],
) -> tuple[Array, dict[int, float]]:
    """One conic program, flows in units of ``scale``; returns flows on arcs and the values of the epigraph variables."""
    import cvxpy as cp
    import scipy.sparse as sp

    arcs, m, n = len(at), len(arrivals), len(capacity)
    y = cp.Variable(arcs, nonneg=True)
    rows = sp.csr_array((np.ones(arcs), (at, np.arange(arcs))), shape=(m, arcs))
    columns = sp.csr_array((np.ones(arcs), (to, np.arange(arcs))), shape=(n, arcs))
    z = columns @ y
    unit = cp.Variable(len(cuts)) if cuts else None
    constraints = [rows @ y == arrivals]
    terms, places = [], {j: place for place, j in enumerate(cuts)}
    for j, one in enumerate(costs):
        if j not in cuts:
            terms.append(one.conic(scale * z[j]))
            continue
        assert unit is not None
        terms.append(unit[places[j]])
        constraints.append(z[j] <= capacity[j] * (1 - 1e-9))
        for touch in sorted(set(cuts[j])):
            value, slope = float(one.potential(touch)), float(one.potential_slope(touch))
            if np.isfinite(value) and np.isfinite(slope):
                constraints.append(unit[places[j]] >= value + slope * (scale * z[j] - touch))
    problem = cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms)) + scale * (g @ y)), constraints)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # inaccurate or not is judged by our own certificate
            problem.solve(solver=cp.CLARABEL, **CLARABEL)
    except cp.error.SolverError as error:
        raise ConicSolverError(f"CVXPY's solver failed ({error}). Use `--method fast`.") from None
    if y.value is None:
        raise ConicSolverError(f"CVXPY's solver ended with status {problem.status}. Use `--method fast`.")
    heights = np.zeros(0) if unit is None else np.asarray(unit.value)
    return np.asarray(y.value), {j: float(heights[place]) for j, place in places.items()}
