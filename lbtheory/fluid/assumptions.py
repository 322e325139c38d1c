"""Which of the paper's Assumptions 1 to 3 hold (DLB paper, section 4), why, and a witness where one does not.

1. ``μ_j`` is continuous, strictly increasing, bounded, and 0 at 0.
2. Some routing serves every arrival within capacity. By max-flow and min-cut that is ``Σ_{i∈S} λ_i < Σ_{j∈C⁺(S)} μ̄_j`` for
   every nonempty set ``S`` of sources with arrivals, and ``u* < 1`` for the program "minimise ``u``: ``z_j ≤ u μ̄_j``".
3. ``f_j`` is continuous and strictly increasing, ``f_j(N) → ∞``, and ``f_j(N + Δ)/f_j(N) → 1`` for every ``Δ > 0``.

1 and 3 are facts of each rate family, proved in its file; 2 is decided by a linear program, whose answer is certified by a
routing or by a set of sources, both evaluated here.
"""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, hstack

from lbtheory.core import InfeasibleError, LBTheoryError, readonly
from lbtheory.fluid.costs import cell_cost
from lbtheory.fluid.network import Network
from lbtheory.fluid.rates import RateFamily

Array = np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """``f`` (or ``μ``) at ``N`` and ``N + Δ``.

    Attributes
    ----------
    requests, step : float
        ``N``, ``Δ``.
    before, after : float
    ratio : float
        ``after/before``; NaN where ``before`` is 0 or infinite.
    limit : float or None
        What the ratio tends to as ``N`` grows, where that is known and is what fails.
    """

    requests: float
    step: float
    before: float
    after: float
    ratio: float
    limit: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One assumption (1 or 3) of one cell: whether it holds, why, and a witness where it does not."""

    assumption: int
    holds: bool
    why: str
    witness: Witness | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssumptionReport:
    """Assumptions 1 and 3 of one cell and cost.

    Attributes
    ----------
    cell, family, cost : str
    rate_check, cost_check : Check
        Of Assumption 1 and Assumption 3.
    """

    cell: str
    family: str
    cost: str
    rate_check: Check
    cost_check: Check

    @property
    def holds(self) -> bool:
        """Whether both hold."""
        return self.rate_check.holds and self.cost_check.holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Feasibility:
    """Assumption 2 of a network.

    Attributes
    ----------
    holds : bool
    why : str
    utilisation : float
        ``max_j z_j/μ̄_j`` of ``routing``: at least ``u*``.
    cut_utilisation : float
        ``Σ_S λ_i / Σ_{C⁺(S)} μ̄_j`` of the set below: at most ``u*``. Both are equal up to the solver's tolerance.
    sources, cells : tuple of str
        The most loaded set ``S`` found, and ``C⁺(S)``, by name; empty without arrivals.
    load, capacity : float
        ``Σ_S λ_i`` and ``Σ_{C⁺(S)} μ̄_j``, requests per second.
    routing : float array (s, n)
        Shares ``x_ij`` of a routing of least greatest utilisation; a row of zeros for a source without arrivals.
    """

    holds: bool
    why: str
    utilisation: float
    cut_utilisation: float
    sources: tuple[str, ...]
    cells: tuple[str, ...]
    load: float
    capacity: float
    routing: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """Assumptions 1 to 3 of a network under a cost: `AssumptionReport` of each cell, in order, and `Feasibility`."""

    cost: str
    cells: tuple[AssumptionReport, ...]
    feasibility: Feasibility

    @property
    def holds(self) -> bool:
        """Whether all hold."""
        return self.feasibility.holds and all(report.holds for report in self.cells)

    def as_json(self) -> dict[str, Any]:
        """Plain dictionaries and lists; what is infinite or undefined is None."""
        feasible = self.feasibility
        return {
            "cost": self.cost,
            "holds": self.holds,
            "feasibility": {
                "assumption": 2,
                "holds": feasible.holds,
                "why": feasible.why,
                "utilisation": _plain(feasible.utilisation),
                "cut_utilisation": _plain(feasible.cut_utilisation),
                "sources": list(feasible.sources),
                "cells": list(feasible.cells),
                "load": feasible.load,
                "capacity": feasible.capacity,
            },
            "cells": [
                {
                    "cell": report.cell,
                    "family": report.family,
                    "checks": [_check_json(report.rate_check), _check_json(report.cost_check)],
                }
                for report in self.cells
            ],
        }


def _check_json(check: Check) -> dict[str, Any]:
    names = ("requests", "step", "before", "after", "ratio", "limit")
    witness = None if check.witness is None else {name: _plain(getattr(check.witness, name)) for name in names}
    return {"assumption": check.assumption, "holds": check.holds, "why": check.why, "witness": witness}


def _plain(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def check_assumptions(network: Network, cost: str) -> Assumptions:
    """Assumptions 1 to 3 of a network under a cost.

    Raises
    ------
    UnknownNameError
        For an unknown cost.
    """
    reports = tuple(check_rate(cell.rate, cost, cell=cell.name) for cell in network.cells)
    return Assumptions(cost=cost, cells=reports, feasibility=check_feasibility(network))


def check_rate(rate: RateFamily, cost: str, *, cell: str = "") -> AssumptionReport:
    """Assumptions 1 and 3 of a rate under a cost (ours; the proofs are in the families).

    Raises
    ------
    UnknownNameError
        For an unknown cost.
    """
    function, shape, rises = cell_cost(cost, rate), rate.cost_shape(cost), rate.rate_shape()
    limit = float(np.exp(shape.growth * shape.witness[1])) if shape.increasing and shape.witness else None
    return AssumptionReport(
        cell=cell,
        family=rate.family,
        cost=cost,
        rate_check=Check(assumption=1, holds=rises.holds, why=rises.why, witness=_witness(rate.rate, rises.witness, None)),
        cost_check=Check(
            assumption=3, holds=shape.holds, why=shape.why, witness=_witness(function.value, shape.witness, limit)
        ),
    )


def _witness(function: Any, place: tuple[float, float] | None, limit: float | None) -> Witness | None:
    if place is None:
        return None
    n, step = place
    before, after = float(function(n)), float(function(n + step))
    ratio = after / before if before != 0 and isfinite(before) else np.nan
    return Witness(requests=n, step=step, before=before, after=after, ratio=ratio, limit=limit)


def check_feasibility(network: Network) -> Feasibility:
    """Assumption 2 of a network, decided by the linear program and certified by its two answers (ours, proved by min-cut)."""
    arrivals, capacities = network.arrivals, network.capacities
    live = np.nonzero(arrivals > 0)[0]
    routing = np.zeros(network.allowed.shape)
    if not live.size:
        return Feasibility(
            holds=True,
            why="No source has arrivals.",
            utilisation=0.0,
            cut_utilisation=0.0,
            sources=(),
            cells=(),
            load=0.0,
            capacity=0.0,
            routing=readonly(routing),
        )
    shares, dual = _least_utilisation(arrivals[live], capacities, network.allowed[live])
    routing[live] = shares
    chosen = live[_most_loaded(arrivals[live], capacities, network.allowed[live], dual)]
    reached = network.allowed[chosen].any(axis=0)
    load, capacity = float(arrivals[chosen].sum()), float(capacities[reached].sum())
    utilisation = float((arrivals @ routing / capacities).max())
    sources = tuple(network.source_names[i] for i in chosen)
    cells = tuple(name for name, yes in zip(network.cell_names, reached, strict=True) if yes)
    demand = f"{_listed(sources)} send {load:.6g} requests per second to {_listed(cells)} alone, with capacity {capacity:.6g}"
    if load >= capacity:
        why = f"{demand}."
    elif utilisation < 1:
        why = f"A routing uses at most {utilisation:.6g} of every cell; the most loaded set: {demand}."
    else:
        why = f"Too near to capacity to tell: {demand}."
    return Feasibility(
        holds=load < capacity and utilisation < 1,
        why=why,
        utilisation=utilisation,
        cut_utilisation=load / capacity,
        sources=sources,
        cells=cells,
        load=load,
        capacity=capacity,
        routing=readonly(routing),
    )


def require_feasible(network: Network) -> None:
    """Assumption 2, which must hold; the linear program only runs where a routing in proportion to capacities is not enough.

    Raises
    ------
    InfeasibleError
        Names the set of sources and the cells that they can reach.
    """
    weights = network.allowed * network.capacities
    inflow = network.arrivals @ (weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300))
    if (inflow < network.capacities * (1 - 1e-12)).all():
        return
    found = check_feasibility(network)
    if not found.holds:
        raise InfeasibleError(
            f"`network` must have capacity for its arrivals (Assumption 2): {found.why} Remedy: lower those arrival rates, "
            "raise those capacities, or allow more arcs."
        )


def _listed(names: tuple[str, ...], most: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _least_utilisation(arrivals: Array, capacities: Array, allowed: Array) -> tuple[Array, Array]:
    """A routing (shares) of least greatest utilisation, and the dual price of each cell's capacity.

    Sources that reach the same cells are one source, and cells reached by the same sources are one cell: that changes nothing.
    """
    kinds, of_source = np.unique(allowed, axis=0, return_inverse=True)
    masks, of_cell = np.unique(kinds, axis=1, return_inverse=True)
    demand, supply = np.bincount(of_source, arrivals), np.bincount(of_cell, capacities)
    at, to = np.nonzero(masks)
    scale = demand.sum() / supply[masks.any(axis=0)].sum()  # at most u*
    size = at.size
    use = coo_array((demand[at] / (supply[to] * scale), (to, np.arange(size))), shape=(supply.size, size))
    split = coo_array((np.ones(size), (at, np.arange(size))), shape=(demand.size, size))
    solved = linprog(
        np.r_[np.zeros(size), 1.0],
        A_ub=hstack([use, coo_array(-np.ones((supply.size, 1)))]).tocsr(),
        b_ub=np.zeros(supply.size),
        A_eq=hstack([split, coo_array((demand.size, 1))]).tocsr(),
        b_eq=np.ones(demand.size),
        method="highs",
    )
    if solved.x is None:
        raise LBTheoryError(f"the program of Assumption 2 was not solved: {solved.message} Use rates nearer to 1.")
    shares = np.zeros(masks.shape)
    shares[at, to] = np.maximum(solved.x[:-1], 0.0)
    shares /= shares.sum(axis=1, keepdims=True)
    routing = shares[of_source][:, of_cell] * (capacities / supply[of_cell])
    return routing, (-solved.ineqlin.marginals / supply)[of_cell]


def _most_loaded(arrivals: Array, capacities: Array, allowed: Array, dual: Array) -> Array:
    """Indices of the level set of the dual prices with the greatest ratio of arrivals to reachable capacity.

    The dual program is ``max Σ_i λ_i min_{j ∈ C⁺(i)} φ_j`` with ``Σ_j μ̄_j φ_j = 1``; by the layer-cake formula some level set
    ``S = {i: min_j φ_j ≥ t}`` reaches its value.
    """
    level = np.where(allowed, dual, np.inf).min(axis=1)
    order = np.argsort(-level, kind="stable")
    ranked = allowed[order]
    first = np.where(ranked.any(axis=0), ranked.argmax(axis=0), len(order))
    capacity = np.cumsum(np.bincount(first, capacities, minlength=len(order))[: len(order)])
    ratio = np.cumsum(arrivals[order]) / capacity
    return np.sort(order[: int(np.argmax(ratio)) + 1])
