"""IO_H and min-max as policies: every decision is solved exactly (decode paper, section 3).

``min-max`` minimises the largest load alone and breaks ties by ``I``: the paper's point is that it is not the same thing.
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from lbtheory.core import PolicyError
from lbtheory.decode.exact import METHODS, TIES, Solution, solve_io, solve_min_max
from lbtheory.decode.instance import Assignment, DecodeInstance, decode_instance
from lbtheory.decode.policies.base import (
    REFRESHES,
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
        Seconds a decision; none by default. A limit makes the run depend on the machine.
    overtake : int
        Cap ``D``.
    """

    sized: ClassVar[bool] = True
    overtake: int | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        check_cap(self.name, self.overtake)

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

    def assign(self, view: View, rng: np.random.Generator) -> Assignment:
        """Solve the decision; what the overtaking cap forces is admitted."""
        rows = view.forecast.loads if self.forecast_need() is not None else [view.loads]
        instance = decode_instance(
            view.loads, view.free, view.prompts, projected=np.array(rows, np.int64).T, gamma=self.discount()
        )
        solution = self.solve(instance, frozenset(range(view.forced(self.overtake))), rng)
        if solution.assignment is None:
            raise PolicyError(
                f"policy {self.name!r} found no assignment in iteration {view.iteration}: {solution.status.remedy}"
            )
        return solution.assignment


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
    """

    name: ClassVar[str] = "io"
    method: str = "special"
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
    """Minimise the largest load, ties by ``I``.

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

    def solve(self, instance: DecodeInstance, forced: frozenset[int], rng: np.random.Generator) -> Solution:
        """Solve the min-max program."""
        return solve_min_max(instance, time_limit=self.time_limit, seed=rng, must_admit=forced, ties=self.ties)
