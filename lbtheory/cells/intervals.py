"""Bootstrap intervals over scenarios, and published statements of a direction tried against them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, generator

RESAMPLES = 2000
LEVEL = 0.95
STATEMENT_COLUMNS = {
    "statement": "published statement",
    "quantity": "quantity, mean over scenarios",
    "wanted": "agrees if",
    "ours": "ours",
    "low": "low",
    "high": "high",
    "verdict": "verdict",
}
"""Headings of a table of `Direction.as_row`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean over scenarios with its percentile bootstrap interval."""

    mean: float
    low: float
    high: float


def bootstrap(values: Any, *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0) -> Interval:
    """Mean and percentile bootstrap interval of one value a scenario.

    Parameters
    ----------
    values : array_like (m,)
        Finite, at least one.
    level : float
    resamples : int
    seed : int

    Raises
    ------
    ParameterError
    """
    sample = np.asarray(values, dtype=float)
    if sample.ndim != 1 or not len(sample) or not np.isfinite(sample).all():
        raise ParameterError(f"`values` of `bootstrap` must hold finite numbers, at least one; got {values!r}.")
    picks = generator(seed, "bootstrap", len(sample)).integers(0, len(sample), (resamples, len(sample)))
    means = sample[picks].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(mean=float(sample.mean()), low=float(low), high=float(high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """A published statement that a quantity lies below (or above) a bound, and the quantity scenario by scenario.

    The verdict: *agrees* when the whole interval does, *disagrees* when the whole interval lies on the other side, else
    *inconclusive*.
    """

    text: str
    quantity: str
    interval: Interval
    bound: float
    below: bool

    @property
    def verdict(self) -> str:
        """``agrees``, ``disagrees`` or ``inconclusive``."""
        low, high = self.interval.low - self.bound, self.interval.high - self.bound
        if not self.below:
            low, high = -high, -low
        return "agrees" if high < 0 else "disagrees" if low > 0 else "inconclusive"

    def as_row(self) -> dict[str, Any]:
        """For a table."""
        return {
            "statement": self.text,
            "quantity": self.quantity,
            "wanted": f"{'<' if self.below else '>'} {self.bound:g}",
            "ours": self.interval.mean,
            "low": self.interval.low,
            "high": self.interval.high,
            "verdict": self.verdict,
        }


def direction(text: str, quantity: str, values: Any, bound: float, *, below: bool = True) -> Direction:
    """A `Direction` from one value a scenario."""
    return Direction(text=text, quantity=quantity, interval=bootstrap(values), bound=bound, below=below)
