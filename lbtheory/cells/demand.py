"""How demand varies over time, the same at every root: ramps, daily waves, arrivals that gather at the start of each minute."""

from dataclasses import dataclass
from math import isfinite

import numpy as np

from lbtheory.core import ParameterError

Array = np.ndarray
MINUTE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """``factor(t) = ramp(t) (1 + wave sin(2π t/period)) (1 − gathered + gathered (60/width) 1{t mod 60 < width})``.

    Without a ramp its mean is 1.

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
    ramp_from, ramp_start, ramp_end : float
        ``ramp(t)``: ``ramp_from`` ≥ 0 until ``ramp_start``, then linear to 1 at ``ramp_end``, seconds (equal: a step).
    """

    wave: float = 0.0
    period: float = 86_400.0
    gathered: float = 0.0
    width: float = 2.0
    ramp_from: float = 1.0
    ramp_start: float = 0.0
    ramp_end: float = 0.0

    def __post_init__(self) -> None:
        ranges = {"wave": 0 <= self.wave < 1, "gathered": 0 <= self.gathered <= 1, "width": 0 < self.width <= MINUTE}
        ranges["period"] = self.period > 0 and isfinite(self.period)
        ranges["ramp_from"] = self.ramp_from >= 0 and isfinite(self.ramp_from)
        ranges["ramp_start"] = self.ramp_start >= 0 and isfinite(self.ramp_start)
        ranges["ramp_end"] = self.ramp_end >= self.ramp_start and isfinite(self.ramp_end)
        for name, ok in ranges.items():
            if not ok:
                raise ParameterError(
                    f"`{name}` of `Demand` is out of its range (see its documentation); got {getattr(self, name)!r}."
                )

    @property
    def largest(self) -> float:
        """An upper bound of the factor."""
        return max(1.0, self.ramp_from) * (1 + self.wave) * (1 - self.gathered + self.gathered * MINUTE / self.width)

    def factor(self, t: Array) -> Array:
        """At times ``t``, seconds."""
        gathered = np.where(t % MINUTE < self.width, MINUTE / self.width, 0.0)
        ramp = np.interp(t, [self.ramp_start, self.ramp_end], [self.ramp_from, 1.0]) if self.ramp_from != 1 else 1.0
        wave = 1 + self.wave * np.sin(2 * np.pi * t / self.period)
        factor: Array = ramp * wave * (1 - self.gathered + self.gathered * gathered)
        return factor


STEADY = Demand()
