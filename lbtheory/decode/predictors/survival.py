"""Survival: forecasts from the empirical distribution of output lengths (decode paper, EC.4.2)."""

from typing import ClassVar

import numpy as np

from lbtheory.core import ParameterError
from lbtheory.decode.predictors.base import ForecastTable, History, InFlight, Predictor


class Survival(Predictor):
    """Marginal survival forecasts.

    With ``N(a)`` the number of historical outputs above ``a``, a request of age ``a`` has

        ``ĉ(a) = Σ_{j=0}^{cap−1} N(a + j) / N(a)``,   ``P̂(finishes within H) = 1 − N(a + H)/N(a)``,

    and ``ĉ = min(1, cap)`` past all history. Sums are kept as integers, so a request that no historical one of its age left
    within the window has ``ĉ = cap`` exactly. ``O(n log n)`` to fit, ``O(1)`` a query.

    Parameters
    ----------
    history : History
        Training requests; only the outputs are used.
    """

    name: ClassVar[str] = "survival"

    def __init__(self, history: History) -> None:
        if len(history.outputs) == 0:
            raise ParameterError("`history` of `Survival` must hold at least one finished request; got none.")
        outputs = np.asarray(history.outputs, dtype=np.int64)
        above = len(outputs) - np.cumsum(np.bincount(outputs))
        self._above = above  # N(a) for a = 0 … longest output; the last entry is 0
        self._sums = np.concatenate([[0], np.cumsum(above)])

    def predict(self, flight: InFlight, cap: int) -> np.ndarray:
        """``ĉ`` by age."""
        values = self.by_age(cap)
        return values[np.minimum(flight.ages, len(values) - 1)]

    def by_age(self, cap: int) -> np.ndarray:
        """``ĉ(a)`` for ``a = 0 … longest historical output``, float array."""
        ages = np.arange(len(self._above))
        total = self._sums[np.minimum(ages + cap, len(self._above))] - self._sums[ages]
        return np.where(self._above > 0, total / np.maximum(self._above, 1), float(min(1, cap)))

    def finishing(self, ages: np.ndarray, horizon: int) -> np.ndarray:
        """``p̂_fin = (F̂(a+H) − F̂(a)) / (1 − F̂(a))``, 1 past all history."""
        above = np.append(self._above, 0)
        now = above[np.minimum(ages, len(above) - 1)]
        then = above[np.minimum(np.asarray(ages) + horizon, len(above) - 1)]
        return np.where(now > 0, 1 - then / np.maximum(now, 1), 1.0)

    def table(self, prompts: np.ndarray, keys: np.ndarray | None, cap: int) -> ForecastTable:
        """One table for all requests."""
        values = self.by_age(cap)
        n = len(prompts)
        return ForecastTable(values=values, start=np.zeros(n, np.int64), length=np.full(n, len(values), np.int64))
