"""How demand varies over time, the same at every root: daily waves and arrivals that gather at the start of each minute."""

from dataclasses import dataclass
from math import isfinite

import numpy as np

from lbtheory.core import ParameterError

Array = np.ndarray
MINUTE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """``factor(t) = (1 + wave sin(2π t/period)) · (1 − gathered + gathered · (60/width) 1{t mod 60 < width})``, of mean 1.

    Parameters
    ----------
    wave : float
        In [0, 1): amplitude of the daily wave.
    period : float
        Of the wave, seconds; a day by default.
    gathered : float
        In [0, 1]: share of the arrivals that come within ``width`` seconds of the start of a minute.
    width : float
        In (0, 60].
    """

    wave: float = 0.0
    period: float = 86_400.0
    gathered: float = 0.0
    width: float = 2.0

    def __post_init__(self) -> None:
        ranges = {"wave": 0 <= self.wave < 1, "gathered": 0 <= self.gathered <= 1, "width": 0 < self.width <= MINUTE}
        ranges["period"] = self.period > 0 and isfinite(self.period)
        for name, ok in ranges.items():
            if not ok:
                raise ParameterError(
                    f"`{name}` of `Demand` is out of its range (see its documentation); got {getattr(self, name)!r}."
                )

    @property
    def largest(self) -> float:
        """An upper bound of the factor."""
        return (1 + self.wave) * (1 - self.gathered + self.gathered * MINUTE / self.width)

    def factor(self, t: Array) -> Array:
        """At times ``t``, seconds."""
        gathered = np.where(t % MINUTE < self.width, MINUTE / self.width, 0.0)
        return (1 + self.wave * np.sin(2 * np.pi * t / self.period)) * (1 - self.gathered + self.gathered * gathered)


STEADY = Demand()
