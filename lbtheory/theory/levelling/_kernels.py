"""Compiled: ``log φ_m`` and ``log ψ_M`` of Theorem A, with the multiplier ``η`` that makes each least.

One side of the bound is described by six numbers: ``up`` (1 for ``e > x``, 0 for ``e < −x``), ``q``, ``s``, the prompt ``r``
that is admitted while the deviation lasts (1 above, ``s`` below, in rich supply), the target a slot ``t = T/B``, and ``B``. A
block is the lags ``m, …, m + d − 1``.
"""

from math import exp, expm1, floor, inf, log

import numpy as np
from numba import njit

GOLDEN = 0.6180339887498949
GOLDEN_STEPS = 34


@njit(cache=True)
def power_sum(t: float, low: float, high: float) -> float:
    """``Σ_{low ≤ x < high} e^{t x}``; an infinite ``high`` needs ``t < 0``."""
    if high <= low:
        return 0.0
    if high == inf:
        return -exp(t * low) / expm1(t) if t < 0.0 else inf
    if t == 0.0:
        return high - low
    return exp(t * low) * expm1(t * (high - low)) / expm1(t)


@njit(cache=True)
def log_phi(theta, eta, m, d, up, q, s, r, t):  # type: ignore[no-untyped-def]
    """``log φ``: ``e^{±(η−θ)t} E_X[Λ(X) max_{S∈{1,s}} e^{∓η(S+X)} E e^{±θ Z_m(S+X)}]``, ``Λ`` the cost of a block."""
    p, log_q = 1.0 - q, log(q)
    sign = 1.0 if up else -1.0
    late = log_q + sign * theta  # log of q e^{±θ}
    log_a = m * late
    log_r = log(p) + sign * theta * r + log(power_sum(late, 0.0, m))
    g1, g2 = sign * (theta - eta), -sign * eta
    # F(w) = a e^{g1 w} + R e^{g2 w}; S = s is the worse end once e^{θ(1+X)} > ratio
    rise, fall = (g1, g2) if up else (g2, g1)
    change = log_r - log_a if up else log_a - log_r
    switch = 0.0
    if rise <= 0.0:
        switch = inf
    elif fall < 0.0:
        edge = (change + log(-expm1(fall * (s - 1.0))) - log(expm1(rise * (s - 1.0)))) / theta - 1.0
        switch = max(0.0, floor(edge) + 1.0)
    base1, base2 = log(p) + log_a, log(p) + log_r
    total = 0.0
    if d > 1.0 and up:
        total += _segment(0.0, d - 1.0, eta * (r - 1.0), eta, switch, base1, base2, g1, g2, log_q, s)
        total += _segment(d - 1.0, inf, eta * (d - 1.0), 0.0, switch, base1, base2, g1, g2, log_q, s)
    elif d > 1.0:
        if log_q + eta >= 0.0:
            return inf
        top = s - r + d - 2.0
        cut = min(d - 1.0, floor(top / 2.0) + 1.0)
        mean = -p / expm1(log_q + eta)  # E e^{ηX}
        total += _segment(0.0, cut, log(mean) + eta * top, -2.0 * eta, switch, base1, base2, g1, g2, log_q, s)
        total += _segment(cut, inf, 0.0, 0.0, switch, base1, base2, g1, g2, log_q, s)
        if mean > 1.0:
            total += _segment(cut, d - 1.0, log(mean - 1.0) - log_q * top, 2.0 * log_q, switch, base1, base2, g1, g2, log_q, s)
    else:
        total += _segment(0.0, inf, 0.0, 0.0, switch, base1, base2, g1, g2, log_q, s)
    return log(total) + sign * (eta - theta) * t


