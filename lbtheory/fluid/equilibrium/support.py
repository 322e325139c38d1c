"""Which arcs of an equilibrium tie, with the traces that a solver leaves on dear arcs removed."""

import numpy as np

from lbtheory.core import LBTheoryError, readonly
from lbtheory.fluid.costs import arc_constants, cell_values
from lbtheory.fluid.equilibrium.result import Equilibrium, measured
from lbtheory.fluid.network import Network

Array = np.ndarray

TIE = 1e-8
"""Reduced cost, relative to the multiplier, up to which an arc ties; a solver leaves flows of about gap/cost on dearer ones."""
SOLVED = 1e-7
"""Largest gap of an equilibrium that theory is built on."""
FAINT = 1e-5
"""Share up to which flow on a dearer arc is a trace."""


def reduced_costs(network: Network, found: Equilibrium) -> tuple[Array, Array]:
    """``δ_ij = c_ij − c_i`` of the arcs of sources with arrivals, 0 elsewhere, and whether each arc ties; (s, n) both."""
    live = network.arrivals > 0
    arcs = network.allowed & live[:, None]
    value = cell_values(network.costs(found.cost), found.workloads)
    least = np.where(live, found.multipliers, 0.0)[:, None]
    reduced = np.where(arcs, value + arc_constants(found.cost, network.latency) - least, 0.0)
    return readonly(reduced), readonly(arcs & (reduced <= TIE * np.abs(least)))


def without_traces(network: Network, found: Equilibrium) -> Equilibrium:
    """The equilibrium with shares up to `FAINT` on arcs that do not tie set to 0, and everything else recomputed.

    Raises
    ------
    LBTheoryError
        Its gaps exceed `SOLVED`: it proves nothing. Where a cell is within rounding of its capacity no doubles come nearer.
    """
    _require_solved(found)
    _, tied = reduced_costs(network, found)
    trace = ~tied & (found.routing > 0) & (found.routing <= FAINT)
    if not trace.any():
        return found
    flows = network.arrivals[:, None] * np.where(trace, 0.0, found.routing)
    with np.errstate(all="ignore"):  # a cell within rounding of its capacity may now be beyond it: refused below
        cleaned = measured(
            network,
            found.cost,
            flows,
            tolerance=SOLVED,
            method=found.method,
            iterations=found.iterations,
            seconds=found.seconds,
        )
    _require_solved(cleaned)
    return cleaned


def _require_solved(found: Equilibrium) -> None:
    if not max(found.wardrop_gap, found.relative_gap) <= SOLVED:
        raise LBTheoryError(
            f"the {found.cost} equilibrium is known to a Wardrop gap of {found.wardrop_gap:.2g} and a relative gap of "
            f"{found.relative_gap:.2g} only, and {SOLVED:g} is needed. Lower the load of the fullest cell, or solve it to a "
            "smaller tolerance."
        )
