"""LEVEL-H+: LEVEL+ on loads projected to each worker's own next departure (``level.md``; ours, empirical)."""

from dataclasses import dataclass, field
from typing import ClassVar

from lbtheory.decode.policies._balance import powers
from lbtheory.decode.policies._levelling import projected_levels
from lbtheory.decode.policies.base import ForecastNeed, InformationSet, View, check_projection, check_range, window_need
from lbtheory.decode.policies.level_plus import LevelPlus
from lbtheory.decode.predictors import Oracle, Predictor


@dataclass(slots=True, kw_only=True)
class LevelH(LevelPlus):
    """``E_g`` = mean load + ``γ^h``-weighted mean of ``A_{g,h} − mean_g A_{g,h}`` before ``g``'s own next departure.

    Later deviations can be corrected by the refill; looking past it hurts when prompt sizes are spread. Forecasts are of
    ``min(r, H + 1)``, refreshed every iteration.

    Options (beside those of LEVEL+)
    --------------------------------
    gamma, horizon, predictor
    projection : cutoff | hazard
        As for BR-H. Under the hazard projection the next departure is put where the worker's expected departures reach
        ``log 2``, the median of the first of many rare ones.
    """

    name: ClassVar[str] = "level-h"
    gamma: float = 0.97
    horizon: int = 150
    predictor: Predictor = field(default_factory=Oracle)
    projection: str = "cutoff"
    information: ClassVar[InformationSet] = LevelPlus.information | InformationSet.FORECAST

    def __post_init__(self) -> None:
        LevelPlus.__post_init__(self)
        check_range(self.name, "gamma", self.gamma, 1e-9, 1.0)
        check_range(self.name, "horizon", self.horizon, 1, 100_000)
        check_projection(self.name, self.projection, self.predictor)

    @property
    def window_weights(self) -> list[float]:
        """``γ^h``."""
        return powers(self.gamma, self.horizon)

    def levels(self, view: View) -> list[float]:
        """Projected ``E_g``."""
        return projected_levels(view, self.window_weights, self.settings()[2])

    def forecast_need(self) -> ForecastNeed | None:
        """Forecasts over the window, every iteration."""
        return window_need(self.predictor, self.horizon, 1, "iteration", self.projection)
