"""ExactMatch: survival forecasts from the requests that share a key (decode paper, EC.4.2)."""

from typing import ClassVar

import numpy as np

from lbtheory.core import ParameterError, whole_number
from lbtheory.decode.predictors._fitted import FittedPredictor, check_estimate
from lbtheory.decode.predictors.base import CurveTable, ForecastTable, History, InFlight, Requests
from lbtheory.decode.predictors.curves import Curve, estimated
from lbtheory.decode.predictors.survival import Survival

KEYS = ("hash", "prompt")


class ExactMatch(FittedPredictor):
    """The forecasts of Survival with the lengths of requests that share a key.

    A request with no matching key has exactly Survival's forecast. So has a request at ages that fewer than ``minimum``
    matching ones reached (ours: the paper falls back where there is no match, and does not say what happens past the longest).

    Parameters
    ----------
    history : History
    key : hash | prompt
        Prompt hash, or prompt-size class: the quantile bucket of the historical prompts.
    minimum : int
        Matching requests that must have reached an age; 3 by default. 1 trusts a single earlier length.
    buckets : int
        Prompt-size classes.
    estimate, refit
        As for Survival.
    """

    name: ClassVar[str] = "exact-match"
    curves: ClassVar[bool] = True

    def __init__(
        self,
        history: History,
        *,
        key: str = "hash",
        minimum: int = 3,
        buckets: int = 16,
        estimate: str = "empirical",
        refit: int = 0,
    ) -> None:
        super().__init__(history, refit=refit)
        if key not in KEYS:
            raise ParameterError(f"`key` of `ExactMatch` must be one of {', '.join(KEYS)}; got {key!r}.")
        whole_number("minimum", "ExactMatch", minimum, 1)
        whole_number("buckets", "ExactMatch", buckets, 1)
        check_estimate("ExactMatch", estimate)
        self._options |= {"key": key, "minimum": minimum, "buckets": buckets, "estimate": estimate}
        self.marginal = Survival(history, estimate=estimate)
        self._key = key
        self._edges = np.quantile(history.prompts, np.arange(1, buckets) / buckets)
        outputs = np.asarray(history.outputs, dtype=np.int64)
        own = self._keys(np.asarray(history.prompts), history.keys)
        running, running_own = history.running_ages, None
        if running is not None and history.running_prompts is not None:
            running_own = self._keys(history.running_prompts, history.running_keys)
        self._known = np.zeros(0, np.int64) if own is None else _frequent(own, minimum)
        groups = [] if own is None else _grouped(own, self._known, outputs)
        censored: list[np.ndarray | None] = [None] * len(groups)
        if running is not None and running_own is not None:
            censored = list(_grouped(running_own, self._known, running))
        self._curves = [estimated(estimate, o, r) for o, r in zip(groups, censored, strict=True)]
        self._usable = [_reached(o, r, minimum, c) for o, r, c in zip(groups, censored, self._curves, strict=True)]

    @property
    def matched(self) -> int:
        """Keys with a history of their own."""
        return len(self._known)

    def classify(self, prompts: np.ndarray, keys: np.ndarray | None) -> np.ndarray:
        """Place among the known keys, −1 where there is no match."""
        own = self._keys(prompts, keys)
        if own is None or len(self._known) == 0:
            return np.full(len(prompts), -1, np.int64)
        place = np.minimum(np.searchsorted(self._known, own), len(self._known) - 1)
        return np.where(self._known[place] == own, place, -1)

    def by_class(self, cap: int) -> ForecastTable:
        """Survival's forecasts, then those of each key at the ages that enough matching requests reached."""
        common = self.marginal.curve.by_age(cap)
        parts = [curve.by_age(cap)[:n] for curve, n in zip(self._curves, self._usable, strict=True)]
        length = np.array(self._usable, np.int64)
        return ForecastTable(
            values=np.concatenate([common, *parts]),
            common=len(common),
            start=len(common) + np.cumsum(length) - length,
            first=np.zeros(len(length), np.int64),
            length=length,
        )

    def finishing(self, flight: InFlight, horizon: int) -> np.ndarray:
        """``p̂_fin`` on the key's curve where it is used, else on Survival's."""
        result = self.marginal.finishing(flight, horizon)
        own = self.classify(flight.prompts, flight.keys)
        for j in np.unique(own[own >= 0]):
            here = (own == j) & (flight.ages < self._usable[j])
            result[here] = self._curves[j].finishing(flight.ages[here], horizon)
        return result

    def curve_table(self, requests: Requests) -> CurveTable:
        """Survival's curve, then those of the keys."""
        common, own = self.marginal.curve.alive, self.classify(requests.prompts, requests.keys)
        sizes = np.array([len(c.alive) for c in self._curves], np.int64)
        start = np.append(len(common) + np.cumsum(sizes) - sizes, 0)
        return CurveTable(
            alive=np.concatenate([common, *(c.alive for c in self._curves)]),
            common=len(common),
            start=start[own],
            last=np.append(sizes - 1, 0)[own],
            usable=np.append(np.array(self._usable, np.int64), 0)[own],
        )

    def _keys(self, prompts: np.ndarray, keys: np.ndarray | None) -> np.ndarray | None:
        return keys if self._key == "hash" else np.searchsorted(self._edges, prompts, side="right")


def _frequent(keys: np.ndarray, minimum: int) -> np.ndarray:
    """Keys with at least so many requests, sorted."""
    known, counts = np.unique(keys, return_counts=True)
    return known[counts >= minimum]


def _grouped(keys: np.ndarray, known: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    """The values of each known key."""
    order = np.argsort(keys, kind="stable")
    ordered, sorted_values = keys[order], values[order]
    low, high = np.searchsorted(ordered, known, "left"), np.searchsorted(ordered, known, "right")
    return [sorted_values[a:b] for a, b in zip(low, high, strict=True)]


def _reached(outputs: np.ndarray, running: np.ndarray | None, minimum: int, curve: Curve) -> int:
    """Ages ``0 … m − 1`` that at least ``minimum`` requests outlived (or are still running past), with a curve above 0."""
    longer = np.sort(outputs if running is None else np.concatenate([outputs, running + 1]))
    enough = int(longer[len(longer) - minimum]) if len(longer) >= minimum else 0
    return min(enough, int(np.count_nonzero(curve.alive)))
