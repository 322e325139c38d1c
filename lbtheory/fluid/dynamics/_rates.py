"""Rates and costs of the families that are compiled; the others are called in Python (see `stepping`)."""

import math
from dataclasses import fields
from typing import Any

import numpy as np
from numba import njit

from lbtheory.fluid.costs import CellCost
from lbtheory.fluid.rates import MM1, CappedLinear, Exponential, Hill, SmoothMin, Softplus

Array = np.ndarray

MM1_, SMOOTH_MIN, EXPONENTIAL, HILL, SOFTPLUS, CAPPED_LINEAR = range(6)
RIF, LATENCY, GRADIENT = range(3)
CODES: dict[Any, int] = {
    MM1: MM1_,
    SmoothMin: SMOOTH_MIN,
    Exponential: EXPONENTIAL,
    Hill: HILL,
    Softplus: SOFTPLUS,
    CappedLinear: CAPPED_LINEAR,
}


def table(costs: tuple[CellCost, ...]) -> tuple[Array, Array] | None:
    """Codes (n,) and parameters (n, 6) of the cells: fields of the family, margin, replicas; None unless all are compiled."""
    if not all(type(one.rate) in CODES for one in costs):
        return None
    codes = np.array([CODES[type(one.rate)] for one in costs], dtype=np.int64)
    parameters = np.zeros((len(costs), 6))
    for j, one in enumerate(costs):
        for place, field in enumerate(fields(one.rate)):  # type: ignore[arg-type]
            parameters[j, place] = getattr(one.rate, field.name)
        parameters[j, 4] = getattr(one.rate, "margin", 0.0)
        parameters[j, 5] = one.replicas
    return codes, parameters


@njit(cache=True, error_model="numpy")
def softplus(u: float) -> float:
    """``log(1 + e^u)``."""
    return max(u, 0.0) + math.log1p(math.exp(-abs(u)))


@njit(cache=True, error_model="numpy")
def rate(code: int, p: Array, j: int, n: float) -> float:
    """``μ(N)`` of cell ``j``, 0 for ``N ≤ 0``; see the families."""
    if n <= 0:
        return 0.0
    if code == MM1_:
        return p[j, 0] * (n / (n + p[j, 1]))
    if code == SMOOTH_MIN:
        shift = n + p[j, 2] - p[j, 1]
        root = math.sqrt(shift * shift + 4 * p[j, 1] * p[j, 2])
        free = 2 * p[j, 1] * (p[j, 2] / (shift + root)) if shift > 0 else (root - shift) / 2
        return n * (free / (free + p[j, 2])) / p[j, 0]
    if code == EXPONENTIAL:
        return -p[j, 0] * math.expm1(-n / p[j, 1])
    if code == HILL:
        return p[j, 0] / (1 + (n / p[j, 1]) ** -p[j, 2])
    if code == SOFTPLUS:
        return n / (p[j, 0] + p[j, 1] * p[j, 3] * softplus((n - p[j, 2]) / p[j, 3]))
    return min(n, p[j, 1]) / p[j, 0]


@njit(cache=True, error_model="numpy")
def cost(code: int, kind: int, p: Array, j: int, n: float) -> tuple[float, float]:
    """``f(N)`` and ``f'(N)`` of cell ``j``, ``N ≥ 0``."""
    if kind == RIF:
        return n / p[j, 5], 1 / p[j, 5]
    if code == MM1_:
        x = n + p[j, 1]
        if kind == LATENCY:
            return x / p[j, 0], 1 / p[j, 0]
        return x * x / (p[j, 0] * p[j, 1]), 2 * x / (p[j, 0] * p[j, 1])
    if code == SMOOTH_MIN:
        shift, product = n + p[j, 2] - p[j, 1], p[j, 1] * p[j, 2]
        root = math.sqrt(shift * shift + 4 * product)
        free = 2 * product / (shift + root) if shift > 0 else (root - shift) / 2
        if kind == LATENCY:
            return p[j, 0] * (1 + p[j, 2] / free), p[j, 0] * (p[j, 2] / (free * free + product))
        return p[j, 0] * (1 + product / (free * free)), 2 * p[j, 0] * (product / (free * free + product)) / free
    if code == EXPONENTIAL:
        return _exponential(kind, p, j, n)
    if code == HILL:
        return _hill(kind, p, j, n)
    if code == SOFTPLUS:
        return _softplus_cost(kind, p, j, n)
    if kind == LATENCY:
        return (p[j, 0], 0.0) if n <= p[j, 1] else (n * p[j, 0] / p[j, 1], p[j, 0] / p[j, 1])
    return (p[j, 0], 0.0) if n <= p[j, 1] else (math.inf, math.inf)


@njit(cache=True, error_model="numpy")
def _exponential(kind: int, p: Array, j: int, n: float) -> tuple[float, float]:
    x = n / p[j, 1]
    if kind == GRADIENT:
        grown = math.exp(x)
        return p[j, 1] / p[j, 0] * grown, grown / p[j, 0]
    if x < 1e-3:  # x/(1 − e^{−x}) and its derivative as series
        return p[j, 1] / p[j, 0] * (1 + x / 2 + x * x / 12), (0.5 + x / 6 - x**3 / 180) / p[j, 0]
    served = -math.expm1(-x)
    return p[j, 1] / p[j, 0] * x / served, (1 - (1 + x) * math.exp(-x)) / (served * served) / p[j, 0]


@njit(cache=True, error_model="numpy")
def _hill(kind: int, p: Array, j: int, n: float) -> tuple[float, float]:
    x, a = n / p[j, 1], p[j, 2]
    if kind == LATENCY:
        return p[j, 1] / p[j, 0] * (x + x ** (1 - a)), (1 + (0.0 if a == 1 else (1 - a) * x**-a)) / p[j, 0]
    value = p[j, 1] / (p[j, 0] * a) * (x ** (1 - a) + 2 * x + x ** (1 + a))
    return value, (2 + (0.0 if a == 1 else (1 - a) * x**-a) + (1 + a) * x**a) / (p[j, 0] * a)


@njit(cache=True, error_model="numpy")
def _softplus_cost(kind: int, p: Array, j: int, n: float) -> tuple[float, float]:
    u = (n - p[j, 2]) / p[j, 3]
    small = math.exp(-abs(u))
    up = 1 / (1 + small) if u > 0 else small / (1 + small)  # logistic of u
    latency = p[j, 0] + p[j, 1] * p[j, 3] * softplus(u)
    rise = p[j, 1] * up
    if kind == LATENCY:
        return latency, rise
    fall = p[j, 4] + p[j, 1] * (p[j, 3] * softplus(-u) + n * (1 - up if u < 0 else small / (1 + small)))
    bend = p[j, 1] / p[j, 3] * small / ((1 + small) * (1 + small))
    return latency * (latency / fall), latency * ((n * bend) * latency + 2 * rise * fall) / (fall * fall)
