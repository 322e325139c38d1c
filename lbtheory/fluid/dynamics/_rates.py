"""Rates and costs of the families that are compiled; the others are called in Python (see `stepping`)."""

import math
from dataclasses import fields
from typing import Any

import numpy as np

from lbtheory.core.jit import arithmetic
from lbtheory.fluid.costs import CellCost
from lbtheory.fluid.rates import MM1, CappedLinear, Exponential, Hill, SmoothMin, Softplus

Array = np.ndarray
Parameters = tuple[float, float, float, float, float, float]

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
    """Codes (n,) and parameters (6, n) of the cells: fields of the family, margin, replicas; None unless all are compiled."""
    if not all(type(one.rate) in CODES for one in costs):
        return None
    codes = np.array([CODES[type(one.rate)] for one in costs], dtype=np.int64)
    parameters = np.zeros((6, len(costs)))
    for j, one in enumerate(costs):
        for place, field in enumerate(fields(one.rate)):  # type: ignore[arg-type]
            parameters[place, j] = getattr(one.rate, field.name)
        parameters[4, j] = getattr(one.rate, "margin", 0.0)
        parameters[5, j] = one.replicas
    return codes, parameters


@arithmetic
def softplus(u: float) -> float:
    """``log(1 + e^u)``."""
    return max(u, 0.0) + math.log1p(math.exp(-abs(u)))


@arithmetic
def rate(code: int, q: Parameters, n: float) -> float:
    """``μ(N)``, 0 for ``N ≤ 0``; see the families."""
    if n <= 0:
        return 0.0
    if code == MM1_:
        return q[0] * (n / (n + q[1]))
    if code == SMOOTH_MIN:
        shift = n + q[2] - q[1]
        root = math.sqrt(shift * shift + 4 * q[1] * q[2])
        free = 2 * q[1] * (q[2] / (shift + root)) if shift > 0 else (root - shift) / 2
        return n * (free / (free + q[2])) / q[0]
    if code == EXPONENTIAL:
        return -q[0] * math.expm1(-n / q[1])
    if code == HILL:
        return q[0] / (1 + (n / q[1]) ** -q[2])
    if code == SOFTPLUS:
        return n / (q[0] + q[1] * q[3] * softplus((n - q[2]) / q[3]))
    return min(n, q[1]) / q[0]


@arithmetic
def cost(code: int, kind: int, q: Parameters, n: float) -> tuple[float, float]:
    """``f(N)`` and ``f'(N)``, ``N ≥ 0``."""
    if kind == RIF:
        return n / q[5], 1 / q[5]
    if code == MM1_:
        x = n + q[1]
        if kind == LATENCY:
            return x / q[0], 1 / q[0]
        return x * x / (q[0] * q[1]), 2 * x / (q[0] * q[1])
    if code == SMOOTH_MIN:
        shift, product = n + q[2] - q[1], q[1] * q[2]
        root = math.sqrt(shift * shift + 4 * product)
        free = 2 * product / (shift + root) if shift > 0 else (root - shift) / 2
        if kind == LATENCY:
            return q[0] * (1 + q[2] / free), q[0] * (q[2] / (free * free + product))
        return q[0] * (1 + product / (free * free)), 2 * q[0] * (product / (free * free + product)) / free
    if code == EXPONENTIAL:
        return _exponential(kind, q, n)
    if code == HILL:
        return _hill(kind, q, n)
    if code == SOFTPLUS:
        return _softplus_cost(kind, q, n)
    if kind == LATENCY:
        return (q[0], 0.0) if n <= q[1] else (n * q[0] / q[1], q[0] / q[1])
    return (q[0], 0.0) if n <= q[1] else (math.inf, math.inf)


@arithmetic
def _exponential(kind: int, q: Parameters, n: float) -> tuple[float, float]:
    x = n / q[1]
    if kind == GRADIENT:
        grown = math.exp(x)
        return q[1] / q[0] * grown, grown / q[0]
    if x < 1e-3:  # x/(1 − e^{−x}) and its derivative as series
        return q[1] / q[0] * (1 + x / 2 + x * x / 12), (0.5 + x / 6 - x**3 / 180) / q[0]
    served = -math.expm1(-x)
    return q[1] / q[0] * x / served, (1 - (1 + x) * math.exp(-x)) / (served * served) / q[0]


@arithmetic
def _hill(kind: int, q: Parameters, n: float) -> tuple[float, float]:
    x, a = n / q[1], q[2]
    if kind == LATENCY:
        return q[1] / q[0] * (x + x ** (1 - a)), (1 + (0.0 if a == 1 else (1 - a) * x**-a)) / q[0]
    value = q[1] / (q[0] * a) * (x ** (1 - a) + 2 * x + x ** (1 + a))
    return value, (2 + (0.0 if a == 1 else (1 - a) * x**-a) + (1 + a) * x**a) / (q[0] * a)


@arithmetic
def _softplus_cost(kind: int, q: Parameters, n: float) -> tuple[float, float]:
    u = (n - q[2]) / q[3]
    small = math.exp(-abs(u))
    up = 1 / (1 + small) if u > 0 else small / (1 + small)  # logistic of u
    latency = q[0] + q[1] * q[3] * softplus(u)
    rise = q[1] * up
    if kind == LATENCY:
        return latency, rise
    fall = q[4] + q[1] * (q[3] * softplus(-u) + n * (1 - up if u < 0 else small / (1 + small)))
    bend = q[1] / q[3] * small / ((1 + small) * (1 + small))
    return latency * (latency / fall), latency * ((n * bend) * latency + 2 * rise * fall) / (fall * fall)


@arithmetic
def of_cell(p, j):  # type: ignore[no-untyped-def]
    """Parameters of a cell as numbers: an array handed to a function costs more than the function."""
    return p[0, j], p[1, j], p[2, j], p[3, j], p[4, j], p[5, j]


@arithmetic
def alike(codes: Array, code: int) -> bool:
    """Whether all cells are of one family."""
    others = 0
    for j in range(codes.size):
        others += codes[j] != code
    return others == 0


@arithmetic
def rates(codes, p, n, r):  # type: ignore[no-untyped-def]
    """`rate` of every cell into ``r`` (n,); M/M/1 cells alone in a loop for vector instructions."""
    if alike(codes, MM1_):
        for j in range(n.size):
            r[j] = p[0, j] * (n[j] / (n[j] + p[1, j])) if n[j] > 0 else 0.0
    else:
        for j in range(n.size):
            r[j] = rate(codes[j], of_cell(p, j), n[j])
