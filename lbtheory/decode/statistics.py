"""Confidence intervals of long-run means from one run: batch means, also paired between two runs.

A run after its warm-up is cut into equal batches of consecutive iterations; batch means are treated as independent and normal
(Law and Kelton, Simulation Modeling and Analysis, 3rd ed., 2000, section 9.5.3). Ratios of means use the linearised residual
``x_j − r y_j`` of paired batches.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from lbtheory.core import ParameterError

BATCHES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean with a confidence interval; ``low`` and ``high`` are None where too few values came."""

    mean: float
    low: float | None
    high: float | None

    def as_json(self) -> dict[str, float | list[float] | None]:
        """``{"mean", "ci": [low, high]}``; ``ci`` is null without an interval."""
        return {"mean": self.mean, "ci": None if self.low is None or self.high is None else [self.low, self.high]}


def batch_count(length: int) -> int:
    """32 batches, fewer for runs of under 64 iterations (at least two iterations a batch), 0 below 4 iterations."""
    return min(BATCHES, length // 2) if length >= 4 else 0


def batch_means(values: np.ndarray, level: float) -> Estimate:
    """Mean of a stationary series with its batch-means interval at ``level``."""
    check_level(level)
    mean, batches = float(np.mean(values)), batch_count(len(values))
    if batches == 0:
        return Estimate(mean=mean, low=None, high=None)
    half = _half_width(_cut(values, batches), level)
    return Estimate(mean=mean, low=mean - half, high=mean + half)


def paired_difference(first: np.ndarray, second: np.ndarray, level: float) -> Estimate:
    """``mean(first) − mean(second)``; the runs are paired batch by batch in order of progress."""
    check_level(level)
    mean, batches = float(np.mean(first)) - float(np.mean(second)), _common(first, second)
    if batches == 0:
        return Estimate(mean=mean, low=None, high=None)
    half = _half_width(_cut(first, batches) - _cut(second, batches), level)
    return Estimate(mean=mean, low=mean - half, high=mean + half)


def paired_ratio(first: np.ndarray, second: np.ndarray, level: float) -> Estimate | None:
    """``mean(first) / mean(second)``; None where the second mean is 0."""
    check_level(level)
    below = float(np.mean(second))
    if below == 0:
        return None
    ratio, batches = float(np.mean(first)) / below, _common(first, second)
    if batches == 0:
        return Estimate(mean=ratio, low=None, high=None)
    half = _half_width((_cut(first, batches) - ratio * _cut(second, batches)) / below, level)
    return Estimate(mean=ratio, low=ratio - half, high=ratio + half)


def check_level(level: float) -> None:
    """Raise `ParameterError` unless ``0 < level < 1``."""
    if not 0 < level < 1:
        raise ParameterError(f"`level` must be between 0 and 1, for example 0.95; got {level}.")


def _common(first: np.ndarray, second: np.ndarray) -> int:
    return min(batch_count(len(first)), batch_count(len(second)))


def _cut(values: np.ndarray, batches: int) -> np.ndarray:
    return np.array([part.mean() for part in np.array_split(np.asarray(values, float), batches)])


def _half_width(means: np.ndarray, level: float) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, len(means) - 1) * means.std(ddof=1) / sqrt(len(means)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponent:
    """Slope of ``log y`` on ``log x`` with its interval, and how well a line fits.

    Attributes
    ----------
    slope, low, high : float
    misfit : float
        ``sqrt(χ²/(m − 2))``: about 1 where a power law explains the points within their own intervals.
    """

    slope: float
    low: float
    high: float
    misfit: float


def fitted_exponent(x: np.ndarray, y: np.ndarray, low: np.ndarray, high: np.ndarray, level: float = 0.95) -> Exponent:
    """Weighted least squares of ``log y`` on ``log x``; weights from the points' intervals at ``level``.

    The interval of the slope is widened by the misfit where that is above 1, so it stays honest when there is no power law.

    Raises
    ------
    ParameterError
        Fewer than three points, or values that are not positive.
    """
    check_level(level)
    arrays = [np.asarray(values, float) for values in (x, y, low, high)]
    if len(arrays[0]) < 3 or any(not np.all(values > 0) for values in arrays):
        raise ParameterError("`fitted_exponent` needs at least three points with positive values and intervals.")
    place, value, bottom, top = (np.log(values) for values in arrays)
    from scipy.stats import norm

    quantile = norm.ppf((1 + level) / 2)
    error = np.maximum((top - bottom) / (2 * quantile), 1e-12)
    weight = 1 / error**2
    centre = weight @ place / weight.sum()
    spread = weight @ (place - centre) ** 2
    slope = float(weight @ ((place - centre) * value) / spread)
    offset = weight @ value / weight.sum() - slope * centre
    misfit = sqrt(float(weight @ (value - offset - slope * place) ** 2) / (len(place) - 2))
    half = quantile * max(1.0, misfit) / sqrt(spread)
    return Exponent(slope=slope, low=float(slope - half), high=float(slope + half), misfit=misfit)
