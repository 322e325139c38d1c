"""Forecasts of completions: the target, the interface, and what a projection is made of.

The target is ``c_i = E[min(r_i, cap) | history]``, ``r_i`` the remaining length of a request in flight and ``cap`` the window
``H`` (decode paper, EC.4) or ``H + 1`` (ours: tells ``r = H`` from ``r > H``). There are two projections of the load of a
request, ``W_i`` tokens now, at offset ``h``:

* *cutoff* (the paper's): ``(W_i + h) · 1{h < ĉ_i}``; ``ĉ ≥ cap`` means that the request stays through the window. A cutoff at a
  mean is not the mean of cutoffs: with ``ĉ`` a little below ``H`` nearly every request vanishes together at the far end.
* *hazard* (ours): ``(W_i + h) · P̂(r_i > h)``, the expected load, for predictors that know a survival curve. Probabilities are
  whole multiples of ``2^-20``, so that sums do not depend on their order.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from lbtheory.core import SizeOverflowError

ONE = 2**20
"""Probability 1 in the fixed-point arithmetic of the hazard projection."""
MEDIAN = 726_817
"""``log 2`` in that arithmetic: a worker's next departure is put where the departures expected so far reach it."""
HAZARD_LIMIT = 2**42
"""Largest load of a worker, tokens, in that arithmetic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """Requests in flight as a predictor sees them; arrays of one length.

    ``ids`` are release indices. ``remaining`` is there for predictors that are allowed hidden lengths only.
    """

    ids: np.ndarray
    ages: np.ndarray
    prompts: np.ndarray
    keys: np.ndarray | None = None
    remaining: np.ndarray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """Every request of a stream, for a table of forecasts; ``outputs`` only for predictors that are allowed hidden lengths."""

    prompts: np.ndarray
    keys: np.ndarray | None = None
    outputs: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.prompts)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Requests that predictors and rules may learn from, in the order in which they became known.

    Attributes
    ----------
    prompts, outputs : int array (n,)
        Finished requests; keys of their prompts where known.
    keys : array (n,) or None
    running_ages, running_prompts, running_keys : array (m,) or None
        Requests still running: ``O > age``. They are censored observations; leaving them out biases lengths down.
    """

    prompts: np.ndarray
    outputs: np.ndarray
    keys: np.ndarray | None = None
    running_ages: np.ndarray | None = None
    running_prompts: np.ndarray | None = None
    running_keys: np.ndarray | None = None

    def joined(self, more: "History") -> "History":
        """This history and then ``more``; what was running is what runs in ``more``."""
        both = self.keys is not None and more.keys is not None
        return History(
            prompts=np.concatenate([self.prompts, more.prompts]),
            outputs=np.concatenate([self.outputs, more.outputs]),
            keys=np.concatenate([self.keys, more.keys]) if both else None,
            running_ages=more.running_ages,
            running_prompts=more.running_prompts,
            running_keys=more.running_keys,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastTable:
    """Forecasts by age for every request of a stream.

    Request ``i`` of age ``a`` has ``values[start[i] + a − first[i]]`` while ``first[i] ≤ a < first[i] + length[i]``, and
    otherwise the forecast that is common to all, ``values[min(a, common − 1)]``.
    """

    values: np.ndarray
    common: int
    start: np.ndarray
    first: np.ndarray
    length: np.ndarray

    def at(self, ages: np.ndarray) -> np.ndarray:
        """Forecasts at these ages, one a request."""
        place = np.asarray(ages) - self.first
        own = (place >= 0) & (place < self.length)
        return self.values[np.where(own, self.start + place, np.minimum(ages, self.common - 1))]

    @property
    def nbytes(self) -> int:
        """Memory of the table and its indices."""
        return int(self.values.nbytes + self.start.nbytes + self.first.nbytes + self.length.nbytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveTable:
    """Survival curves for every request of a stream, up to a factor each.

    ``alive[start[i] + min(a, last[i])]`` is proportional to ``P̂(O > a)`` on the request's own curve, which is used at ages
    below ``usable[i]``; at other ages it is ``alive[min(a, common − 1)]``, the curve that is common to all.
    """

    alive: np.ndarray
    common: int
    start: np.ndarray
    last: np.ndarray
    usable: np.ndarray

    def surviving(self, i: int, age: int, reach: int) -> list[int]:
        """``P̂(r_i > h)`` for ``h = 0 … reach``, in units of ``1/ONE``, rounded; one iteration is left past all history."""
        own = age < int(self.usable[i])
        start, last = (int(self.start[i]), int(self.last[i])) if own else (0, self.common - 1)
        now = int(self.alive[start + min(age, last)])
        unit = ONE / now if now else 0.0
        return [ONE, *(int(int(self.alive[start + min(age + h, last)]) * unit + 0.5) for h in range(1, reach + 1))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Projected loads of the requests in flight.

    Attributes
    ----------
    loads : list of H'+1 lists of G integers
        ``A_{g,h}`` by offset; ``H'`` is what is left of the window.
    next_departure : list of G integers or None
        First offset at which a request of the worker is forecast to leave, ``H' + 1`` when none is. Under the hazard
        projection: the first at which its expected departures reach ``log 2``.
    leaving : list of H'+1 numbers or None
        Departures forecast (or expected) at each offset, all workers together.
    """

    loads: list[list[int]]
    next_departure: list[int] | None
    leaving: list[int] | list[float] | None


class Predictor(ABC):
    """Forecasts remaining lengths."""

    name: ClassVar[str]
    oracle: ClassVar[bool] = False
    """Whether it reads hidden output lengths (a reference, not a deployable method)."""
    curves: ClassVar[bool] = False
    """Whether it knows survival curves, which the hazard projection needs."""
    refit: int = 0
    """Iterations between fits inside a simulation, 0 for none: before iteration ``1 + refit``, ``1 + 2 refit``, …"""

    @abstractmethod
    def predict(self, flight: InFlight, cap: int) -> np.ndarray:
        """``ĉ`` in [0, cap] for each request in flight, float array."""

    def finishing(self, flight: InFlight, horizon: int) -> np.ndarray:
        """``p̂_fin``: probability of ``r ≤ H``; 0 or 1 where a predictor commits itself to one length."""
        return (self.predict(flight, horizon + 1) <= horizon).astype(float)

    def table(self, requests: Requests, cap: int) -> ForecastTable | None:
        """The same forecasts tabulated by age for every request of a stream, or None when they depend on more."""
        return None

    def curve_table(self, requests: Requests) -> CurveTable | None:
        """Survival curves for every request of a stream, or None where the predictor knows none."""
        return None

    def learn(self, more: History) -> Self:
        """The same predictor fitted on its own history and then ``more``; itself where it does not learn."""
        return self


def check_hazard(tokens: int) -> None:
    """Raise `SizeOverflowError` where a worker could hold so many tokens that the hazard projection would overflow."""
    if tokens >= HAZARD_LIMIT:
        raise SizeOverflowError(
            f"`projection=hazard` needs workers of fewer than {HAZARD_LIMIT} tokens; slots × largest request is {tokens}. "
            "Scale the sizes down or take the cutoff projection."
        )
