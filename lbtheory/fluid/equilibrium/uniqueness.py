"""Whether the routing of an equilibrium is unique; its workloads always are (DLB paper, Lemma 1)."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from lbtheory.fluid.equilibrium.result import Equilibrium
from lbtheory.fluid.equilibrium.support import reduced_costs
from lbtheory.fluid.network import Network

Array = np.ndarray

TIGHT = 1e-6
"""Relative reduced cost below which an arc counts as tied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniqueness:
    """Uniqueness of ``x*`` (ours, proved): no ``ξ ≠ 0`` on tied arcs keeps every row and inflow, ``ξ ≥ 0`` where ``x* = 0``.

    Attributes
    ----------
    workloads, routing : bool
        ``N*`` is unique under Assumptions 1 to 3; ``x*`` only if the linear program below has optimum 0.
    neutral_dimension : int
        Dimension of ``{ξ on arcs with flow: Σ_j ξ_ij = 0, Σ_i ξ_ij = 0}``, flows in requests per second.
    spare_arcs : int
        Arcs without flow that tie, and that some other equilibrium uses.
    tied_arcs : int
        Arcs of least cost.
    """

    workloads: bool
    routing: bool
    neutral_dimension: int
    spare_arcs: int
    tied_arcs: int


def check_uniqueness(network: Network, found: Equilibrium) -> Uniqueness:
    """Decide by ranks and a linear program which of ``N*`` and ``x*`` are unique.

    Arcs tie when their reduced cost is below `TIGHT` of the largest multiplier; the program maximises ``Σ ξ_ij`` over tied arcs
    without flow, ``0 ≤ ξ ≤ 1`` there: a positive optimum is another equilibrium.
    """
    live = np.nonzero(network.arrivals > 0)[0]
    tied = tied_arcs(network, found)[live]
    used = tied & (found.routing[live] > 0)
    at, to = np.nonzero(used)
    neutral = len(at) - rank(at, to, len(live), len(network.cells))
    spare_at, spare_to = np.nonzero(tied & ~used)
    spare = 0
    if len(spare_at):
        all_at, all_to = np.concatenate([at, spare_at]), np.concatenate([to, spare_to])
        count = len(all_at)
        rows = np.zeros((len(live) + len(network.cells), count))
        rows[all_at, np.arange(count)] = 1
        rows[len(live) + all_to, np.arange(count)] = 1
        bounds = [(None, None)] * len(at) + [(0, 1)] * len(spare_at)
        goal = np.concatenate([np.zeros(len(at)), -np.ones(len(spare_at))])
        answer = linprog(goal, A_eq=rows, b_eq=np.zeros(len(rows)), bounds=bounds, method="highs")
        spare = int((answer.x[len(at) :] > 1e-9).sum()) if answer.status == 0 else len(spare_at)
    increasing = all(one.shape.increasing for one in network.costs(found.cost))
    return Uniqueness(
        workloads=increasing,
        routing=increasing and neutral == 0 and spare == 0,
        neutral_dimension=int(neutral),
        spare_arcs=spare,
        tied_arcs=int(tied.sum()),
    )


def tied_arcs(network: Network, found: Equilibrium) -> Array:
    """Arcs of least cost, bool array (s, n); see `check_uniqueness`."""
    live = network.arrivals > 0
    scale = max(float(np.abs(found.multipliers[live]).max(initial=0.0)), 1e-300)
    return np.asarray(network.allowed & live[:, None] & (reduced_costs(network, found)[0] <= TIGHT * scale))


def rank(at: Array, to: Array, sources: int, cells: int) -> int:
    """Rank of the incidence matrix: nodes that have an arc, less the number of components."""
    parent = list(range(sources + cells))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for i, j in zip(at.tolist(), (to + sources).tolist(), strict=True):
        parent[root(i)] = root(j)
    nodes = set(at.tolist()) | {int(j) + sources for j in to}
    return len(nodes) - len({root(node) for node in nodes})
