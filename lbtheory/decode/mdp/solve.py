"""Long-run averages by relative value iteration or policy iteration: of the optimum, and of rules evaluated exactly.

With ``T`` the operator of a rule (or of the optimum) and any ``v``, the average lies between the least and the largest of
``T v − v``: the two numbers of every result, not its middle, are what is proved (Odoni 1969). Every state can wait for all its
requests to leave, so the average does not depend on the start.

*Methods.* ``"steps"``: ``T`` is one iteration. ``"events"``: ``T`` goes on to the next completion. Until then nobody decides,
and the wait is geometric with mean ``1/(1 − q^n)`` in every state, so the averages are those of ``T v − v`` times ``1 − q^n``;
span shrinks that many times faster (ours, proved; not where lives are known, since then the wait depends on the state).
``"policies"`` (Howard 1960): the relative values of a rule from a sparse linear system, the rule improved until it stays.
Its values, too, are judged by ``T v − v``: an independent way to the same numbers, but slower wherever we tried.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.decode.mdp.model import Model

SPAN = 1e-10
SWEEPS = 1_000_000
METHODS = ("events", "steps", "policies")


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
        Applications of ``T``.
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


def optimum(model: Model, *, span: float = SPAN, method: str | None = None) -> Average:
    """The best average over all policies.

    Parameters
    ----------
    model : Model
    span : float
        Distance of the bounds to reach.
    method : "events", "steps" or "policies", optional
        By default the first, or the second where lives are known.

    Raises
    ------
    UnknownNameError, ParameterError
    """
    return _extreme(model, np.ones(len(model.result), bool), 1.0, span, method, None)


def best_ties(
    model: Model, rule: str, *, span: float = SPAN, method: str | None = None, near: Average | None = None
) -> Average:
    """``io``, ``spread-lex`` or ``io-h`` with the tie rule that is best in the long run."""
    return _extreme(model, optimal_fills(model, rule), 1.0, span, method, near)


def worst_ties(
    model: Model, rule: str, *, span: float = SPAN, method: str | None = None, near: Average | None = None
) -> Average:
    """The same with the tie rule that is worst."""
    return _extreme(model, optimal_fills(model, rule), -1.0, span, method, near)


def first_come(model: Model, *, span: float = SPAN, method: str | None = None, near: Average | None = None) -> Average:
    """First-come admission: sizes as they come, whatever the loads."""
    return evaluate(model, model.first, span=span, method=method, near=near)


def evaluate(
    model: Model, mix: np.ndarray, *, span: float = SPAN, method: str | None = None, near: Average | None = None
) -> Average:
    """The rule that takes each fill with probability ``mix`` (F,); ``near``, another average of the model, is a start.

    Raises
    ------
    UnknownNameError
    ParameterError
        When the probabilities of some state do not sum to 1.
    """
    sums = np.add.reduceat(mix, model.act[:-1])
    if mix.min() < 0 or np.abs(sums - 1).max() > 1e-12:
        raise ParameterError(
            f"`mix` of `evaluate` must sum to 1 in every state; got {sums[np.abs(sums - 1).argmax()]}. Give probabilities."
        )
    method = _checked(model, method)
    value = _relative_values(model, mix) if method == "policies" else _start(model, near)
    return _iterate(model, mix, 0.0, span, method, value)


def optimal_fills(model: Model, rule: str) -> np.ndarray:
    """Which fills a lexicographic rule allows, bool array (F,).

    ``io`` minimises ``I``, ``spread-lex`` ``(D, N_max, I)``, ``io-h`` the sum of ``I_h`` over the window of known lives.

    Raises
    ------
    UnknownNameError
    """
    from lbtheory.decode.mdp import _states

    if rule == "io":
        keys = [model.cost]
    elif rule == "spread-lex":
        peak = model.loads.max(axis=1)
        keys = [peak - model.loads.min(axis=1), (model.loads == peak[:, None]).sum(axis=1), model.cost]
    elif rule == "io-h":
        keys = [(model.system.workers * model.projected.max(axis=2) - model.projected.sum(axis=2)).sum(axis=1)]
    else:
        raise UnknownNameError("rule", rule, ("io", "spread-lex", "io-h"))
    allowed = np.ones(len(model.result), bool)
    for key in keys:
        _states.keep_least(key, model.act, model.result, allowed)
    return allowed


def _checked(model: Model, method: str | None) -> str:
    if method is None:
        return "steps" if model.system.look else "events"
    if method not in METHODS:
        raise UnknownNameError("method", method, METHODS)
    if method == "events" and model.system.look:
        raise ParameterError('`method` of a long-run average must be "steps" or "policies" where lives are known.')
    return method


def _start(model: Model, near: Average | None) -> np.ndarray:
    return np.zeros(len(model.after)) if near is None else near.values.copy()


def _extreme(model: Model, allowed: np.ndarray, sign: float, span: float, method: str | None, near: Average | None) -> Average:
    method = _checked(model, method)
    value = _howard(model, allowed, sign) if method == "policies" else _start(model, near)
    return _iterate(model, allowed, sign, span, method, value)


def _iterate(model: Model, rule: np.ndarray, sign: float, span: float, method: str, value: np.ndarray) -> Average:
    """Apply ``T`` until the bounds are ``span`` apart; ``rule`` is a mixture where ``sign`` is 0, else the allowed fills."""
    from lbtheory.decode.mdp import _states

    one, events = model.system, method == "events"
    rate = 1 - (1 - one.p) ** (one.workers * one.slots) if events else 1.0
    out, middle = np.empty(len(model.after)), np.empty(len(model.before))
    tables = (model.cost, model.start, model.to, model.odds, model.table, model.act, model.result, rule)
    sweeps, low, high = 0, -np.inf, np.inf
    while high - low > span:
        if sweeps == SWEEPS:
            raise ArithmeticError(f"value iteration did not reach a span of {span}; got {high - low}")
        sweeps += 1
        if sign:
            low, high = _states.sweep(value, *tables, sign, events, middle, out)
        else:
            low, high = _states.sweep_mixed(value, *tables, events, middle, out)
        low, high = rate * low, rate * high
        out -= out[0]
        value, out = out, value
    return Average(low=float(low), high=float(high), truncation=one.truncation, sweeps=sweeps, values=value)


def _howard(model: Model, allowed: np.ndarray, sign: float) -> np.ndarray:
    """Relative values of a rule that no fill improves (by more than rounding), from the first allowed fills on."""
    starts, many = model.act[:-1], np.diff(model.act)
    worth = np.where(allowed, 0.0, np.inf)
    choice = np.flatnonzero(_first(worth == 0, starts, many))
    while True:
        mix = np.zeros(len(model.result))
        mix[choice] = 1.0
        value = _relative_values(model, mix)
        worth = np.where(allowed, sign * value[model.result], np.inf)
        better = np.minimum.reduceat(worth, starts) < worth[choice] - 1e-9
        if not better.any():
            return value
        least = np.repeat(np.minimum.reduceat(worth, starts), many)
        choice = np.where(better, np.flatnonzero(_first(worth == least, starts, many)), choice)


def _first(marked: np.ndarray, starts: np.ndarray, many: np.ndarray) -> np.ndarray:
    """The first marked fill of every state, bool array (F,)."""
    place = np.where(marked, np.arange(len(marked)), len(marked))
    return np.asarray(place == np.repeat(np.minimum.reduceat(place, starts), many))


def _relative_values(model: Model, mix: np.ndarray) -> np.ndarray:
    """``h`` with ``h(0) = 0`` and ``h + g = cost + P h`` under the rule ``mix``."""
    from scipy.sparse import csr_array, eye_array, hstack
    from scipy.sparse.linalg import splu

    many, states = len(model.before), len(model.after)
    chance: Any = csr_array((model.weight, model.to, model.start), shape=(states, many))
    taken = np.flatnonzero(mix)
    state = np.repeat(np.arange(many), np.diff(model.act))[taken]
    rule: Any = csr_array((mix[taken], (state, model.result[taken])), shape=(many, states))
    system: Any = eye_array(states, format="csr") - chance @ rule
    system = hstack((np.ones((states, 1)), system.tocsc()[:, 1:]), format="csc")  # the unknown in place of h(0) is g
    value = splu(system).solve(model.cost.astype(float))
    value[0] = 0.0
    return np.asarray(value)
