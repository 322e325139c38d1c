"""Workloads of every cell over one step, and the cubic of its cost, compiled."""

import numpy as np
from numba import njit

from lbtheory.fluid.dynamics._rates import cost, rate

Array = np.ndarray

START, END, MEAN = range(3)
"""Columns of an inflow: at the start of a step, at its end, and its mean over the step."""


@njit(cache=True, error_model="numpy")
def value(c: Array, u: float) -> float:
    """A cubic."""
    return c[0] + u * (c[1] + u * (c[2] + u * c[3]))


@njit(cache=True, error_model="numpy")
def integral(c: Array, u: float) -> float:
    """Of a cubic from 0."""
    return u * (c[0] + u * (c[1] / 2 + u * (c[2] / 3 + u * c[3] / 4)))


@njit(cache=True, error_model="numpy")
def workload_step(width, start, mean, end, n, code, p, j, kind, share):  # type: ignore[no-untyped-def]
    """`workload_step_at_full` with a share of capacity ``s``, a cubic of ``θ``: ``N' = inflow − s μ(N/s)``, cost ``f(N/s)``."""
    s0, sm, s1 = share[0], value(share, 0.5), value(share, 1.0)
    middle = 1.5 * mean - (start + end) / 4
    k1 = start - s0 * rate(code, p, j, n / s0)
    a = n + width / 2 * k1
    k2 = middle - sm * rate(code, p, j, a / sm)
    b = n + width / 2 * k2
    k3 = middle - sm * rate(code, p, j, b / sm)
    d = n + width * k3
    k4 = end - s1 * rate(code, p, j, d / s1)
    after = n + width / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    if a < 0 or b < 0 or d < 0 or after < 0:
        after = implicit(width, mean, n, code, p, j, sm)
    left = end - s1 * rate(code, p, j, after / s1)
    f0, h0 = cost(code, kind, p, j, n / s0)
    f1, h1 = cost(code, kind, p, j, after / s1)
    h0 *= (width * k1 - n * share[1] / s0) / s0
    h1 *= (width * left - after * (share[1] + 2 * share[2] + 3 * share[3]) / s1) / s1
    return after, k1, left, cubic(f0, h0, f1, h1)


@njit(cache=True, error_model="numpy")
def workload_step_at_full(width, start, mean, end, n, code, p, j, kind):  # type: ignore[no-untyped-def]
    """``N' = inflow − μ(N)`` over a step: workload at its end, slopes at both ends, the cubic of the cost.

    Classical Runge–Kutta; should a stage be negative, implicit Euler steps with the mean inflow, which never are.
    """
    middle = 1.5 * mean - 0.25 * (start + end)
    half = 0.5 * width
    k1 = start - rate(code, p, j, n)
    a = n + half * k1
    k2 = middle - rate(code, p, j, a)
    b = n + half * k2
    k3 = middle - rate(code, p, j, b)
    d = n + width * k3
    k4 = end - rate(code, p, j, d)
    after = n + width / 6 * (k1 + 2 * (k2 + k3) + k4)
    if a < 0 or b < 0 or d < 0 or after < 0:
        after = implicit(width, mean, n, code, p, j, 1.0)
    left = end - rate(code, p, j, after)
    f0, h0 = cost(code, kind, p, j, n)
    f1, h1 = cost(code, kind, p, j, after)
    return after, k1, left, cubic(f0, h0 * (width * k1), f1, h1 * (width * left))


@njit(cache=True, error_model="numpy")
def cubic(f0: float, h0: float, f1: float, h1: float) -> tuple[float, float, float, float]:
    """From values and slopes at 0 and 1; a slope that is not finite is the secant's."""
    if not abs(h0) < np.inf:
        h0 = f1 - f0
    if not abs(h1) < np.inf:
        h1 = f1 - f0
    return f0, h0, 3 * (f1 - f0) - 2 * h0 - h1, 2 * (f0 - f1) + h0 + h1


@njit(cache=True, error_model="numpy")
def implicit(width: float, mean: float, n: float, code: int, p: Array, j: int, s: float) -> float:
    """Eight steps ``y + (h/8) s μ(y/s) = N + (h/8) mean``, each solved by bisection to the last bit."""
    small = width / 8
    for _ in range(8):
        goal = n + small * mean
        low, high = 0.0, max(goal, 0.0)
        while True:
            y = low + (high - low) / 2
            if not low < y < high:
                break
            if y + small * s * rate(code, p, j, y / s) > goal:
                high = y
            else:
                low = y
        n = low
    return n


@njit(cache=True, error_model="numpy")
def workloads(k, width, mask, codes, parameters, kind, shares, varies, together, ring_cost, ring_flow, now, n, out):  # type: ignore[no-untyped-def]
    """Workload step of every cell; returns the greatest change of a cost at the end of the step, relative to its size.

    It is infinite where a cost is not finite, and else 0 unless ``together``.
    """
    change, e = 0.0, k & mask
    for j in range(n.size):
        before = ring_cost[j, e, 0] + ring_cost[j, e, 1] + ring_cost[j, e, 2] + ring_cost[j, e, 3]
        start = ring_flow[j, e, START] + now[j, START]
        mean = ring_flow[j, e, MEAN] + now[j, MEAN]
        end = ring_flow[j, e, END] + now[j, END]
        if varies:
            out[j, 0], out[j, 1], out[j, 2], c = workload_step(
                width, start, mean, end, n[j], codes[j], parameters, j, kind, shares[j]
            )
        else:
            out[j, 0], out[j, 1], out[j, 2], c = workload_step_at_full(
                width, start, mean, end, n[j], codes[j], parameters, j, kind
            )
        ring_cost[j, e, 0], ring_cost[j, e, 1], ring_cost[j, e, 2], ring_cost[j, e, 3] = c
        after = c[0] + c[1] + c[2] + c[3]
        if not abs(after) < np.inf:
            change = np.inf
        if together:
            change = max(change, abs(after - before) / (1e-300 + abs(c[0])))
    return change


@njit(cache=True, error_model="numpy")
def guess(k, mask, times, n, codes, parameters, kind, shares, varies, ring_cost):  # type: ignore[no-untyped-def]
    """Costs on the step that begins: their value, and the slope that the last step ended with."""
    ratio = (times[k + 1] - times[k]) / (times[k] - times[k - 1])
    for j in range(n.size):
        share = shares[j, 0] if varies else 1.0
        old, new = ring_cost[j, (k - 1) & mask], ring_cost[j, k & mask]
        new[0] = cost(codes[j], kind, parameters, j, n[j] / share)[0]
        new[1] = (old[1] + 2 * old[2] + 3 * old[3]) * ratio
        new[2] = new[3] = 0.0
