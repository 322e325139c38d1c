"""Step-time model: ``t_fixed + t_token · max_g L_g + t_mean · mean_g L_g`` seconds an iteration.

The last term is for work that every worker shares; 0 by default. The defaults are the calibration of the decode paper's Table 3
on its JSQ rows.
"""

from dataclasses import dataclass
from math import isfinite

from lbtheory.core import ParameterError


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """Coefficients of the step time, seconds and seconds a token; finite, not negative, ``t_fixed + t_token > 0``."""

    t_fixed: float = 0.0523
    t_token: float = 3.9e-7
    t_mean: float = 0.0

    def __post_init__(self) -> None:
        for name in ("t_fixed", "t_token", "t_mean"):
            value = getattr(self, name)
            if not isfinite(value) or value < 0:
                raise ParameterError(f"`{name}` of `StepTime` must be finite and ≥ 0 seconds; got {value}.")
        if self.t_fixed + self.t_token == 0:
            raise ParameterError("`t_fixed` and `t_token` of `StepTime` must not both be 0: the clock would stand still.")
