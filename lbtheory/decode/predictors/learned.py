"""Learned: gradient-boosted trees (decode paper, EC.4.2 and EC.4.3: 200 trees of depth 3).

A classifier of ``1{r ≤ H}`` and a regressor of ``r`` on the samples with ``r ≤ H`` give

    ``ĉ = p̂ · clip(r̂, 1, H) + (1 − p̂) H``.

A historical request ``(s, o)`` gives samples at ages ``0, ΔT, 2ΔT, … < o``. Features: prompt size, age, two exponentially
weighted means of observed outputs, and mean and spread of the last inputs and outputs. They are causal: for a historical
request they leave out it and the ``lag`` requests before it, which may still have been running; inside a simulation they are
those of the last fit.
"""

from typing import Any, ClassVar

import numpy as np

from lbtheory.core import generator, whole_number
from lbtheory.decode.predictors._fitted import FittedPredictor
from lbtheory.decode.predictors.base import ForecastTable, History, InFlight

DECAYS = (0.02, 0.2)
ROLLING = 100


class Learned(FittedPredictor):
    """Gradient-boosted trees on causal features.

    Prompt sizes enter as the middle of their quantile bucket and ages as the last multiple of ``every``, in training and in
    use alike, so that all forecasts fit one table and a forecast is a look-up. Past the longest historical output the forecast
    is ``min(1, cap)``, as for Survival. A model is fitted for each window that is asked for.

    Parameters
    ----------
    history : History
        Finished requests.
    trees, depth : int
        200 and 3.
    every : int
        ``ΔT``, iterations.
    lag : int
        Requests before a historical one that its features leave out.
    buckets : int
        Prompt-size classes.
    samples : int
        Most samples to train on, spread evenly over the history.
    refit : int
        Iterations between fits inside a simulation; 0 for none.
    """

    name: ClassVar[str] = "learned"

    def __init__(
        self,
        history: History,
        *,
        trees: int = 200,
        depth: int = 3,
        every: int = 32,
        lag: int = 64,
        buckets: int = 32,
        samples: int = 100_000,
        refit: int = 0,
    ) -> None:
        super().__init__(history, refit=refit)
        own = {"trees": trees, "depth": depth, "every": every, "lag": lag, "buckets": buckets, "samples": samples}
        for name, value in own.items():
            whole_number(name, "Learned", value, 0 if name == "lag" else 1)
        self._options |= own
        self._edges = np.quantile(history.prompts, np.arange(1, buckets) / buckets)
        self._middle = np.quantile(history.prompts, (np.arange(buckets) + 0.5) / buckets)
        self._longest = int(np.max(history.outputs))
        self._models: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def classify(self, prompts: np.ndarray, keys: np.ndarray | None) -> np.ndarray:
        """Quantile bucket of the prompt."""
        return np.searchsorted(self._edges, prompts, side="right")

    def by_class(self, cap: int) -> ForecastTable:
        """One row of ages a bucket."""
        chance, remaining = self._answers(cap)
        forecast = np.clip(chance * np.clip(remaining, 1, cap) + (1 - chance) * cap, min(1, cap), cap)
        rows = np.repeat(forecast, self._options["every"], axis=1)[:, : self._longest]
        count = len(rows)
        return ForecastTable(
            values=np.concatenate([[float(min(1, cap))], rows.ravel()]),
            common=1,
            start=1 + np.arange(count) * self._longest,
            first=np.zeros(count, np.int64),
            length=np.full(count, self._longest, np.int64),
        )

    def finishing(self, flight: InFlight, horizon: int) -> np.ndarray:
        """The classifier's probability; 1 past all history."""
        chance, _ = self._answers(horizon)
        column = np.minimum(flight.ages // self._options["every"], chance.shape[1] - 1)
        own = chance[self.classify(flight.prompts, flight.keys), column]
        return np.where(flight.ages < self._longest, own, 1.0)

    def _answers(self, horizon: int) -> tuple[np.ndarray, np.ndarray]:
        """``p̂`` and ``r̂`` for each bucket and age ``0, ΔT, …``, fitted for this window; (buckets, ages) each."""
        if horizon not in self._models:
            ages = np.arange(0, self._longest, self._options["every"])
            shape = (len(self._middle), len(ages))
            last = _statistics(self.history)[-1]
            grid = np.column_stack(
                [np.repeat(self._middle, len(ages)), np.tile(ages, len(self._middle)), np.tile(last, (shape[0] * shape[1], 1))]
            )
            features, rest = self._samples()
            ends = rest <= horizon
            chance = _classified(features, ends, grid, self._options)
            remaining = _regressed(features[ends], rest[ends], grid, self._options)
            self._models[horizon] = chance.reshape(shape), remaining.reshape(shape)
        return self._models[horizon]

    def _samples(self) -> tuple[np.ndarray, np.ndarray]:
        """Features and remaining lengths of the historical requests at ages ``0, ΔT, … < o``."""
        outputs, every, lag = np.asarray(self.history.outputs), self._options["every"], self._options["lag"]
        known = _statistics(self.history)
        before = np.full_like(known, np.nan)
        before[lag + 1 :] = known[: max(0, len(known) - lag - 1)]
        counts = -(-outputs // every)
        who = np.repeat(np.arange(len(outputs)), counts)
        ages = every * (np.arange(len(who)) - np.repeat(np.cumsum(counts) - counts, counts))
        kept = np.linspace(0, len(who) - 1, min(len(who), self._options["samples"])).astype(np.int64)
        who, ages = who[kept], ages[kept]
        prompts = self._middle[self.classify(np.asarray(self.history.prompts), None)]
        return np.column_stack([prompts[who], ages, before[who]]), outputs[who] - ages


def _statistics(history: History) -> np.ndarray:
    """After each request: weighted means of outputs, rolling mean and deviation of inputs and outputs, (n, 6)."""
    import pandas as pd

    prompts, outputs = pd.Series(history.prompts, dtype=float), pd.Series(history.outputs, dtype=float)
    columns = [outputs.ewm(alpha=decay).mean() for decay in DECAYS]
    for series in (prompts, outputs):
        window = series.rolling(ROLLING, min_periods=1)
        columns += [window.mean(), window.std(ddof=0)]
    return np.column_stack(columns)


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    seed = int(generator(0, "learned").integers(2**31))  # subsampling of bin edges; the same for every fit
    return {"max_iter": options["trees"], "max_depth": options["depth"], "early_stopping": False, "random_state": seed}


def _classified(features: np.ndarray, target: np.ndarray, grid: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """Probability of the target on the grid; the constant where all samples agree."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    if target.all() or not target.any():
        return np.full(len(grid), float(target[0]))
    with threadpool_limits(1):
        return HistGradientBoostingClassifier(**_settings(options)).fit(features, target).predict_proba(grid)[:, 1]


def _regressed(features: np.ndarray, target: np.ndarray, grid: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """Remaining length on the grid; its value matters only where the probability of finishing is positive."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    if len(target) < 2:
        return np.full(len(grid), float(target[0]) if len(target) else 1.0)
    with threadpool_limits(1):
        return HistGradientBoostingRegressor(**_settings(options)).fit(features, target).predict(grid)
