"""``E(u* − Bp)₊`` from the law of ghost ages, in place of the bound ``ε`` (ours, proved; decode paper's section 6.4.2).

``E_g(t) = Σ_b (ξ_b − p) a_b``, coins independent of coefficients: ``a_b = −(w+1) ∈ [−(s+1+X_b), 0]`` at ``t = 0``, and
``a_b = s − w ∈ [−X_b, s−1]`` at ``t = s+1``; ghost ages ``X_b`` are i.i.d., ``P(X = x) = p q^x``. For ``c`` in
``[0, Bp]``::

    (u* − Bp)₊ ≤ Σ_{g,t} [(E_g(t) − c)₊ + (−E_g(t) − (Bp − c))₊],
    E(Y − x)₊ ≤ e^{−θx−1}/θ · E e^{θY},   E e^{±θ E_g(t)} ≤ (E_X max_a [p e^{±θqa} + q e^{∓θpa}])^B,

the maximum over the two ends of the interval of ``a``: the bracket is convex in ``a``. Minimised over ``c`` and every ``θ``.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from lbtheory.theory.theorem1 import System

LogMgf = Callable[[float], float]


def computed_excess(of: System) -> float:
    """Upper bound on the stationary ``E(u* − Bp)₊``, tokens."""
    p, s, slots = float(of.p), of.s, of.slots
    sides = [_slot_log_mgf(p, s, sign, late) for sign in (1, -1) for late in (False, True)]
    limits = [_limit(p, sign) for sign in (1, -1) for _ in (False, True)]
    drift = slots * p

    def total(c: float) -> float:
        """Log of the sum at ``c``."""
        levels = (c, c, drift - c, drift - c)
        parts = [_log_overshoot(f, top, slots, x) for f, top, x in zip(sides, limits, levels, strict=True)]
        return float(np.logaddexp.reduce(parts))

    best = minimize_scalar(total, bounds=(0, drift), method="bounded", options={"xatol": 1e-4 * drift})
    least = min(float(best.fun), total(drift / 2))
    return of.workers * math.exp(least) if least < 700 else math.inf


def _limit(p: float, sign: int) -> float:
    """``θ`` below which the moment generating function over geometric ages is finite: ``q e^{θp} < 1`` or ``q e^{θq} < 1``."""
    return -math.log1p(-p) / (p if sign > 0 else 1 - p)


def _slot_log_mgf(p: float, s: int, sign: int, late: bool) -> LogMgf:
    """``log E_X max_a [p e^{sign θqa} + q e^{−sign θpa}]`` of one slot; ``late`` is ``t = s + 1``."""
    q = 1 - p

    def bracket(y: float | np.ndarray) -> float | np.ndarray:
        return p * np.exp(q * y) + q * np.exp(-p * y)

    def geometric(theta: float, first: int, shift: int) -> float:
        """``Σ_{x ≥ first} p q^x bracket(−sign θ (shift + x))``."""
        value = 0.0
        for weight, rate in ((p, -sign * theta * q), (q, sign * theta * p)):
            exponent = math.log(q) + rate
            value += weight * p * math.exp(first * exponent + rate * shift) / -math.expm1(exponent)
        return value

    def log_mgf(theta: float) -> float:
        if not late:
            return math.log(geometric(theta, 0, s + 1))
        top = float(bracket(sign * theta * (s - 1)))
        crossing = _crossing(lambda x: float(bracket(-sign * theta * x)), top, s, p)
        return math.log(top * -math.expm1(crossing * math.log(q)) + geometric(theta, crossing, 0))

    return log_mgf


def _crossing(value: Callable[[float], float], top: float, s: int, p: float) -> int:
    """First age from which the lower end ``a = −x`` gives the larger value; the value increases with ``x``."""
    low, high = 0, s
    while value(high) < top:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if value(middle) < top else (low, middle)
    return low


def _log_overshoot(log_mgf: LogMgf, limit: float, slots: int, x: float) -> float:
    """``min_θ [B log m(θ) − θx − 1 − log θ]`` over ``(0, limit)``; any ``θ`` gives a bound."""

    def at(log_theta: float) -> float:
        theta = math.exp(log_theta)
        return slots * log_mgf(theta) - theta * x - 1 - log_theta

    top = math.log(limit) + math.log1p(-1e-9)
    return float(minimize_scalar(at, bounds=(top - 40, top), method="bounded", options={"xatol": 1e-6}).fun)
