"""Stability over delay, load and stepsize: the same network with its latencies and arrival rates scaled (ours)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lbtheory.core import ParameterError, readonly
from lbtheory.fluid.equilibrium import equilibrium
from lbtheory.fluid.network import Network
from lbtheory.fluid.stability.critical import characteristic_roots, critical_stepsize
from lbtheory.fluid.stability.linearisation import linearise

Array = np.ndarray

TOLERANCE = 1e-12
"""On the gaps of the equilibria that are linearised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StabilityMap:
    """Critical stepsizes and growth rates over a grid of scaled networks.

    Attributes
    ----------
    delays, loads, etas : float arrays (D,), (L,), (E,)
        Factors on ``τ`` and on ``λ``, and stepsizes.
    utilisation : float array (L,)
        ``max_j z_j/μ̄_j`` at the equilibrium of the first delay.
    eta_critical, eta_sufficient, frequency : float arrays (L, D)
        ``η_c``, ``η_S`` and ``ω_c`` (radians per second).
    growth : float array (L, D, E)
        ``Re s`` of the rightmost root, per second: negative where the equilibrium is locally stable.
    """

    delays: Array
    loads: Array
    etas: Array
    utilisation: Array
    eta_critical: Array
    eta_sufficient: Array
    frequency: Array
    growth: Array


def scaled(network: Network, *, delay: float = 1.0, load: float = 1.0) -> Network:
    """The network with every latency multiplied by ``delay`` and every arrival rate by ``load``."""
    cells = tuple(replace(cell, arrival_rate=cell.arrival_rate * load) for cell in network.cells)
    sources = tuple(replace(source, arrival_rate=source.arrival_rate * load) for source in network.sources)
    latency = np.where(np.isfinite(network.latency), network.latency * delay, np.inf)
    return Network(cells=cells, sources=sources, latency=latency, allowed=network.allowed)


def stability_map(
    network: Network, cost: str, *, delays: Sequence[float], loads: Sequence[float], etas: Sequence[float] = ()
) -> StabilityMap:
    """Critical stepsize, sufficient stepsize and growth rate over (load, delay, stepsize).

    Parameters
    ----------
    network : Network
    cost : str
    delays, loads : sequence of float
        Positive factors.
    etas : sequence of float
        Stepsizes of the growth rates; may be empty.

    Raises
    ------
    ParameterError
        A factor or stepsize is not positive and finite, or an equilibrium has no linearisation.
    InfeasibleError
        A load exceeds capacity.
    """
    grid = {"delays": delays, "loads": loads, "etas": etas}
    values = {name: np.asarray(given, dtype=float) for name, given in grid.items()}
    for name, array in values.items():
        if array.ndim != 1 or (name != "etas" and not array.size) or not (np.isfinite(array) & (array > 0)).all():
            raise ParameterError(f"`{name}` of `stability_map` must be positive finite numbers; got {grid[name]!r}.")
    shape = (len(values["loads"]), len(values["delays"]))
    critical, enough, frequency = (np.full(shape, np.nan) for _ in range(3))
    growth = np.full((*shape, len(values["etas"])), np.nan)
    used = np.empty(shape[0])
    for row, load in enumerate(values["loads"]):
        for column, delay in enumerate(values["delays"]):
            made = scaled(network, delay=float(delay), load=float(load))
            found = equilibrium(made, cost, method="fast", tolerance=TOLERANCE)
            at = linearise(made, found)
            if column == 0:
                used[row] = float((found.inflow / made.capacities).max())
            one = critical_stepsize(at)
            critical[row, column], enough[row, column], frequency[row, column] = one.eta, one.sufficient, one.frequency
            for place, eta in enumerate(values["etas"]):
                growth[row, column, place] = characteristic_roots(at, float(eta)).rightmost.real
    return StabilityMap(
        delays=readonly(values["delays"]),
        loads=readonly(values["loads"]),
        etas=readonly(values["etas"]),
        utilisation=readonly(used),
        eta_critical=readonly(critical),
        eta_sufficient=readonly(enough),
        frequency=readonly(frequency),
        growth=readonly(growth),
    )
