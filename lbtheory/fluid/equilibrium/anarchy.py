"""Price of anarchy of the three costs, and the bound that no routing beats (DLB paper, section 3.3)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from lbtheory.core import ParameterError
from lbtheory.fluid.costs import arc_constants
from lbtheory.fluid.equilibrium.result import Equilibrium
from lbtheory.fluid.equilibrium.solve import equilibrium
from lbtheory.fluid.equilibrium.uniqueness import rank, tied_arcs
from lbtheory.fluid.network import Network
from lbtheory.fluid.rates import COSTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Anarchy:
    """Equilibria of all costs and how much each wastes.

    Attributes
    ----------
    equilibria : mapping of str to Equilibrium
    price : mapping of str to float
        ``C(x^cost)/C(x^gradient)``, requests in flight over the least possible; 1 without arrivals.
    best, worst : mappings of str to float
        The same at the best and the worst equilibrium of the cost. Only the RIF cost can have several (`in_flight_range`).
    """

    equilibria: Mapping[str, Equilibrium]
    price: Mapping[str, float]
    best: Mapping[str, float]
    worst: Mapping[str, float]


def price_of_anarchy(network: Network, *, method: str = "fast", tolerance: float | None = None) -> Anarchy:
    """All three equilibria and their prices of anarchy.

    Raises
    ------
    ParameterError
        Some cell's gradient cost does not increase: its equilibrium need not be the optimum.
    InfeasibleError
    """
    for cell in network.cells:
        shape = cell.rate.cost_shape("gradient")
        if not shape.increasing:
            raise ParameterError(
                f"cell {cell.name!r} must have an increasing marginal cost for a price of anarchy; {shape.why} "
                "Use another rate family, or fit one with a > b k."
            )
    found = {cost: equilibrium(network, cost, method=method, tolerance=tolerance) for cost in COSTS}
    least = found["gradient"].in_flight
    ranges = {cost: in_flight_range(network, one) for cost, one in found.items()}

    def price(totals: Mapping[str, float]) -> dict[str, float]:
        return {cost: total / least if least > 0 else 1.0 for cost, total in totals.items()}

    return Anarchy(
        equilibria=found,
        price=price({cost: one.in_flight for cost, one in found.items()}),
        best=price({cost: low for cost, (low, _) in ranges.items()}),
        worst=price({cost: high for cost, (_, high) in ranges.items()}),
    )


def in_flight_range(network: Network, found: Equilibrium) -> tuple[float, float]:
    """Least and largest in-flight total over all equilibria of a cost, which share ``z*`` (ours, proved).

    ``Σ_ij y_ij c_ij = Σ_i λ_i c_i`` at every equilibrium. For the latency and the gradient cost ``c_ij = f_j + 2τ_ij``, so that
    ``Σ 2τ_ij y_ij = Σ λ_i c_i − Σ_j z_j f_j`` does not depend on ``x*``, and the range is one number. The RIF cost does not see
    latencies: where ``x*`` is not unique, two linear programs over the tied arcs give the ends.
    """
    at, to = np.nonzero(tied_arcs(network, found))
    sources, cells, arcs = len(network.arrivals), len(network.cells), len(at)
    if found.cost != "rif" or rank(at, to, sources, cells) == arcs:
        return found.in_flight, found.in_flight
    rows = np.zeros((sources + cells, arcs))
    rows[at, np.arange(arcs)] = 1
    rows[sources + to, np.arange(arcs)] = 1
    flows = network.arrivals[:, None] * np.where(tied_arcs(network, found), found.routing, 0.0)
    right = np.concatenate([flows.sum(axis=1), flows.sum(axis=0)])
    travel = arc_constants("latency", network.latency)
    ends = []
    for sign in (1.0, -1.0):
        answer = linprog(sign * travel[at, to], A_eq=rows, b_eq=right, method="highs")
        ends.append(sign * answer.fun if answer.status == 0 else float((travel * flows).sum()))
    rest = found.in_flight - float((travel * flows).sum())
    return min(rest + ends[0], found.in_flight), max(rest + ends[1], found.in_flight)
