"""Long-run averages by relative value iteration: of the optimum, and of rules evaluated exactly.

With ``T`` the operator of a rule (or of the optimum) and any ``v``, the average lies between the least and the largest of
``T v − v``: the two numbers of every result, not its middle, are what is proved (Odoni 1969). Every state can wait for all its
requests to leave, so the average does not depend on the start.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.decode.mdp.model import Model

SPAN = 1e-10
SWEEPS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Average:
    """A long-run average of the imbalance.

    Attributes
    ----------
    low, high : float
        Bounds of the average in the capped system; ``span`` apart, ``average`` their middle.
    truncation : (float, float)
        How far the uncapped average can lie below and above.
    sweeps : int
    values : float array (Y,)
        Relative values of the states after admission.
    """

    low: float
    high: float
    truncation: tuple[float, float]
    sweeps: int
    values: np.ndarray

    @property
    def average(self) -> float:
        """Middle of the bounds."""
        return (self.low + self.high) / 2

    @property
    def span(self) -> float:
        """Distance of the bounds."""
        return self.high - self.low


def optimum(model: Model, *, span: float = SPAN) -> Average:
    """The best average over all policies."""
    return _extreme(model, np.ones(len(model.result), bool), 1.0, span)


def best_ties(model: Model, rule: str, *, span: float = SPAN) -> Average:
    """``io``, ``spread-lex`` or ``io-h`` with the tie rule that is best in the long run."""
    return _extreme(model, optimal_fills(model, rule), 1.0, span)


def worst_ties(model: Model, rule: str, *, span: float = SPAN) -> Average:
    """The same with the tie rule that is worst."""
    return _extreme(model, optimal_fills(model, rule), -1.0, span)


def first_come(model: Model, *, span: float = SPAN) -> Average:
    """First-come admission: sizes as they come, whatever the loads."""
    return evaluate(model, model.first, span=span)


def evaluate(model: Model, mix: np.ndarray, *, span: float = SPAN) -> Average:
    """The rule that takes each fill with probability ``mix`` (F,).

    Raises
    ------
    ParameterError
        When the probabilities of some state do not sum to 1.
    """
    sums = np.add.reduceat(mix, model.act[:-1])
    if mix.min() < 0 or np.abs(sums - 1).max() > 1e-12:
        raise ParameterError(
            f"`mix` of `evaluate` must sum to 1 in every state; got {sums[np.abs(sums - 1).argmax()]}. Give probabilities."
        )
    from lbtheory.decode.mdp import _states

    step: Callable[..., tuple[float, float]] = _states.sweep_mixed

    return _iterate(model, lambda *work: step(*work[:-2], mix, *work[-2:]), span)


def optimal_fills(model: Model, rule: str) -> np.ndarray:
    """Which fills a lexicographic rule allows, bool array (F,).

    ``io`` minimises ``I``, ``spread-lex`` ``(D, N_max, I)``, ``io-h`` the sum of ``I_h`` over the window of known lives.

    Raises
    ------
    UnknownNameError
    """
    peak = model.loads.max(axis=1)
    cost = model.cost.astype(np.int64)
    if rule == "io":
        keys = [cost]
    elif rule == "spread-lex":
        keys = [peak - model.loads.min(axis=1), (model.loads == peak[:, None]).sum(axis=1), cost]
    elif rule == "io-h":
        keys = [(model.system.workers * model.projected.max(axis=2) - model.projected.sum(axis=2)).sum(axis=1)]
    else:
        raise UnknownNameError("rule", rule, ("io", "spread-lex", "io-h"))
    allowed = np.ones(len(model.result), bool)
    for key in keys:
        mine = np.where(allowed, key[model.result], np.iinfo(np.int64).max)
        least = np.minimum.reduceat(mine, model.act[:-1])
        allowed &= mine == np.repeat(least, np.diff(model.act))
    return allowed


def _extreme(model: Model, allowed: np.ndarray, sign: float, span: float) -> Average:
    from lbtheory.decode.mdp import _states

    step: Callable[..., tuple[float, float]] = _states.sweep

    return _iterate(model, lambda *work: step(*work[:-2], allowed, sign, *work[-2:]), span)


def _iterate(model: Model, step: Callable[..., tuple[float, float]], span: float) -> Average:
    value, out, middle = np.zeros(len(model.after)), np.empty(len(model.after)), np.empty(len(model.before))
    sweeps, low, high = 0, -np.inf, np.inf
    while high - low > span:
        if sweeps == SWEEPS:
            raise ArithmeticError(f"value iteration did not reach a span of {span}; got {high - low}")
        sweeps += 1
        low, high = step(value, model.cost, model.start, model.to, model.weight, model.act, model.result, middle, out)
        value, out = out - out[0], value
    return Average(low=float(low), high=float(high), truncation=model.system.truncation, sweeps=sweeps, values=value)
