"""What a policy is: an object that assigns waiting requests, and a declaration of what it may see.

``assign(view, rng)`` gets a `View` built from the policy's `InformationSet`; reading anything else raises. A policy whose rule
is compiled also says so (`Policy.compiled`); both engines then give the same trajectory.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Flag, auto
from typing import Any, ClassVar

import numpy as np

from lbtheory.core import InformationError, ParameterError
from lbtheory.decode.instance import Assignment, DecodeInstance
from lbtheory.decode.predictors.base import Forecast, Predictor


class InformationSet(Flag):
    """What a policy may read beside free slots, active counts and the number waiting."""

    NOTHING = 0
    LOADS = auto()
    AGES = auto()
    PROMPTS = auto()
    FORECAST = auto()
    COINS = auto()


_NEEDS = {
    "loads": InformationSet.LOADS,
    "ages": InformationSet.AGES,
    "prompts": InformationSet.PROMPTS,
    "prompt_mean": InformationSet.PROMPTS,
    "forecast": InformationSet.FORECAST,
    "coins": InformationSet.COINS,
}


class View:
    """State as one policy sees it.

    Attributes
    ----------
    iteration, slots, admitted : int
        Iteration ``k``, slots ``B`` a worker, requests admitted before this step.
    waited, weights : list of int (R,)
        Iterations that each waiting request has waited, and the weight of its tenant (1 where there are none).
    free, active : list of int (G,)
        Free slots and active requests of each worker.
    order : list of int (R,)
        Release indices of the waiting requests, increasing.
    loads, ages : list of int (G,)
        Tokens, and sum of the ages of the active requests (``LOADS``, ``AGES``).
    prompts : list of int (R,)
        Sizes of the waiting requests; ``prompt_mean`` is the mean of all sizes released so far (``PROMPTS``).
    forecast : Forecast
        Projected loads of the requests in flight (``FORECAST``).
    coins : float array (R, 3)
        Uniform draws that belong to the waiting requests (``COINS``).
    """

    __slots__ = ("_information", "_known", "active", "admitted", "free", "iteration", "order", "slots", "waited", "weights")

    def __init__(
        self,
        information: InformationSet,
        *,
        iteration: int,
        slots: int,
        admitted: int,
        free: list[int],
        active: list[int],
        order: list[int],
        waited: list[int],
        weights: list[int],
        **known: Any,
    ) -> None:
        self.iteration, self.slots, self.admitted = iteration, slots, admitted
        self.free, self.active, self.order = free, active, order
        self.waited, self.weights = waited, weights
        self._information = information
        self._known = {name: value for name, value in known.items() if _NEEDS[name] in information}

    def __getattr__(self, name: str) -> Any:
        if name in _NEEDS:
            if name in self._known:
                return self._known[name]
            if _NEEDS[name] in self._information:
                raise InformationError(f"`{name}` is not available here (for example, no forecast comes with this instance).")
            raise InformationError(f"`{name}` is outside the policy's information set; declare {_NEEDS[name]}.")
        raise AttributeError(name)

    def as_seen(self, information: InformationSet) -> "View":
        """The same state for a policy that declares less."""
        return View(
            information & self._information,
            iteration=self.iteration,
            slots=self.slots,
            admitted=self.admitted,
            free=self.free,
            active=self.active,
            order=self.order,
            waited=self.waited,
            weights=self.weights,
            **self._known,
        )

    @property
    def admissions(self) -> int:
        """``U = min(waiting, Σ_g c_g)``."""
        return min(len(self.order), sum(self.free))

    def forced(self, overtake: int | None, patience: int | None = None) -> int:
        """How many of the oldest waiting requests must be among the admitted of this step under the two caps.

        Request ``i`` is forced once ``admitted − i ≥ D``, or once it has waited ``patience`` iterations. In a step that admits
        ``U``, exactly those with ``i ≤ admitted + U − 1 − D`` come due by the first, at most ``U`` by both.
        """
        due = 0 if patience is None else sum(1 for age in self.waited if age >= patience)
        if overtake is not None:
            last = self.admitted + self.admissions - 1 - overtake
            due = max(due, sum(1 for i in self.order if i <= last))
        return min(self.admissions, due)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastNeed:
    """Forecasts that a policy asks for: by whom, how far (``H``), the cap of ``min(r, cap)``, and how often.

    ``every_iteration=False`` is the paper's rule: forecasts are made every ``H`` iterations and the window shrinks in between.
    ``hazard`` asks for the expected load path instead of the cutoff path; it is made anew in every iteration.
    """

    predictor: Predictor
    horizon: int
    cap: int
    every_iteration: bool
    hazard: bool = False


def oldest_overdue(view: View, policy: "Policy", admitted: int, queue: list[int]) -> bool:
    """Whether the oldest of ``queue`` (positions) is forced after ``admitted`` admissions, by either cap of the policy."""
    if not queue:
        return False
    oldest, overtake, patience = queue[0], policy.overtake, policy.patience
    by_number = overtake is not None and admitted - view.order[oldest] >= overtake
    return by_number or (patience is not None and view.waited[oldest] >= patience)


REFRESHES = ("window", "iteration")


PROJECTIONS = ("cutoff", "hazard")


def window_need(predictor: Predictor, horizon: int, cap: int, refresh: str, projection: str = "cutoff") -> ForecastNeed | None:
    """What BR-H and IO_H ask for: forecasts of ``min(r, H + cap)``, made anew every window or iteration; None at ``H = 0``."""
    if horizon == 0:
        return None
    each, hazard = refresh == "iteration", projection == "hazard"
    return ForecastNeed(predictor=predictor, horizon=horizon, cap=horizon + cap, every_iteration=each or hazard, hazard=hazard)


def check_projection(policy: str, projection: str, predictor: Predictor) -> None:
    """Raise `ParameterError` unless the projection is known and the predictor has what it needs."""
    check_choice(policy, "projection", projection, PROJECTIONS)
    if projection == "hazard" and not predictor.curves:
        raise ParameterError(
            f"`projection=hazard` of policy {policy!r} needs a predictor with survival curves (survival, exact-match); "
            f"got {predictor.name!r}. Take one of them, or projection=cutoff."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledRule:
    """The compiled form of a policy: a run loop, its parameters, and whether it needs the index of waiting sizes."""

    run: Callable[..., tuple[int, int]]
    rule: Any
    indexed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionProofs:
    """What is known of the decisions of a run of a policy that solves a program at every step.

    Attributes
    ----------
    decisions : int
        Programs that were solved: one in each iteration in which some request could be admitted.
    unproved : int
        Of these, taken without a proof that they are optimal.
    gap : float
        Sum over the unproved decisions of the objective less its proved lower bound, in the units of the objective.
    """

    decisions: int
    unproved: int
    gap: float


class Policy(ABC):
    """Base of all policies.

    Subclasses are dataclasses; their fields are the options that ``--policy NAME:key=value`` sets. ``overtake`` is the cap
    ``D`` for policies that choose by size, ``patience`` their cap on the iterations that a request waits: once reached, the
    request goes before any other (a cap on waits as far as slots come free; below the waits of FCFS it is FCFS). ``pause``
    relaxes the barrier: a worker above ``1 + pause`` times the mean load leaves requests out of the step (see
    `lbtheory.decode.engine.simulate`); for policies without forecasts.
    """

    name: ClassVar[str]
    information: ClassVar[InformationSet] = InformationSet.NOTHING
    sized: ClassVar[bool] = False
    """Whether the policy chooses requests by size (and so may leave some waiting)."""
    maximal: ClassVar[bool] = True
    """Whether the policy always admits as many requests as there are and fit."""
    pause: float | None = None
    overtake: int | None = None
    patience: int | None = None

    def reset(self, workers: int, slots: int) -> None:  # noqa: B027 (most policies keep no state)
        """Forget everything before a run."""

    def observe(self, view: View) -> None:  # noqa: B027
        """Called at every iteration before `assign` (which is called only when some request can be admitted)."""

    @abstractmethod
    def assign(self, view: View, rng: np.random.Generator) -> Assignment:
        """Assign exactly ``view.admissions`` waiting requests (by their position in the queue), fewer if not maximal."""

    def forecast_need(self) -> ForecastNeed | None:
        """Forecasts that the engine must provide, or None."""
        return None

    def compiled(self, workers: int) -> CompiledRule | None:
        """The compiled form, or None when only the plain engine can run the policy."""
        return None

    def proofs(self) -> DecisionProofs | None:
        """Of the decisions since `reset`; None for policies that do not solve a program."""
        return None


def check_choice(policy: str, name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise `ParameterError` unless ``value`` is one of ``choices``."""
    if value not in choices:
        raise ParameterError(f"`{name}` of policy {policy!r} must be one of {', '.join(map(str, choices))}; got {value!r}.")


