"""Forecasts of completions: the target, the interface, and projected loads.

The target is ``c_i = E[min(r_i, cap) | history]``, ``r_i`` the remaining length of a request in flight and ``cap`` the window
``H`` (decode paper, EC.4) or ``H + 1`` (ours: tells ``r = H`` from ``r > H``). A request with forecast ``ĉ`` is projected as
``(W_i + h)`` for offsets ``h < ĉ`` and 0 after; ``ĉ ≥ cap`` means that it stays through the window.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """Requests in flight as a predictor sees them; arrays of one length.

    ``remaining`` is there for the oracle only. ``finished_prompts`` and ``finished_outputs`` hold the requests that have
    finished so far in order of completion, for predictors that learn while they run.
    """

    ages: np.ndarray
    prompts: np.ndarray
    keys: np.ndarray | None
    remaining: np.ndarray | None
    finished_prompts: np.ndarray
    finished_outputs: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Finished requests that predictors and rules may learn from: prompts, outputs and prompt keys (n,)."""

    prompts: np.ndarray
    outputs: np.ndarray
    keys: np.ndarray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastTable:
    """Forecasts by age: request ``i`` of age ``a`` has ``values[start[i] + min(a, length[i] − 1)]``."""

    values: np.ndarray
    start: np.ndarray
    length: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Projected loads of the requests in flight.

    Attributes
    ----------
    loads : list of H'+1 lists of G integers
        ``A_{g,h}`` by offset; ``H'`` is what is left of the window.
    next_departure : list of G integers or None
        First offset at which a request of the worker is forecast to leave, ``H' + 1`` when none is.
    leaving : list of H'+1 integers or None
        Departures forecast at each offset, all workers together.
    """

    loads: list[list[int]]
    next_departure: list[int] | None
    leaving: list[int] | None


class Predictor(ABC):
    """Forecasts remaining lengths."""

    name: ClassVar[str]
    oracle: ClassVar[bool] = False
    """Whether it reads hidden output lengths (a reference, not a deployable method)."""

    @abstractmethod
    def predict(self, flight: InFlight, cap: int) -> np.ndarray:
        """``ĉ`` in [0, cap] for each request in flight, float array."""

    def table(self, prompts: np.ndarray, keys: np.ndarray | None, cap: int) -> ForecastTable | None:
        """The same forecasts tabulated by age for every request of a stream, or None when they depend on more."""
        return None