@njit(cache=True)
def _segment(low, high, weight, slope, switch, base1, base2, g1, g2, log_q, s):  # type: ignore[no-untyped-def]
    """``Σ_{low ≤ x < high} e^{weight + slope x} p q^x F(S + x)``, ``S = 1`` before ``switch`` and ``s`` from it on."""
    cut = min(max(switch, low), high)
    t1, t2 = log_q + slope + g1, log_q + slope + g2
    first = exp(base1 + weight + g1) * power_sum(t1, low, cut) + exp(base2 + weight + g2) * power_sum(t2, low, cut)
    if cut >= high:
        return first
    second = exp(base1 + weight + g1 * s) * power_sum(t1, cut, high) + exp(base2 + weight + g2 * s) * power_sum(t2, cut, high)
    return first + second


@njit(cache=True)
def log_psi(theta, m, up, q, s, r, t):  # type: ignore[no-untyped-def]
    """``log ψ_M``: every slot renewed in the last ``M`` iterations holds ``r`` at most (least, below), the others ``s`` (1)."""
    sign = 1.0 if up else -1.0
    late = log(q) + sign * theta
    if late >= 0.0:
        return inf
    old = s if up else 1.0
    young = exp(sign * theta * r) * power_sum(late, 0.0, m)
    return log((1.0 - q) * (young + exp(sign * theta * old) * power_sum(late, m, inf))) - sign * theta * t


@njit(cache=True)
def best_eta(theta, m, d, up, q, s, r, t):  # type: ignore[no-untyped-def]
    """``(log φ, η)`` at the least over ``η`` in ``[0, θ]`` (below: and ``q e^η < 1``); ``log φ`` is convex in ``η``."""
    low, high = 0.0, theta if up else min(theta, -0.999999 * log(q))
    x1, x2 = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    f1, f2 = log_phi(theta, x1, m, d, up, q, s, r, t), log_phi(theta, x2, m, d, up, q, s, r, t)
    for _ in range(GOLDEN_STEPS):
        if f1 < f2:
            high, x2, f2 = x2, x1, f1
            x1 = high - GOLDEN * (high - low)
            f1 = log_phi(theta, x1, m, d, up, q, s, r, t)
        else:
            low, x1, f1 = x1, x2, f2
            x2 = low + GOLDEN * (high - low)
            f2 = log_phi(theta, x2, m, d, up, q, s, r, t)
    return (f1, x1) if f1 < f2 else (f2, x2)


@njit(cache=True)
def tables(thetas, lags, widths, last, up, q, s, r, t, slots):  # type: ignore[no-untyped-def]
    """``B log φ`` and ``η`` of every block and ``θ``, arrays (blocks + 1, thetas); last row ``B log ψ_M``, ``M = last``."""
    blocks = len(lags)
    logs, etas = np.empty((blocks + 1, len(thetas))), np.zeros((blocks + 1, len(thetas)))
    for i in range(len(thetas)):
        for j in range(blocks):
            value, etas[j, i] = best_eta(thetas[i], lags[j], widths[j], up, q, s, r, t)
            logs[j, i] = slots * value
        logs[blocks, i] = slots * log_psi(thetas[i], last, up, q, s, r, t)
    return logs, etas


@njit(cache=True)
def sums(logs, thetas, points):  # type: ignore[no-untyped-def]
    """At every point ``x``: bounds of ``P(e > x)`` and ``E(e − x)⁺``, each block with its best ``θ``, and those ``θ`` of the
    second.

    Returns arrays (points,), (points,), (points, blocks + 1).
    """
    tail, excess = np.zeros(len(points)), np.zeros(len(points))
    chosen = np.zeros((len(points), len(logs)), np.int64)
    for k in range(len(points)):
        for j in range(len(logs)):
            low, least = inf, inf
            for i in range(len(thetas)):
                value = logs[j, i] - thetas[i] * points[k]
                low = min(low, value)
                value -= 1.0 + log(thetas[i])
                if value < least:
                    least, chosen[k, j] = value, i
            tail[k] += exp(min(low, 700.0))
            excess[k] += exp(min(least, 700.0))
    return tail, excess, chosen