def check_cap(policy: str, overtake: int | None, patience: int | None = None) -> None:
    """Raise `ParameterError` unless each cap is None or a whole number ≥ 0."""
    for name, cap in (("overtake", overtake), ("patience", patience)):
        if cap is not None and (isinstance(cap, bool) or not isinstance(cap, int) or not 0 <= cap < 2**62):
            raise ParameterError(
                f"`{name}` of policy {policy!r} must be none or a whole number ≥ 0 and below 2^62; got {cap!r}."
            )


def check_pause(policy: str, pause: float | None) -> None:
    """Raise `ParameterError` unless ``pause`` is None or a number from 0."""
    if pause is not None:
        check_range(policy, "pause", pause, 0.0, 1e9)


def check_range(policy: str, name: str, value: float, low: float, high: float = float("inf")) -> None:
    """Raise `ParameterError` unless ``low ≤ value ≤ high``; with a whole ``low`` the value must be whole too."""
    if isinstance(low, int) and (isinstance(value, bool) or not isinstance(value, int)):
        raise ParameterError(f"`{name}` of policy {policy!r} must be a whole number; got {value!r}.")
    if not low <= value <= high:
        span = f"at least {low}" if high == float("inf") else f"between {low} and {high}"
        raise ParameterError(f"`{name}` of policy {policy!r} must be {span}; got {value!r}.")


def view_of_instance(instance: DecodeInstance, information: InformationSet, rng: np.random.Generator) -> View:
    """The view of a single decision: nothing was admitted before, ages are unknown (taken as 0).

    Priorities are shown as tenants of those weights whose requests have waited one iteration.
    """
    waiting = instance.waiting.tolist()
    known: dict[str, Any] = {
        "loads": instance.loads.tolist(),
        "ages": [0] * instance.workers,
        "prompts": waiting,
        "prompt_mean": float(np.mean(waiting)) if waiting else 0.0,
        "forecast": Forecast(loads=instance.projected.T.tolist(), next_departure=None, leaving=None),
        "coins": rng.random((len(waiting), 3)),
    }
    return View(
        information,
        iteration=1,
        slots=int(instance.free.max()),
        admitted=0,
        free=instance.free.tolist(),
        active=instance.active.tolist(),
        order=list(range(len(waiting))),
        waited=[0 if instance.priorities is None else 1] * len(waiting),
        weights=[1] * len(waiting) if instance.priorities is None else instance.priorities.tolist(),
        **known,
    )
