"""IO_H and min-max as policies: every decision is solved exactly (decode paper, section 3).

``min-max`` minimises the largest load alone and breaks ties by ``I``: the paper's point is that it is not the same thing.
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from lbtheory.core import ParameterError, PolicyError, SolverStatus
from lbtheory.decode.exact import METHODS, TIES, Solution, decide_io, solve_io, solve_min_max
from lbtheory.decode.instance import Assignment, DecodeInstance, decode_instance
from lbtheory.decode.policies._balance import decimal
from lbtheory.decode.policies.base import (
    REFRESHES,
    DecisionProofs,
    ForecastNeed,
    InformationSet,
    Policy,
    View,
    check_cap,
    check_choice,
    check_range,
    window_need,
)
from lbtheory.decode.predictors import Oracle, Predictor


@dataclass(slots=True, kw_only=True)
class SolvedPolicy(Policy):
    """Base of the policies that solve a program at every step.

    Options
    -------
    time_limit : float
        Seconds a decision; none by default. A limit makes the run depend on the machine. A decision that is not proved within
        it takes the best assignment known; `proofs` counts these and sums what they may lose.
    overtake, patience : int
        Cap ``D``, and cap on the iterations that a request waits.
    """

    sized: ClassVar[bool] = True
    overtake: int | None = None
    patience: int | None = None
    time_limit: float | None = None
    _decisions: int = field(default=0, init=False, repr=False, compare=False)
    _unproved: int = field(default=0, init=False, repr=False, compare=False)
    _gap: Fraction = field(default=Fraction(0), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_cap(self.name, self.overtake, self.patience)
        if self.time_limit is not None and not self.time_limit > 0:
            raise ParameterError(
                f"`time_limit` of policy {self.name!r} must be none or a positive number of seconds; got {self.time_limit}."
            )

    def proofs(self) -> DecisionProofs:
        """Of this run."""
        return DecisionProofs(decisions=self._decisions, unproved=self._unproved, gap=float(self._gap))

    def reset(self, workers: int, slots: int) -> None:
        """Count anew."""
        self._decisions, self._unproved, self._gap = 0, 0, Fraction(0)

    @property
    def information(self) -> InformationSet:  # type: ignore[override]
        """Loads and prompts; forecasts where a window is used."""
        more = InformationSet.NOTHING if self.forecast_need() is None else InformationSet.FORECAST
        return InformationSet.LOADS | InformationSet.PROMPTS | more

    @abstractmethod
    def solve(self, instance: DecodeInstance, forced: frozenset[int], rng: np.random.Generator) -> Solution:
        """Solve one decision."""

    def discount(self) -> float:
        """``γ``."""
        return 1.0

    def priorities(self, view: View) -> list[int] | None:
        """``π_i`` of the waiting requests, tokens; None without."""
        return None

    def assign(self, view: View, rng: np.random.Generator) -> Assignment:
        """Solve the decision; what the caps force is admitted."""
        rows = view.forecast.loads if self.forecast_need() is not None else [view.loads]
        instance = decode_instance(
            view.loads,
            view.free,
            view.prompts,
            projected=np.array(rows, np.int64).T,
            gamma=self.discount(),
            priorities=self.priorities(view),
        )
        solution = self.solve(instance, frozenset(range(view.forced(self.overtake, self.patience))), rng)
        if solution.assignment is None:
            raise PolicyError(
                f"policy {self.name!r} found no assignment in iteration {view.iteration}: {solution.status.remedy}"
            )
        self.count(solution.status is SolverStatus.OPTIMAL, self.lost(solution))
        return solution.assignment

    def lost(self, solution: Solution) -> Fraction | int:
        """What a decision may lose: its objective less the proved bound."""
        return solution.gap or 0

    def count(self, proved: bool, gap: Fraction | int) -> None:
        """Count a decision."""
        self._decisions += 1
        self._unproved += not proved
        self._gap += 0 if proved else gap


@dataclass(slots=True, kw_only=True)
class ExactIo(SolvedPolicy):
    """IO_H: minimise ``Σ_h γ^h I_h`` over all maximal assignments.

    Options
    -------
    horizon, gamma, predictor, refresh, cap
        As for BR-H; ``horizon=0`` by default.
    tie : lexicographic | smallest-total | random | none
        Which of several optima is taken.
    method : special | class-count | binary
        How it is solved, see `solve_io`.
    fallback : cp-sat | best
        What a decision becomes that the special method leaves unproved: CP-SAT proves it, which may take minutes at many free
        slots (or reach ``time_limit``); or the best assignment known is taken. `proofs` counts these.
    bonus : float
        Tokens that leaving a request waiting costs for each iteration that it has waited, times the weight of its tenant,
        rounded down to whole tokens: a penalty beside the imbalance (ours).
    """

    name: ClassVar[str] = "io"
    method: str = "special"
    fallback: str = "cp-sat"
    bonus: float = 0.0
    horizon: int = 0
    gamma: float = 1.0
    refresh: str = "window"
    cap: int = 0
    tie: str = "none"
    predictor: Predictor = field(default_factory=Oracle)

    def __post_init__(self) -> None:
        SolvedPolicy.__post_init__(self)
        check_range(self.name, "horizon", self.horizon, 0, 100_000)
        check_range(self.name, "gamma", self.gamma, 1e-9, 1.0)
        check_choice(self.name, "refresh", self.refresh, REFRESHES)
        check_choice(self.name, "cap", self.cap, (0, 1))
        check_choice(self.name, "tie", self.tie, TIES)
        check_choice(self.name, "method", self.method, METHODS)
        check_choice(self.name, "fallback", self.fallback, ("cp-sat", "best"))
        if self.fallback == "best" and (self.horizon or self.tie != "none" or self.method != "special"):
            raise ParameterError("`fallback=best` of policy 'io' must go with horizon=0, tie=none and method=special.")
        check_range(self.name, "bonus", self.bonus, 0.0, 1e9)
        if self.bonus and (self.tie != "none" or self.method != "special" or self.fallback != "cp-sat"):
            raise ParameterError("`bonus` of policy 'io' must go with tie=none, method=special and fallback=cp-sat.")

    def assign(self, view: View, rng: np.random.Generator) -> Assignment:
        """The special method in plain arrays where it covers the decision, else `solve_io`."""
        seed = int(rng.integers(2**31 - 1))
        plain = self.method == "special" and self.horizon == 0 and self.tie == "none" and len(view.free) > 1 and not self.bonus
        if plain and not view.forced(self.overtake, self.patience) and 0 < sum(view.free) <= len(view.order):
            found = decide_io(np.array(view.loads), np.array(view.free), np.array(view.prompts), seed=seed)
            if found.proved or self.fallback == "best":
                self.count(found.proved, found.value - found.bound)
                return found.assignment(len(view.free))
        return SolvedPolicy.assign(self, view, rng)

    def priorities(self, view: View) -> list[int] | None:
        """``π_i = ⌊bonus · weight_i · wait_i⌋``."""
        if not self.bonus:
            return None
        each = decimal(self.bonus)
        return [int(each * weight * waited) for weight, waited in zip(view.weights, view.waited, strict=True)]

    def forecast_need(self) -> ForecastNeed | None:
        """Forecasts over the window."""
        return window_need(self.predictor, self.horizon, self.cap, self.refresh)

    def discount(self) -> float:
        """``γ``."""
        return self.gamma

    def solve(self, instance: DecodeInstance, forced: frozenset[int], rng: np.random.Generator) -> Solution:
        """Solve IO_H."""
        return solve_io(
            instance, formulation=self.method, time_limit=self.time_limit, tie=self.tie, seed=rng, must_admit=forced
        )


@dataclass(slots=True, kw_only=True)
class MinMax(SolvedPolicy):
    """Minimise the largest load, ties by ``I``. `proofs` gives the gaps of the largest load.

    Options
    -------
    ties : imbalance | smallest-total
        The latter takes the least total, hence the largest ``I``: what minimising the largest load alone allows.
    """

    name: ClassVar[str] = "min-max"
    ties: str = "imbalance"

    def __post_init__(self) -> None:
        SolvedPolicy.__post_init__(self)
        check_choice(self.name, "ties", self.ties, ("imbalance", "smallest-total"))

    def lost(self, solution: Solution) -> int:
        """The largest load less its proved lower bound, tokens."""
        return solution.key[0] - solution.key_bound[0]

    def solve(self, instance: DecodeInstance, forced: frozenset[int], rng: np.random.Generator) -> Solution:
        """Solve the min-max program."""
        return solve_min_max(instance, time_limit=self.time_limit, seed=rng, must_admit=forced, ties=self.ties)
