"""Everything that is guaranteed for a network, a cost and a start, and which assumption fails where one does."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from lbtheory.core import ParameterError
from lbtheory.fluid.assumptions import Assumptions, check_assumptions
from lbtheory.fluid.equilibrium import Equilibrium, equilibrium
from lbtheory.fluid.guarantee.gaps import Gaps, Start, gaps, start_at
from lbtheory.fluid.guarantee.theorems import (
    Bounded,
    Theorem1,
    Theorem2,
    Theorem3,
    bounded,
    largest_workloads,
    theorem1,
    theorem2,
    theorem3,
)
from lbtheory.fluid.network import Network

TOLERANCE = 1e-12
"""On the gaps of the equilibrium that the constants stand on."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guarantee:
    """Constants of Theorems 1, 1b, 2 and 3.

    Attributes
    ----------
    gaps : Gaps
    start : Start
    assumptions : Assumptions
    first : Theorem1
    bounded : Bounded or None
        None where no bound of the workloads is known a priori, or a rate or cost is not increasing.
    second : Theorem2
    third : Theorem3
    notes : dict of str to str
        Why a value is missing, by its name in `as_json`.
    """

    gaps: Gaps
    start: Start
    assumptions: Assumptions
    first: Theorem1
    bounded: Bounded | None
    second: Theorem2
    third: Theorem3
    notes: dict[str, str]

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Assumptions that fail: number, cell and reason."""
        return failed_assumptions(self.assumptions)

    def as_json(self) -> dict[str, Any]:
        """Constants as plain data; what is infinite or does not apply is None, with its reason under ``notes``."""
        one, within = self.first, self.bounded
        return {
            "eta0": _plain(one.eta0),
            "G1": _plain(one.G1),
            "K1": _plain(one.K1),
            "K": _plain(one.K),
            "eta2": _plain(self.second.eta2),
            "K2": _plain(self.second.K2),
            "eta_s3": _plain(self.third.eta_s3),
            "bounded": None
            if within is None
            else {"N_max": within.N_max.tolist(), "G1": within.G1, "K1": within.K1, "K": within.K},
            "thresholds": [_plain(float(n)) for n in one.thresholds.workloads],
            "failed_assumptions": self.failed,
            "notes": dict(self.notes),
        }


def guarantee(
    network: Network,
    cost: str,
    *,
    workloads: Any = None,
    routing: Any = None,
    past: Any = None,
    found: Equilibrium | None = None,
    workload_bound: Any = None,
) -> Guarantee:
    """The constants of every theorem for a start.

    Parameters
    ----------
    network : Network
    cost : str
    workloads, routing, past : optional
        See `start_at`.
    found : Equilibrium, optional
        Of this network and cost; solved to `TOLERANCE` by default.
    workload_bound : array_like (n,), optional
        ``N^max_j`` on ``[−τ̄, T]``, for example read off a trajectory; a priori by default.

    Raises
    ------
    UnknownNameError, ParameterError
    InfeasibleError
        Assumption 2 fails.
    """
    assumptions = check_assumptions(network, cost)
    start = start_at(network, workloads, routing, past)
    if found is None:
        found = equilibrium(network, cost, method="fast", tolerance=TOLERANCE)
    elif found.cost != cost:
        raise ParameterError(f"`found` of `guarantee` must be an equilibrium of the cost {cost!r}; got {found.cost!r}.")
    of = gaps(network, found)
    sound = [one for one in assumptions.cells if not one.rate_check.holds] + [
        one for one, c in zip(assumptions.cells, of.costs, strict=True) if not c.shape.increasing
    ]
    if sound:
        raise ParameterError(
            f"cell {sound[0].cell!r} of `network` must have a strictly increasing rate and {cost} cost for any theorem; "
            + (sound[0].rate_check.why if not sound[0].rate_check.holds else sound[0].cost_check.why)
        )
    first = theorem1(of, start)
    within, why = _within(of, start, workload_bound)
    second, third = theorem2(of, start, first), theorem3(of, start, within)
    notes: dict[str, str] = {}
    _note(notes, ("eta0", "G1", "K"), first.why)
    _note(notes, ("eta2", "K2"), second.why)
    _note(notes, ("eta_s3",), third.why)
    _note(notes, ("bounded",), why)
    for name, value in (("eta0", first.eta0), ("eta2", second.eta2), ("eta_s3", third.eta_s3)):
        if value == np.inf:
            notes[name] = "infinite: no arc with arrivals has a delay, every stepsize is allowed"
    return Guarantee(
        gaps=of, start=start, assumptions=assumptions, first=first, bounded=within, second=second, third=third, notes=notes
    )


def _within(of: Gaps, start: Start, bound: Any) -> tuple[Bounded | None, tuple[str, ...]]:
    """Theorem 1b with a given or a priori bound of the workloads."""
    if bound is None:
        top, why = largest_workloads(of, start)
        return (None, why) if why else (bounded(of, start, top), ())
    top = np.asarray(bound, dtype=float)
    if top.shape != of.workloads.shape or not (np.isfinite(top).all() and (top >= start.workloads).all()):
        raise ParameterError(
            f"`workload_bound` of `guarantee` must be {len(of.workloads)} finite workloads ≥ N(0); got {bound!r}."
        )
    return bounded(of, start, top), ()


def _note(notes: dict[str, str], names: tuple[str, ...], why: tuple[str, ...]) -> None:
    if why:
        notes.update(dict.fromkeys(names, "; ".join(why)))


def failed_assumptions(of: Assumptions) -> list[dict[str, Any]]:
    """Assumptions that fail, as plain data: ``assumption`` (1, 2 or 3), ``cell`` (None for 2), ``why``."""
    rows: list[dict[str, Any]] = [
        {"assumption": check.assumption, "cell": one.cell, "why": check.why}
        for one in of.cells
        for check in (one.rate_check, one.cost_check)
        if not check.holds
    ]
    if not of.feasibility.holds:
        rows.append({"assumption": 2, "cell": None, "why": of.feasibility.why})
    return sorted(rows, key=lambda row: row["assumption"])


def _plain(value: float) -> float | None:
    return value if isfinite(value) else None
