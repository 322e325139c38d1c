"""What predictors share that learn from a history and forecast by a class of requests and their age."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from lbtheory.core import ParameterError, whole_number
from lbtheory.decode.predictors.base import ForecastTable, History, InFlight, Predictor, Requests
from lbtheory.decode.predictors.curves import ESTIMATES


class FittedPredictor(Predictor):
    """Fitted on a history; the forecast of a request depends on its class and its age.

    Subclasses give the class of a request (−1 for none) and the forecasts by class; both are made once and looked up.
    """

    def __init__(self, history: History, *, refit: int = 0) -> None:
        name = type(self).__name__
        if len(history.outputs) == 0:
            raise ParameterError(f"`history` of `{name}` must hold at least one finished request; got none.")
        self.history, self.refit = history, whole_number("refit", name, refit, 0)
        self._options: dict[str, Any] = {"refit": refit}
        self._made: dict[int, ForecastTable] = {}

    @abstractmethod
    def classify(self, prompts: np.ndarray, keys: np.ndarray | None) -> np.ndarray:
        """Class of each request, −1 for the common forecast."""

    @abstractmethod
    def by_class(self, cap: int) -> ForecastTable:
        """Forecasts of each class (instead of each request)."""

    def learn(self, more: History) -> Self:
        """Fit anew on the history and ``more``, with the same options."""
        return type(self)(self.history.joined(more), **self._options)

    def table(self, requests: Requests, cap: int) -> ForecastTable:
        """Spread the classes over the requests."""
        if cap not in self._made:
            self._made[cap] = self.by_class(cap)
        made, own = self._made[cap], self.classify(requests.prompts, requests.keys)
        if len(made.start) == 0:
            none = np.zeros(len(requests), np.int64)
            return ForecastTable(values=made.values, common=made.common, start=none, first=none, length=none)
        return ForecastTable(
            values=made.values,
            common=made.common,
            start=made.start[own],
            first=made.first[own],
            length=np.where(own >= 0, made.length[own], 0),
        )

    def predict(self, flight: InFlight, cap: int) -> np.ndarray:
        """Look up."""
        return self.table(Requests(prompts=flight.prompts, keys=flight.keys), cap).at(flight.ages)


def check_estimate(function: str, estimate: str) -> None:
    """Raise `ParameterError` unless the estimate is known."""
    if estimate not in ESTIMATES:
        raise ParameterError(f"`estimate` of `{function}` must be one of {', '.join(ESTIMATES)}; got {estimate!r}.")
