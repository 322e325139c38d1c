"""Equilibria of the three costs, by CVXPY (the default that a reader can follow) or by the fast interior point."""

import time
from collections.abc import Callable, Sequence

import numpy as np

from lbtheory.core import ParameterError, SolverStatus, UnknownNameError
from lbtheory.fluid.assumptions import require_feasible
from lbtheory.fluid.costs import BelievedCost, CellCost
from lbtheory.fluid.equilibrium.result import Equilibrium, measured
from lbtheory.fluid.network import Network
from lbtheory.fluid.rates import RateFamily, check_cost

Array = np.ndarray

METHODS = ("cvxpy", "fast")
TOLERANCE = {"cvxpy": 1e-6, "fast": 1e-10}
"""On both gaps; what each method reaches on networks that are not extreme."""
TRACE = 1e-9
"""Shares below it are taken for 0 where the certificate stays within the tolerance."""


def equilibrium(
    network: Network,
    cost: str,
    *,
    method: str = "cvxpy",
    tolerance: float | None = None,
    believed: Sequence[RateFamily] | None = None,
) -> Equilibrium:
    """The equilibrium of a cost (Definition 1): the minimiser of program (12).

    Parameters
    ----------
    network : Network
    cost : str
        ``rif``, ``latency`` (Wardrop) or ``gradient`` (system optimum).
    method : str
        ``cvxpy`` or ``fast``.
    tolerance : float, optional
        `TOLERANCE` of the method by default; on the Wardrop gap and the relative gap, both recomputed from the flows.
    believed : sequence of RateFamily, optional
        Models ``μ̂_j`` from which roots compute the latency or gradient cost, one a cell; by default the true rates. Cells still
        serve at their true rates. The RIF cost needs no model and stays as it is.

    Raises
    ------
    UnknownNameError, ParameterError
        Also for a believed model whose cost does not increase.
    InfeasibleError
        Assumption 2 fails; names the overloaded sources and the cells that they may use.
    """
    check_cost(cost)
    if method not in METHODS:
        raise UnknownNameError("method", str(method), METHODS)
    tolerance = TOLERANCE[method] if tolerance is None else tolerance
    if not (isinstance(tolerance, int | float) and 0 < tolerance < 1):
        raise ParameterError(f"`tolerance` of `equilibrium` must be between 0 and 1; got {tolerance!r}.")
    costs = network.costs(cost) if believed is None else _believed_costs(network, cost, believed)
    require_feasible(network)
    began = time.perf_counter()
    solve = _solver(network, cost, costs, method)
    aim, iterations = tolerance, 0
    for _ in range(3):
        flows, steps = solve(aim)
        iterations += steps
        found = measured(
            network,
            cost,
            flows,
            tolerance=tolerance,
            method=method,
            iterations=iterations,
            seconds=time.perf_counter() - began,
            costs=costs,
        )
        if found.status is SolverStatus.OPTIMAL or found.relative_gap <= tolerance or aim < 1e-15:
            break
        aim = 0.3 * tolerance * found.wardrop_gap / found.relative_gap  # the objective may be small beside what is paid
    return _without_traces(network, found, costs, tolerance)


def _believed_costs(network: Network, cost: str, believed: Sequence[RateFamily]) -> tuple[CellCost, ...]:
    """Costs by models; see `equilibrium`."""
    cells = network.cells
    if len(believed) != len(cells) or not all(isinstance(model, RateFamily) for model in believed):
        raise ParameterError(
            f"`believed` of `equilibrium` must be {len(cells)} rate families, one a cell; got {believed!r}. Use `make_rate`."
        )
    if cost == "rif":
        return network.costs(cost)
    for cell, model in zip(cells, believed, strict=True):
        shape = model.cost_shape(cost)
        if not shape.increasing:
            raise ParameterError(
                f"`believed` of `equilibrium` must have increasing costs; that of cell {cell.name!r} does not: {shape.why} "
                "Project it first (softplus: raise a above b k)."
            )
    return tuple(
        BelievedCost(cost=cost, rate=cell.rate, replicas=cell.replicas, believed=model)
        for cell, model in zip(cells, believed, strict=True)
    )


def _solver(network: Network, cost: str, costs: Sequence[CellCost], method: str) -> Callable[[float], tuple[Array, int]]:
    """Flows and how many iterations they took, for a tolerance."""
    if method == "fast":
        from lbtheory.fluid.equilibrium.fast import InteriorPoint

        return InteriorPoint(network, cost, costs).flows
    from lbtheory.fluid.equilibrium.convex import convex_flows

    return lambda tolerance: convex_flows(network, cost, costs, tolerance)


def _without_traces(network: Network, found: Equilibrium, costs: Sequence[CellCost], tolerance: float) -> Equilibrium:
    """The same with tiny shares set to 0, unless that costs the certificate."""
    routing = np.where(found.routing < TRACE, 0.0, found.routing)
    if (routing == found.routing).all():
        return found
    cleaned = measured(
        network,
        found.cost,
        network.arrivals[:, None] * routing,
        tolerance=tolerance,
        method=found.method,
        iterations=found.iterations,
        seconds=found.seconds,
        costs=costs,
    )
    fine = max(cleaned.wardrop_gap, cleaned.relative_gap) <= max(found.wardrop_gap, found.relative_gap, tolerance)
    return cleaned if fine else found
