"""BR-H: BalanceRoute over a short projection (decode paper, section 5.2). A fast search for IO_H."""

from dataclasses import dataclass, field
from typing import ClassVar

from lbtheory.core import ParameterError
from lbtheory.decode.policies._balance import SCORES, BalancePolicy
from lbtheory.decode.policies.base import REFRESHES, ForecastNeed, check_choice, check_projection, check_range, window_need
from lbtheory.decode.predictors import Oracle, Predictor


@dataclass(slots=True, kw_only=True)
class BrH(BalancePolicy):
    """Score ``(Σ_h γ^h) b − β Σ_h γ^h (b − m_{g,h})_+``; published settings ``(β, γ)``: (43, 0.86) and (14.67, 0.64).

    Options
    -------
    beta, gamma, horizon
        ``β`` (default: ``G``), ``γ``, ``H``.
    score : simplified | exact
        The exact form ``Σ_h γ^h [b_h − G (b_h − m_h)_+]``, ``b_h = Σ (S_i + h)``, has ``β = G``.
    refresh : window | iteration
        Forecasts every ``H`` iterations (the paper's rule: the window shrinks in between), or every iteration.
    cap : H or H + 1, given as 0 or 1
        0: forecasts of ``min(r, H)`` as in the paper; 1: of ``min(r, H + 1)``, which tells ``r = H`` from ``r > H``.
    predictor : Predictor
        Oracle by default.
    projection : cutoff | hazard
        A request is projected up to its forecast (the paper's), or with its survival probabilities (ours; forecasts are then
        made anew in every iteration).
    """

    name: ClassVar[str] = "brh"
    beta: float | None = None
    gamma: float = 0.86
    horizon: int = 80
    score: str = "simplified"
    refresh: str = "window"
    cap: int = 0
    predictor: Predictor = field(default_factory=Oracle)
    projection: str = "cutoff"

    def __post_init__(self) -> None:
        BalancePolicy.__post_init__(self)
        if self.beta is not None:
            check_range(self.name, "beta", self.beta, 0.0, 1e12)
        check_range(self.name, "gamma", self.gamma, 1e-9, 1.0)
        check_range(self.name, "horizon", self.horizon, 0, 100_000)
        check_choice(self.name, "score", self.score, SCORES)
        if self.beta is not None and self.score == "exact":
            raise ParameterError("`beta` of policy 'brh' must be left out with score=exact: the exact form has β = G.")
        check_choice(self.name, "refresh", self.refresh, REFRESHES)
        check_choice(self.name, "cap", self.cap, (0, 1))
        check_projection(self.name, self.projection, self.predictor)

    @property
    def offsets(self) -> int:
        """``H``."""
        return self.horizon

    @property
    def discount(self) -> float:
        """``γ``."""
        return self.gamma

    @property
    def exact_score(self) -> bool:
        """Whether the score before simplification is used."""
        return self.score == "exact"

    def penalty(self, workers: int) -> float:
        """``β``; the exact form has ``G``."""
        return float(workers) if self.beta is None else float(self.beta)

    def forecast_need(self) -> ForecastNeed | None:
        """Forecasts of the requests in flight over the window."""
        return window_need(self.predictor, self.horizon, self.cap, self.refresh, self.projection)
