"""Equilibria of the three costs, by CVXPY (the default that a reader can follow) or by the fast interior point."""

import time
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, SolverStatus, UnknownNameError
from lbtheory.fluid.assumptions import require_feasible
from lbtheory.fluid.equilibrium.result import Equilibrium, measured
from lbtheory.fluid.network import Network
from lbtheory.fluid.rates import check_cost

METHODS = ("cvxpy", "fast")
TOLERANCE = {"cvxpy": 1e-6, "fast": 1e-10}
"""On both gaps; what each method reaches on networks that are not extreme."""
TRACE = 1e-9
"""Shares below it are taken for 0 where the certificate stays within the tolerance."""


def equilibrium(network: Network, cost: str, *, method: str = "cvxpy", tolerance: float | None = None) -> Equilibrium:
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

    Raises
    ------
    UnknownNameError, ParameterError
    InfeasibleError
        Assumption 2 fails; names the overloaded sources and the cells that they may use.
    """
    check_cost(cost)
    if method not in METHODS:
        raise UnknownNameError("method", str(method), METHODS)
    tolerance = TOLERANCE[method] if tolerance is None else tolerance
    if not (isinstance(tolerance, int | float) and 0 < tolerance < 1):
        raise ParameterError(f"`tolerance` of `equilibrium` must be between 0 and 1; got {tolerance!r}.")
    require_feasible(network)
    began = time.perf_counter()
    aim = tolerance
    for _ in range(3):
        flows, iterations = _flows(network, cost, method, aim)
        found = measured(
            network,
            cost,
            flows,
            tolerance=tolerance,
            method=method,
            iterations=iterations,
            seconds=time.perf_counter() - began,
        )
        if found.status is SolverStatus.OPTIMAL or found.relative_gap <= tolerance or aim < 1e-15:
            break
        aim = 0.3 * tolerance * found.wardrop_gap / found.relative_gap  # the objective may be small beside what is paid
    return _without_traces(network, found, tolerance)


def _flows(network: Network, cost: str, method: str, tolerance: float) -> tuple[Any, int]:
    if method == "fast":
        from lbtheory.fluid.equilibrium.fast import fast_flows

        return fast_flows(network, cost, tolerance)
    from lbtheory.fluid.equilibrium.convex import convex_flows

    return convex_flows(network, cost, tolerance)


def _without_traces(network: Network, found: Equilibrium, tolerance: float) -> Equilibrium:
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
    )
    worse = max(cleaned.wardrop_gap, cleaned.relative_gap) > max(found.wardrop_gap, found.relative_gap, tolerance)
    return found if worse else cleaned
