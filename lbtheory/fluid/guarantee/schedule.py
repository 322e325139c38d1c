"""Stepsizes for a horizon (DLB paper, section 4.1): ``η = T^{−1/2}``, and the one that makes the bound least."""

from dataclasses import dataclass
from math import inf, isfinite, sqrt

from lbtheory.core import ParameterError
from lbtheory.fluid.guarantee.theorems import Theorem1


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Equal stepsizes for a horizon ``T``.

    Attributes
    ----------
    horizon : float
        ``T``, seconds.
    eta : float
        ``T^{−1/2}``.
    bound : float
        ``(K_1 + G_1) T^{−1/2} + K/T``; NaN while ``η > η_0``, that is for ``T < needed``.
    needed : float
        ``η_0^{−2}``: horizons from which the schedule is allowed, seconds.
    best_eta, best_bound : float
        ``min(η_0, sqrt(K_1/(G_1 T)))`` minimises ``K_1/(Tη) + G_1η`` on ``(0, η_0]``; infinite where no arc has a delay.
    """

    horizon: float
    eta: float
    bound: float
    needed: float
    best_eta: float
    best_bound: float


def schedule(of: Theorem1, horizon: float) -> Schedule:
    """The paper's schedule and the best constant stepsize for a horizon.

    Raises
    ------
    ParameterError
        Unless the horizon is positive and finite.
    """
    check_horizon("schedule", horizon)
    if of.why:
        nan = float("nan")
        return Schedule(horizon=horizon, eta=horizon**-0.5, bound=nan, needed=nan, best_eta=nan, best_bound=nan)
    eta = horizon**-0.5
    best = min(of.eta0, sqrt(of.K1 / (of.G1 * horizon)) if of.G1 > 0 else inf)
    value = of.bound(horizon, best, best) if 0 < best < inf else of.K / horizon  # 0: it starts at x*, a step only adds
    needed = of.eta0**-2 if of.eta0 > 0 else inf
    return Schedule(horizon=horizon, eta=eta, bound=of.bound(horizon, eta, eta), needed=needed, best_eta=best, best_bound=value)


def check_horizon(function: str, horizon: float) -> None:
    """Raise `ParameterError` unless a horizon is positive and finite."""
    if not (isinstance(horizon, int | float) and isfinite(horizon) and horizon > 0):
        raise ParameterError(f"`horizon` of `{function}` must be positive and finite, seconds; got {horizon!r}.")
