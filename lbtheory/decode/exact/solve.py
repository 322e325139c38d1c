"""One door to the exact policies, and other policies' assignments beside them."""

from typing import Any

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.decode.exact.io import solve_io
from lbtheory.decode.exact.min_max import solve_min_max
from lbtheory.decode.exact.result import Solution, solution
from lbtheory.decode.exact.spread_lex import solve_spread_lex
from lbtheory.decode.instance import Assignment, DecodeInstance, check_assignment, imbalance, loads_after

POLICIES = ("io", "min-max", "spread-lex")


def solve(instance: DecodeInstance, policy: str = "io", horizon: int | None = None, **options: Any) -> Solution:
    """Solve one decision exactly.

    Parameters
    ----------
    instance : DecodeInstance
    policy : "io", "min-max" or "spread-lex"
        The last two use offset 0 only.
    horizon : int, optional
        Cut the window of IO_H; by default that of the instance.
    **options
        Those of `solve_io`, `solve_min_max` or `solve_spread_lex`.

    Raises
    ------
    UnknownNameError
        For another policy, with the nearest name.
    ParameterError
        When ``horizon`` is beyond the projected loads, or priorities come with another policy than ``"io"``.
    """
    if policy not in POLICIES:
        raise UnknownNameError("exact policy", policy, POLICIES)
    cut = instance if horizon is None else instance.with_horizon(horizon)
    if policy != "io" and instance.priorities is not None:
        raise ParameterError(f"`policy` of `solve` must be io for an instance with priorities; got {policy!r}. Leave them out.")
    if policy == "io":
        return solve_io(cut, **options)
    return solve_min_max(cut, **options) if policy == "min-max" else solve_spread_lex(cut, **options)


def compare(instance: DecodeInstance, assignment: Assignment, exact: Solution, name: str, seconds: float) -> Solution:
    """Another policy's assignment in the form of a `Solution`, with its gap against the exact bound.

    Parameters
    ----------
    instance : DecodeInstance
        The instance of ``exact``, or the one it was cut from.
    assignment : Assignment
        Must be feasible and maximal.
    exact : Solution
        Gives the horizon and the bound. Beside a lexicographic policy the bound is one of its ``I``, which others may pass
        below: the gap may then be negative, and the status is optimal only where the whole key equals its bound.
    name : str
    seconds : float
        Wall time of the policy's decision.

    Raises
    ------
    InstanceError
        When the assignment is not feasible and maximal.
    """
    check_assignment(instance, assignment)
    cut = instance.with_horizon(exact.horizon)
    return solution(
        cut,
        assignment,
        policy=name,
        bound=exact.bound,
        seconds=seconds,
        key=_key(cut, assignment, exact.policy),
        key_bound=exact.key_bound,
        method="given",
    )


def _key(instance: DecodeInstance, assignment: Assignment, policy: str) -> tuple[int, ...]:
    """The key that ``policy`` minimises, empty for IO_H."""
    loads = loads_after(instance, assignment)[:, 0]
    top, aggregate = int(loads.max()), imbalance(loads)
    if policy == "min-max":
        return top, aggregate
    if policy == "spread-lex":
        return top - int(loads.min()), int((loads == top).sum()), aggregate
    return ()
