"""Survival: forecasts from the distribution of output lengths (decode paper, EC.4.2)."""

from typing import ClassVar

import numpy as np

from lbtheory.decode.predictors._fitted import FittedPredictor, check_estimate
from lbtheory.decode.predictors.base import CurveTable, ForecastTable, History, InFlight, Requests
from lbtheory.decode.predictors.curves import estimated


class Survival(FittedPredictor):
    """Marginal survival forecasts.

    With ``Ŝ(a)`` the estimate of ``P(O > a)``, a request of age ``a`` has

        ``ĉ(a) = Σ_{j=0}^{cap−1} Ŝ(a + j) / Ŝ(a)``,   ``P̂(finishes within H) = 1 − Ŝ(a + H)/Ŝ(a)``,

    and ``ĉ = min(1, cap)`` past all history. ``O(n log n)`` to fit, ``O(1)`` a query.

    Parameters
    ----------
    history : History
        Only output lengths are used.
    estimate : empirical | product-limit
        The latter counts requests that still run as censored; it matters where a predictor learns inside a run.
    refit : int
        Iterations between fits inside a simulation; 0 for none.
    """

    name: ClassVar[str] = "survival"
    curves: ClassVar[bool] = True

    def __init__(self, history: History, *, estimate: str = "empirical", refit: int = 0) -> None:
        super().__init__(history, refit=refit)
        check_estimate("Survival", estimate)
        self._options |= {"estimate": estimate}
        self.curve = estimated(estimate, np.asarray(history.outputs, dtype=np.int64), history.running_ages)

    def classify(self, prompts: np.ndarray, keys: np.ndarray | None) -> np.ndarray:
        """One class, common to all."""
        return np.full(len(prompts), -1, np.int64)

    def by_class(self, cap: int) -> ForecastTable:
        """One table for all requests."""
        values, none = self.curve.by_age(cap), np.zeros(0, np.int64)
        return ForecastTable(values=values, common=len(values), start=none, first=none, length=none)

    def finishing(self, flight: InFlight, horizon: int) -> np.ndarray:
        """``p̂_fin`` by age."""
        return self.curve.finishing(flight.ages, horizon)

    def curve_table(self, requests: Requests) -> CurveTable:
        """One curve for all requests."""
        none = np.zeros(len(requests), np.int64)
        return CurveTable(alive=self.curve.alive, common=len(self.curve.alive), start=none, last=none, usable=none)
