"""Noisy oracle: the remaining length times a lognormal error (ours: a knob between the oracle and no knowledge)."""

from math import isfinite
from typing import ClassVar

import numpy as np

from lbtheory.core import ParameterError, generator, whole_number
from lbtheory.decode.predictors.base import ForecastTable, InFlight, Predictor, Requests


class NoisyOracle(Predictor):
    """``ĉ = min(max(1, round(r e^{σ Z_i})), cap)``, ``Z_i`` standard normal, drawn once a request.

    Every request carries its error for life, so forecasts of one request agree with each other and tend to the truth as it
    ends. ``σ = 0`` is the oracle.

    Parameters
    ----------
    error : float
        ``σ`` in [0, 10].
    seed : int
        Of the errors.
    """

    name: ClassVar[str] = "noisy"
    oracle: ClassVar[bool] = True

    def __init__(self, *, error: float = 0.5, seed: int = 0) -> None:
        if not isfinite(error) or not 0 <= error <= 10:
            raise ParameterError(f"`error` of `NoisyOracle` must be between 0 and 10; got {error}.")
        self.error, self.seed = error, whole_number("seed", "NoisyOracle", seed, 0)
        self._factors = np.zeros(0)

    def predict(self, flight: InFlight, cap: int) -> np.ndarray:
        """The noisy remaining length, capped."""
        assert flight.remaining is not None
        if len(flight.ids) == 0:
            return np.zeros(0)
        return _capped(flight.remaining, self.factors(int(flight.ids.max()) + 1)[flight.ids], cap)

    def table(self, requests: Requests, cap: int) -> ForecastTable:
        """A request's own entries cover the ages at which its forecast can be below the cap."""
        assert requests.outputs is not None
        factors = self.factors(len(requests))
        length = np.minimum(requests.outputs, np.ceil(cap / factors) + 1).astype(np.int64)
        ends = 1 + np.cumsum(length)
        remaining = np.repeat(ends, length) - np.arange(1, ends[-1])
        return ForecastTable(
            values=np.concatenate([[float(cap)], _capped(remaining, np.repeat(factors, length), cap)]),
            common=1,
            start=ends - length,
            first=requests.outputs - length,
            length=length,
        )

    def factors(self, n: int) -> np.ndarray:
        """``e^{σ Z_i}`` of the first ``n`` requests; the draws of a longer stream begin with those of a shorter one."""
        if len(self._factors) < n:
            self._factors = np.exp(self.error * generator(self.seed, "noisy oracle").standard_normal(max(n, 4096)))
        return self._factors[:n]


def _capped(remaining: np.ndarray, factors: np.ndarray, cap: int) -> np.ndarray:
    return np.minimum(np.maximum(np.rint(remaining * factors), 1.0), float(cap))
