"""Distances from an equilibrium, and the initial data of a trajectory (DLB paper, section 4.1 and appendix C.3).

``F_j(N) = f_j(N) − f*_j``; workload gap ``D_j = (f_j(N_j) − f*_j)(μ_j(N_j) − μ*_j) ≥ 0``; routing gap
``S_i(x_i) = Σ_j c*_ij (x_ij − x*_ij) = Σ_j δ_ij x_ij ≥ 0``, ``δ_ij = c*_ij − c_i``; potentials
``Φ_j(N) = ∫_{N*_j}^N (f_j(s) − f*_j) ds`` and ``V = Σ_i (λ_i/2η_i) ‖x_i − x*_i‖²``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
from scipy.integrate import quad

from lbtheory.core import ParameterError, readonly
from lbtheory.fluid.costs import CellCost, arc_constants, cell_values
from lbtheory.fluid.equilibrium import Equilibrium, reduced_costs, without_traces
from lbtheory.fluid.network import Network

Array = np.ndarray
History = Callable[[Array], Array]
"""Workloads (…, n) before 0, of an array of times in ``[−τ̄, 0)``."""

HISTORY_POINTS = 4096


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gaps:
    """An equilibrium as the theorems see it; made by `gaps`. Sources without arrivals have no arcs here.

    Attributes
    ----------
    network : Network
    equilibrium : Equilibrium
    costs : tuple of CellCost
    workloads, rates, values : float arrays (n,)
        ``N*_j``, ``μ*_j``, ``f*_j``.
    spare : float array (n,)
        ``m_j = μ̄_j − μ*_j > 0``.
    arcs : bool array (s, n)
        Admissible arcs of sources with arrivals.
    latency : float array (s, n)
        ``τ_ij``, 0 off the arcs.
    constants : float array (s, n)
        ``g_ij``.
    excess : float array (s, n)
        ``δ_ij``, 0 where tied and off the arcs (`lbtheory.fluid.equilibrium.reduced_costs`).
    offered, longest : float arrays (n,)
        ``Λ_j`` and ``τ_j^max = max_i τ_ij``.
    """

    network: Network
    equilibrium: Equilibrium
    costs: tuple[CellCost, ...]
    workloads: Array
    rates: Array
    values: Array
    spare: Array
    arcs: Array
    latency: Array
    constants: Array
    excess: Array
    offered: Array
    longest: Array

    @property
    def arrivals(self) -> Array:
        """``λ``, float array (s,)."""
        return self.network.arrivals

    def cost(self, workloads: Array) -> Array:
        """``f_j(N_j)``, of float arrays (…, n)."""
        return _by_cell([one.value for one in self.costs], workloads)

    def rate(self, workloads: Array) -> Array:
        """``μ_j(N_j)``, of float arrays (…, n)."""
        return _by_cell([cell.rate.rate for cell in self.network.cells], workloads)

    def workload_gap(self, workloads: Array) -> Array:
        """``D_j``, of float arrays (…, n)."""
        return (self.cost(workloads) - self.values) * (self.rate(workloads) - self.rates)

    def potential(self, workloads: Array) -> Array:
        """``Φ_j(N_j)``, float array (n,)."""
        rows = zip(self.costs, self.workloads, self.values, np.asarray(workloads, dtype=float), strict=True)
        return np.array([_integral(partial(_above, cost, value), star, n) for cost, star, value, n in rows])

    def distance(self, routing: Array) -> Array:
        """``‖x_i − x*_i‖²``, float array (…, s)."""
        return np.asarray(((routing - self.equilibrium.routing) ** 2 * self.arcs).sum(axis=-1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Start:
    """Initial data of a trajectory; made by `start_at`.

    Attributes
    ----------
    workloads : float array (n,)
        ``N(0)``.
    routing : float array (s, n)
        ``x(0)``.
    past : History or None
        Workloads before 0; None: ``N(0)``. (The bounds hold for every measurable routing before 0.)
    """

    workloads: Array
    routing: Array
    past: History | None

    def before(self, network: Network) -> tuple[Array, Array]:
        """Times in ``[−τ̄, 0)`` and workloads (K, n) there: `HISTORY_POINTS` midpoints, or one where the past is constant."""
        longest = network.longest_latency
        if self.past is None or longest == 0:
            return np.array([-longest / 2]), self.workloads[None, :]
        times = -longest * (np.arange(HISTORY_POINTS)[::-1] + 0.5) / HISTORY_POINTS
        rows = np.asarray(self.past(times), dtype=float)
        if rows.shape != (len(times), len(self.workloads)) or not (np.isfinite(rows).all() and (rows >= 0).all()):
            raise ParameterError(
                f"`past` of `Start` must give workloads ≥ 0, {(len(times), len(self.workloads))}; got shape {rows.shape}."
            )
        return times, rows


def gaps(network: Network, found: Equilibrium) -> Gaps:
    """Prepare an equilibrium.

    Raises
    ------
    ParameterError
        A workload is infinite or at capacity.
    """
    found = without_traces(network, found)
    rates = np.array(
        [float(cell.rate.rate(n)) if isfinite(n) else np.inf for cell, n in zip(network.cells, found.workloads, strict=True)]
    )
    spare = network.capacities - rates
    for j in np.nonzero(~(spare > 0))[0]:
        raise ParameterError(
            f"cell {network.cell_names[j]!r} must be below capacity at the equilibrium; got inflow {found.inflow[j]:g}."
        )
    costs = network.costs(found.cost)
    values = cell_values(costs, found.workloads)
    live = network.arrivals > 0
    arcs = network.allowed & live[:, None]
    g = arc_constants(found.cost, network.latency)
    reduced, tied = reduced_costs(network, found)
    latency = np.where(arcs, network.latency, 0.0)
    return Gaps(
        network=network,
        equilibrium=found,
        costs=costs,
        workloads=found.workloads,
        rates=readonly(rates),
        values=readonly(values),
        spare=readonly(spare),
        arcs=readonly(arcs),
        latency=readonly(latency),
        constants=readonly(np.where(arcs, g, 0.0)),
        excess=readonly(np.where(tied, 0.0, reduced)),
        offered=readonly(network.arrivals @ arcs),
        longest=readonly(latency.max(axis=0)),
    )


def start_at(network: Network, workloads: Any = None, routing: Any = None, past: Any = None) -> Start:
    """Check initial data.

    Parameters
    ----------
    workloads : array_like (n,), optional
        ``N(0) ≥ 0``; 0 by default.
    routing : array_like (s, n), optional
        ``x(0)``; uniform over the admissible cells by default. Rows of sources without arrivals are set to 0.
    past : array_like (n,) or callable, optional
        Workloads before 0, constant or of an array of times; ``N(0)`` by default.

    Raises
    ------
    ParameterError
    """
    n = len(network.cells)
    live = network.arrivals > 0
    first = _workloads("workloads", np.zeros(n) if workloads is None else workloads, n)
    uniform = network.allowed / np.maximum(network.allowed.sum(axis=1, keepdims=True), 1)
    try:
        shares = np.array(uniform if routing is None else routing, dtype=float)
    except (TypeError, ValueError):
        shares = np.zeros(0)
    if shares.shape != network.allowed.shape or not np.isfinite(shares).all():
        raise ParameterError(
            f"`routing` of `start_at` must be finite shares of shape {network.allowed.shape}; got shape {shares.shape}."
        )
    shares = np.where(live[:, None], shares, 0.0)
    for i in np.nonzero(live)[0]:
        row = shares[i]
        if (row < 0).any() or (row[~network.allowed[i]] != 0).any() or abs(row.sum() - 1) > 1e-9:
            raise ParameterError(
                f"row {i} of `routing` of `start_at` must be shares ≥ 0 on admissible cells that sum to 1; got {row.tolist()}."
            )
    before: History | None = None
    if callable(past):
        before = past
    elif past is not None:
        constant = _workloads("past", past, n)

        def before(times: Array) -> Array:
            return np.broadcast_to(constant, (*np.shape(times), n))

    return Start(workloads=readonly(first), routing=readonly(shares), past=before)


def _workloads(name: str, value: Any, n: int) -> Array:
    try:
        row = np.array(value, dtype=float)
    except (TypeError, ValueError):
        row = np.zeros(0)
    if row.shape != (n,) or not (np.isfinite(row).all() and (row >= 0).all()):
        raise ParameterError(f"`{name}` of `start_at` must be {n} finite workloads ≥ 0; got {value!r}.")
    return row


def _above(cost: CellCost, value: float, n: Array) -> Array:
    """``f(N) − f*``."""
    return cost.value(n) - value


def _by_cell(functions: list[Callable[[Array], Array]], workloads: Array) -> Array:
    columns = np.moveaxis(np.asarray(workloads, dtype=float), -1, 0)
    return np.stack([one(column) for one, column in zip(functions, columns, strict=True)], axis=-1)


def _integral(function: Callable[[Array], Array], low: float, high: float) -> float:
    """``∫_low^high``, relative error 1e-11 or what rounding leaves (QUADPACK)."""
    if low == high:
        return 0.0
    return float(quad(function, low, high, epsabs=0.0, epsrel=1e-11, limit=100, full_output=1)[0])
