"""What an equilibrium is, and the numbers that prove it, computed from the flows alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lbtheory.core import LBTheoryError, SolverStatus, readonly
from lbtheory.fluid.costs import CellCost, arc_constants, cell_values
from lbtheory.fluid.network import Network

Array = np.ndarray


class EquilibriumSolverError(LBTheoryError):
    """A method gave no flows; the message names the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equilibrium:
    """An equilibrium of a cost (Definition 1), or the best flows found, with their certificate.

    Attributes
    ----------
    cost : str
    status : SolverStatus
        ``OPTIMAL`` when both gaps are at most the tolerance, otherwise ``FEASIBLE``: read the gaps.
    workloads : float array (n,)
        ``N_j = μ_j⁻¹(z_j)``, requests in flight.
    inflow : float array (n,)
        ``z_j``, requests per second.
    routing : float array (s, n)
        ``x_ij``; a source without arrivals keeps a zero row.
    multipliers : float array (s,)
        ``c_i = min_j c_ij``; NaN for a source without arrivals.
    objective : float
        ``Ψ``.
    in_flight : float
        ``Σ_j N_j + Σ_ij λ_i x_ij 2τ_ij``, requests.
    mean_latency : float
        ``in_flight/Λ``, seconds (Little); NaN without arrivals.
    wardrop_gap : float
        ``Σ y_ij (c_ij − c_i)/Σ y_ij c_ij``, ``y_ij = λ_i x_ij``: 0 exactly at an equilibrium.
    flow_residual : float
        ``max(max_j |Σ_i y_ij − μ_j(N_j)|, max_i |Σ_j y_ij − λ_i|)/Λ``.
    relative_gap : float
        ``Σ y_ij (c_ij − c_i)/|Ψ|``: the duality gap over the objective. ``Ψ(x) − Ψ*`` is at most the gap by convexity.
    method : str
    iterations : int
    seconds : float
    """

    cost: str
    status: SolverStatus
    workloads: Array
    inflow: Array
    routing: Array
    multipliers: Array
    objective: float
    in_flight: float
    mean_latency: float
    wardrop_gap: float
    flow_residual: float
    relative_gap: float
    method: str
    iterations: int
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Plain data; lists in cell order."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "status"}
        lists = {name: value.tolist() for name, value in plain.items() if isinstance(value, np.ndarray)}
        return plain | lists | {"status": self.status.value}


def measured(
    network: Network,
    cost: str,
    flows: Array,
    *,
    tolerance: float,
    method: str,
    iterations: int,
    seconds: float,
    costs: Sequence[CellCost] | None = None,
) -> Equilibrium:
    """The equilibrium of given flows with everything recomputed from them.

    ``flows`` (s, n) must be nonnegative on admissible arcs with every inflow below capacity; rows are scaled to ``λ``.
    ``costs`` are those of the cells' own rates by default.
    """
    arrivals = network.arrivals
    totals = flows.sum(axis=1)
    with np.errstate(all="ignore"):
        routing = np.where(arrivals[:, None] > 0, flows / totals[:, None], 0.0)
    y = arrivals[:, None] * routing
    inflow = y.sum(axis=0)
    costs = network.costs(cost) if costs is None else costs
    workloads = np.array([float(cell.rate.inverse(z)) for cell, z in zip(network.cells, inflow, strict=True)])
    g = arc_constants(cost, network.latency)
    value = cell_values(costs, workloads)
    arc_costs = np.where(network.allowed, value + g, np.inf)
    with np.errstate(all="ignore"):
        least = np.where(arrivals > 0, arc_costs.min(axis=1, initial=np.inf), np.nan)
        spent = np.where(y > 0, y * np.where(network.allowed, arc_costs, 0.0), 0.0)
    live = arrivals > 0
    lost = float(spent.sum() - arrivals[live] @ least[live]) if live.any() else 0.0
    with np.errstate(invalid="ignore"):  # no flow to a cell at capacity
        excess = np.where(y > 0, y * (np.where(network.allowed, arc_costs, 0.0) - np.where(live, least, 0.0)[:, None]), 0.0)
    lost = float(excess.sum()) if np.isfinite(excess).all() else lost
    objective = float(sum(float(one.potential(z)) for one, z in zip(costs, inflow, strict=True)) + (g * y).sum())
    travel = float((np.where(np.isfinite(network.latency), 2 * network.latency, 0.0) * y).sum())
    served = np.array(
        [float(c.rate.rate(n)) if np.isfinite(n) else np.nan for c, n in zip(network.cells, workloads, strict=True)]
    )
    total = network.total
    residual = max(float(np.max(np.abs(inflow - served))), float(np.max(np.abs(y.sum(axis=1) - arrivals))))
    in_flight = float(workloads.sum()) + travel
    wardrop_gap = lost / float(spent.sum()) if spent.sum() > 0 else 0.0
    relative_gap = lost / abs(objective) if objective != 0 else 0.0
    proved = wardrop_gap <= tolerance and relative_gap <= tolerance
    return Equilibrium(
        cost=cost,
        status=SolverStatus.OPTIMAL if proved else SolverStatus.FEASIBLE,
        workloads=readonly(workloads),
        inflow=readonly(inflow),
        routing=readonly(routing),
        multipliers=readonly(least),
        objective=objective,
        in_flight=in_flight,
        mean_latency=in_flight / total if total > 0 else float("nan"),
        wardrop_gap=wardrop_gap,
        flow_residual=residual / total if total > 0 else 0.0,
        relative_gap=relative_gap,
        method=method,
        iterations=iterations,
        seconds=seconds,
    )
