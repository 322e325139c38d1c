"""Prices of a cell, compiled: first and second derivative of the potential of each cost, for five families."""

import math

from numba import njit

from lbtheory.fluid.rates.base import Array

MM1, SMOOTH_MIN, EXPONENTIAL, HILL, SOFTPLUS = 0, 1, 2, 3, 4
RIF, LATENCY, GRADIENT = 0, 1, 2


@njit(cache=True, error_model="numpy")
def softplus_price(cost: int, of: Array, k: float, z: float) -> tuple[float, float]:
    """``p'(z)`` and ``p''(z)`` of a softplus cell with ``a ≥ bk``; ``of`` is ``a, b, k, w, a − bk``.

    ``N − zℓ(N)`` is concave and increasing, so that Newton's method from below rises to its root.
    """
    a, b, knee, w, margin = of[0], of[1], of[2], of[3], of[4]
    spare, n = (1 / b - z) * b, z * (a + b * w * math.log1p(math.exp(-knee / w)))
    for _ in range(200):
        u = (n - knee) / w
        small = math.exp(-abs(u))
        if u > 0:
            excess = n * spare - z * (margin + b * w * math.log1p(small))
            rise = spare + b * z * small / (1 + small)
        else:
            excess = n - z * (a + b * w * math.log1p(small))
            rise = 1 - b * z * small / (1 + small)
        step = -excess / rise
        n += max(step, 0.0)
        if not step > 1e-16 * n:
            break
    u = (n - knee) / w
    small = math.exp(-abs(u))
    level, share = max(n - knee, 0.0) + w * math.log1p(small), (1.0 if u > 0 else small) / (1 + small)
    latency, latency_slope = a + b * level, b * share
    above, below = margin + b * (w * math.log1p(small) + n * (1 - share)), a + b * (w * math.log1p(small) - n * share)
    fall = above if u > 0 else below
    marginal = latency * latency / fall
    if cost == RIF:
        return n / k, marginal / k
    if cost == LATENCY:
        return latency, latency_slope * marginal
    # (1/μ')' = (1/μ') (−G'/G + 2ℓ'/ℓ), −G' = Nℓ''
    decay = n * b / w * small / (1 + small) ** 2 / fall
    return marginal, marginal * (decay + 2 * latency_slope / latency) * marginal


@njit(cache=True, error_model="numpy")
def price(code: int, cost: int, of: Array, k: float, z: float) -> tuple[float, float]:
    """``p'(z)`` and ``p''(z)``; parameters ``of`` the family in the order of its fields."""
    a, b, c = of[0], of[1], of[2]
    if code == SOFTPLUS:
        return softplus_price(cost, of, k, z)
    if code == MM1:
        spare = a - z
        if cost == LATENCY:
            return b / spare, b / (spare * spare)
        if cost == GRADIENT:
            return b * a / (spare * spare), 2 * b * a / (spare * spare * spare)
        return b * z / spare / k, b * a / (spare * spare) / k
    if code == SMOOTH_MIN:
        free = b - a * z
        if cost == LATENCY:
            return a * (1 + c / free), a * a * c / (free * free)
        if cost == GRADIENT:
            return a * (1 + c * b / (free * free)), 2 * a * a * c * b / (free * free * free)
        return (a * z + c * a * z / free) / k, a * (1 + c * b / (free * free)) / k
    if code == EXPONENTIAL:
        spare = a - z
        n = -b * math.log1p(-z / a)
        if cost == GRADIENT:
            return b / spare, b / (spare * spare)
        if cost == RIF:
            return n / k, b / spare / k
        x = z / a
        if x < 1e-4:
            return b / a * (1 + x / 2 + x * x / 3), b / (a * a) * (0.5 + 2 * x / 3 + 0.75 * x * x)
        return n / z, (b / spare - n / z) / z
    spare = a - z
    n = b * (z / spare) ** (1 / c)
    slope = n * a / (c * z * spare)
    if cost == RIF:
        return n / k, slope / k
    if cost == LATENCY:
        return n / z, (slope - n / z) / z
    return slope, slope * (a / (c * z * spare) - 1 / z + 1 / spare)


@njit(cache=True, error_model="numpy")
def prices(codes: Array, cost: int, parameters: Array, replicas: Array, z: Array, f: Array, h: Array) -> None:
    """``p'`` and ``p''`` of every cell into ``f`` and ``h``."""
    for j in range(len(z)):
        f[j], h[j] = price(codes[j], cost, parameters[j], replicas[j], max(z[j], 1e-300))
