"""Published statements tried: does what was published agree with what was reproduced?

A published figure from one replay on hardware is one draw without an interval. So a verdict allows for its own spread, which is
not known: `ALLOWANCE` of its value either way, on top of the reproduced 95 % interval.

- *agrees*: the published value lies within the reproduced interval widened by the allowance;
- *disagrees*: it lies outside the interval widened by twice the allowance;
- *inconclusive*: in between, or where nothing was published or no interval was reproduced.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

ALLOWANCE = 0.1
VERDICTS = ("agrees", "disagrees", "inconclusive")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What was published, and the reproduced value with its interval (None where there is none)."""

    text: str
    published: float
    reproduced: float
    low: float | None
    high: float | None

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`."""
        if self.low is None or self.high is None or not all(x == x for x in (self.published, self.low, self.high)):
            return "inconclusive"
        room = ALLOWANCE * abs(self.published)
        distance = max(self.low - self.published, self.published - self.high, 0.0)
        return "agrees" if distance <= room else "disagrees" if distance > 2 * room else "inconclusive"

    def as_row(self) -> dict[str, Any]:
        """For a table."""
        return {
            "statement": self.text,
            "published": self.published,
            "reproduced": self.reproduced,
            "low": self.low,
            "high": self.high,
            "verdict": self.verdict,
        }


def published_ratios(rows: "pd.DataFrame", name: Callable[[Any], str]) -> list[dict[str, Any]]:
    """Ratios of mean imbalance to JSQ's that were published, as fields of `Statement`.

    Parameters
    ----------
    rows : DataFrame
        Columns ``published_ratio`` (NaN where nothing was published), ``ratio`` and its half-width ``ratio_half``.
    name : callable
        What a row, as a named tuple, is about.
    """
    return [
        {
            "text": f"{name(row)}: mean imbalance, JSQ ÷ method",
            "published": row.published_ratio,
            "reproduced": row.ratio,
            "low": row.ratio - row.ratio_half,
            "high": row.ratio + row.ratio_half,
        }
        for row in rows[rows["published_ratio"].notna()].itertuples()
    ]
