"""Workloads of every cell over one step, and the cubic of its cost, compiled."""

import numpy as np

from lbtheory.core.jit import arithmetic
from lbtheory.fluid.dynamics._rates import Parameters, cost, of_cell, rate, rates

Array = np.ndarray

START, END, MEAN, NODE = range(4)
"""Columns of an inflow: at the start of a step, at its end, its mean over the step, and at the node that ends it: the last
counts at the end of this step and at the start of the next."""
ROOM = 11
"""Rows that a step of all workloads works in."""


@arithmetic
def value(c: Array, u: float) -> float:
    """A cubic."""
    return c[0] + u * (c[1] + u * (c[2] + u * c[3]))


@arithmetic
def integral(c: Array, u: float) -> float:
    """Of a cubic from 0."""
    return u * (c[0] + u * (c[1] / 2 + u * (c[2] / 3 + u * c[3] / 4)))


@arithmetic
def served(codes, p, n, share, varies, r):  # type: ignore[no-untyped-def]
    """``s μ(N/s)`` of every cell into ``r`` (n,)."""
    if varies:
        for j in range(n.size):
            r[j] = share[j] * rate(codes[j], of_cell(p, j), n[j] / share[j])
    else:
        rates(codes, p, n, r)


@arithmetic
def step_all(width, codes, p, kind, shares, varies, n, out, room, cubics):  # type: ignore[no-untyped-def]
    """``N' = inflow − s μ(N/s)`` over a step, for every cell: workloads at its end and slopes at both ends into ``out`` (n, 3),
    the cubics of the costs ``f(N/s)`` into ``cubics`` (n, 4).

    Classical Runge–Kutta, all cells a stage at a time; should a stage be negative, implicit Euler steps with the mean inflow,
    which never are. ``shares`` (n, 4) of the capacity are cubics of ``θ``; the first rows of ``room`` (`ROOM`, n) are the
    inflow at the start, its mean and at the end, the others are room to work in.
    """
    size, half = n.size, 0.5 * width
    start, mean, end, s0, sm, s1 = room[0], room[1], room[2], room[3], room[4], room[5]
    r, first, change, at, least = room[6], room[7], room[8], room[9], room[10]
    for j in range(size):
        s0[j] = sm[j] = s1[j] = 1.0
        least[j] = 0.0
        if varies:
            s0[j] = shares[j, 0]
            sm[j] = shares[j, 0] + 0.5 * (shares[j, 1] + 0.5 * (shares[j, 2] + 0.5 * shares[j, 3]))
            s1[j] = shares[j, 0] + (shares[j, 1] + (shares[j, 2] + shares[j, 3]))
    served(codes, p, n, s0, varies, r)
    for j in range(size):
        first[j] = change[j] = start[j] - r[j]
        at[j] = n[j] + half * first[j]
    for reach in (half, width):
        served(codes, p, at, sm, varies, r)
        for j in range(size):
            least[j] = min(least[j], at[j])
            speed = 1.5 * mean[j] - 0.25 * (start[j] + end[j]) - r[j]
            change[j] += 2 * speed
            at[j] = n[j] + reach * speed
    served(codes, p, at, s1, varies, r)
    for j in range(size):
        least[j] = min(least[j], at[j])
        at[j] = n[j] + width / 6 * (change[j] + (end[j] - r[j]))
        if min(least[j], at[j]) < 0:
            at[j] = implicit(width, mean[j], n[j], codes[j], of_cell(p, j), sm[j])
    served(codes, p, at, s1, varies, r)
    for j in range(size):
        last, q = end[j] - r[j], of_cell(p, j)
        out[j, 0], out[j, 1], out[j, 2] = at[j], first[j], last
        f0, h0 = cost(codes[j], kind, q, n[j] / s0[j])
        f1, h1 = cost(codes[j], kind, q, at[j] / s1[j])
        if varies:
            h0 *= (width * first[j] - n[j] * shares[j, 1] / s0[j]) / s0[j]
            h1 *= (width * last - at[j] * (shares[j, 1] + 2 * shares[j, 2] + 3 * shares[j, 3]) / s1[j]) / s1[j]
        else:
            h0 *= width * first[j]
            h1 *= width * last
        cubics[j, 0], cubics[j, 1], cubics[j, 2], cubics[j, 3] = cubic(f0, h0, f1, h1)


@arithmetic
def cubic(f0: float, h0: float, f1: float, h1: float) -> tuple[float, float, float, float]:
    """From values and slopes at 0 and 1; a slope that is not finite is the secant's."""
    if not abs(h0) < np.inf:
        h0 = f1 - f0
    if not abs(h1) < np.inf:
        h1 = f1 - f0
    return f0, h0, 3 * (f1 - f0) - 2 * h0 - h1, 2 * (f0 - f1) + h0 + h1


@arithmetic
def implicit(width: float, mean: float, n: float, code: int, q: Parameters, s: float) -> float:
    """Eight steps ``y + (h/8) s μ(y/s) = N + (h/8) mean``, each solved by bisection to the last bit."""
    small = width / 8
    for _ in range(8):
        goal = n + small * mean
        low, high = 0.0, max(goal, 0.0)
        while True:
            y = low + (high - low) / 2
            if not low < y < high:
                break
            if y + small * s * rate(code, q, y / s) > goal:
                high = y
            else:
                low = y
        n = low
    return n


@arithmetic
def workloads(  # type: ignore[no-untyped-def]
    k, width, mask, codes, parameters, kind, shares, varies, together, ring_cost, ring_flow, node, now, n, out, room, cubics
):  # fmt: skip
    """Workload step of every cell; returns the greatest change of a cost at the end of the step, relative to its size.

    It is infinite where a cost is not finite, and else 0 unless ``together``. ``node`` (n,) is inflow at the node before,
    ``room`` (`ROOM`, n) and ``cubics`` (n, 4) are room to work in.
    """
    change, e, size = 0.0, k & mask, n.size
    for j in range(size):
        room[0, j] = ring_flow[j, e, START] + now[j, START] + node[j]
        room[2, j] = ring_flow[j, e, END] + now[j, END] + ring_flow[j, e, NODE]
        room[1, j] = ring_flow[j, e, MEAN] + now[j, MEAN]
    step_all(width, codes, parameters, kind, shares, varies, n, out, room, cubics)
    for j in range(size):
        after = cubics[j, 0] + cubics[j, 1] + cubics[j, 2] + cubics[j, 3]
        if together:
            before = ring_cost[j, e, 0] + ring_cost[j, e, 1] + ring_cost[j, e, 2] + ring_cost[j, e, 3]
            change = max(change, abs(after - before) / (1e-300 + abs(cubics[j, 0])))
        for q in range(4):
            ring_cost[j, e, q] = cubics[j, q]
        if not abs(after) < np.inf:
            change = np.inf
    return change


@arithmetic
def guess(k, mask, times, n, codes, parameters, kind, shares, varies, ring_cost):  # type: ignore[no-untyped-def]
    """Costs on the step that begins: their value, and the slope that the last step ended with."""
    ratio = (times[k + 1] - times[k]) / (times[k] - times[k - 1])
    for j in range(n.size):
        share = shares[j, 0] if varies else 1.0
        old, new = ring_cost[j, (k - 1) & mask], ring_cost[j, k & mask]
        new[0] = cost(codes[j], kind, of_cell(parameters, j), n[j] / share)[0]
        new[1] = (old[1] + 2 * old[2] + 3 * old[3]) * ratio
        new[2] = new[3] = 0.0
