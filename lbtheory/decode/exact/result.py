"""The answer of an exact solve, with what proves it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lbtheory.core import SolverStatus
from lbtheory.decode.instance import Assignment, DecodeInstance, discounted_imbalance, imbalance, loads_after, penalty


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """An assignment with its status, objective, bound and gap.

    Attributes
    ----------
    policy : str
        Name of the policy that chose the assignment.
    status : SolverStatus
        ``OPTIMAL`` only where ``objective`` (or ``key``) is proved equal to its bound.
    objective : Fraction or None
        ``Σ_h γ^h I_h`` of the assignment over the offsets ``0 … horizon``, exact; None without an assignment.
    bound : Fraction or None
        Proved lower bound of the objective. For lexicographic policies it bounds ``I`` among the assignments that are best in
        the earlier parts of the key.
    assignment : Assignment or None
    loads : tuple of int or None
        Loads of the workers after admission, tokens, offset 0.
    imbalance : int or None
        ``I = G max_g L_g − Σ_g L_g`` at offset 0.
    seconds : float
        Wall time of the decision.
    horizon : int
        ``H`` of the objective.
    key, key_bound : tuple of int
        Lexicographic policies only: the minimised key, ``(M, I)`` or ``(D, N_max, I)``, and its proved lower bound. Empty
        otherwise.
    tie : str
        The tie rule that the assignment satisfies; ``"none"`` when no rule was asked for, when time ran out before it was
        proved, or when the discounts have no common denominator within 64 bits; ``"fcfs"`` at ``G = 1``, where
        every assignment is optimal.
    method : str
        What settled the answer: ``"trivial"``; of the special method ``"bound"`` (the largest requests dealt out meet it),
        ``"levels"`` (sums hit exactly meet it), ``"search"`` (ended), ``"refined"`` (groups of workers filled anew meet it),
        ``"window"`` (levels of a window with ``H > 0``) and ``"cover"`` (SpreadLex: the largest smallest load by the largest
        requests);
        ``"enumeration"``, ``"range bound"``, ``"cp-sat"``; ``"start"`` when time ran out before the solver began; ``"given"``
        for compared policies.
    """

    policy: str
    status: SolverStatus
    objective: Fraction | None
    bound: Fraction | None
    assignment: Assignment | None
    loads: tuple[int, ...] | None
    imbalance: int | None
    seconds: float
    horizon: int = 0
    key: tuple[int, ...] = ()
    key_bound: tuple[int, ...] = ()
    tie: str = "none"
    method: str = "cp-sat"

    @property
    def gap(self) -> Fraction | None:
        """``objective − bound``, None where either is missing."""
        return None if self.objective is None or self.bound is None else self.objective - self.bound

    def as_json(self) -> dict[str, Any]:
        """The answer as plain JSON values: whole numbers are integers, others doubles, what is missing is None."""
        return {
            "policy": self.policy,
            "status": self.status.value,
            "objective": _number(self.objective),
            "bound": _number(self.bound),
            "gap": _number(self.gap),
            "assignment": None if self.assignment is None else [list(chosen) for chosen in self.assignment.workers],
            "loads": None if self.loads is None else list(self.loads),
            "imbalance": self.imbalance,
            "seconds": self.seconds,
        }


def solution(
    instance: DecodeInstance,
    assignment: Assignment,
    *,
    policy: str,
    bound: Fraction | None,
    seconds: float,
    key: tuple[int, ...] = (),
    key_bound: tuple[int, ...] = (),
    tie: str = "none",
    method: str = "cp-sat",
) -> Solution:
    """A `Solution` of an assignment whose numbers are all computed here, exactly, from the assignment itself.

    The status follows from them: optimal if the key (or, without a key, the objective) equals its bound, else feasible.
    """
    after = loads_after(instance, assignment)
    value = discounted_imbalance(instance, after) + penalty(instance, assignment)
    proved = key == key_bound if key else value == bound
    return Solution(
        policy=policy,
        status=SolverStatus.OPTIMAL if proved else SolverStatus.FEASIBLE,
        objective=value,
        bound=bound,
        assignment=assignment,
        loads=tuple(int(v) for v in after[:, 0]),
        imbalance=imbalance(after[:, 0]),
        seconds=seconds,
        horizon=instance.horizon,
        key=key,
        key_bound=key_bound,
        tie=tie,
        method=method,
    )


def no_solution(policy: str, status: SolverStatus, *, seconds: float, horizon: int) -> Solution:
    """The answer when there is no assignment: every number is None."""
    return Solution(
        policy=policy,
        status=status,
        objective=None,
        bound=None,
        assignment=None,
        loads=None,
        imbalance=None,
        seconds=seconds,
        horizon=horizon,
    )


def _number(value: Fraction | None) -> int | float | None:
    if value is None:
        return None
    return int(value) if value.denominator == 1 else float(value)
