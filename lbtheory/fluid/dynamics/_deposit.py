"""Flows sent forward in time: what a source sends on one step becomes inflow of a cell, its delay later. Compiled."""

import numpy as np
from numba import njit

from lbtheory.fluid.dynamics._workloads import END, MEAN, START, integral, value

Array = np.ndarray

NEAR = 1e-9
"""Times nearer than this share of a step are one."""


@njit(cache=True, error_model="numpy")
def flow_of(piece: Array, rates: Array, varies: bool, y: Array) -> None:
    """``λ x`` as a cubic of ``θ``: exact for a constant rate, else with the values and slopes at both ends."""
    if not varies:
        for r in range(4):
            y[r] = rates[0] * piece[r]
        return
    x0, d0, x1 = piece[0], piece[1], piece[0] + piece[1] + piece[2] + piece[3]
    d1 = piece[1] + 2 * piece[2] + 3 * piece[3]
    l0, m0, l1 = rates[0], rates[1], rates[0] + rates[1] + rates[2] + rates[3]
    m1 = rates[1] + 2 * rates[2] + 3 * rates[3]
    y0, e0, y1, e1 = l0 * x0, m0 * x0 + l0 * d0, l1 * x1, m1 * x1 + l1 * d1
    y[0], y[1] = y0, e0
    y[2], y[3] = 3 * (y1 - y0) - 2 * e0 - e1, 2 * (y0 - y1) + e0 + e1


@njit(cache=True, error_model="numpy")
def deposit(k, even, mask, times, arc, cell, tau, lag, part, sent, ring_flow, low, high, y):  # type: ignore[no-untyped-def]
    """Add a flow, the cubic ``y`` of ``θ ∈ [low, high]`` of step ``k``, to the inflow of its cell ``τ`` later."""
    ring = ring_flow[cell]
    if even:
        rest = part[arc]
        e, f = (k + lag[arc]) & mask, (k + lag[arc] + 1) & mask
        cut = 1 - rest
        if low < cut <= high:
            ring[e, END] += value(y, cut)
        if rest == 0:
            if low == 0:
                ring[e, START] += y[0]
        elif low <= cut < high:
            ring[f, START] += value(y, cut)
        before, middle, after = integral(y, low), integral(y, min(max(cut, low), high)), integral(y, high)
        ring[e, MEAN] += middle - before
        if rest != 0:
            ring[f, MEAN] += after - middle
        return
    steps = times.size - 1
    width = times[k + 1] - times[k]
    near = NEAR * width
    origin = times[k] + tau[arc]
    first = origin + low * width if low > 0 else origin
    final = origin + high * width if high < 1 else times[k + 1] + tau[arc]
    q = sent[arc]
    while q < steps and times[q + 1] <= first + near:
        q += 1
    done = integral(y, low)
    while q < steps:
        if q >= 0:
            if first - near <= times[q] < final - near:
                ring[q & mask, START] += value(y, min(max((times[q] - origin) / width, low), high))
            if first + near < times[q + 1] <= final + near:
                ring[q & mask, END] += value(y, min(max((times[q + 1] - origin) / width, low), high))
        upto = high if times[q + 1] >= final - near else min(max((times[q + 1] - origin) / width, low), high)
        reached = integral(y, upto)
        ring[q & mask, MEAN] += (reached - done) * width / (times[q + 1] - times[q])
        done = reached
        if times[q + 1] >= final - near:
            break
        q += 1
    sent[arc] = q


@njit(cache=True, error_model="numpy")
def deposit_whole(k, mask, low, high, cell, lag, part, rates, varies, ring_flow, piece):  # type: ignore[no-untyped-def]
    """`deposit` of the arcs of a source whose step is one piece, on steps of one width; arcs without delay are left out."""
    y = np.empty(4)
    for a in range(low, high):
        if lag[a] == 0:
            continue
        if varies:
            flow_of(piece[a], rates, varies, y)
            y0, y1, y2, y3 = y[0], y[1], y[2], y[3]
        else:
            r = rates[0]
            y0, y1, y2, y3 = r * piece[a, 0], r * piece[a, 1], r * piece[a, 2], r * piece[a, 3]
        j, rest = cell[a], part[a]
        e = (k + lag[a]) & mask
        whole = y0 + (y1 / 2 + (y2 / 3 + y3 / 4))
        if rest == 0:
            ring_flow[j, e, START] += y0
            ring_flow[j, e, END] += y0 + (y1 + (y2 + y3))
            ring_flow[j, e, MEAN] += whole
        else:
            f = (e + 1) & mask
            u = 1 - rest
            here = y0 + u * (y1 + u * (y2 + u * y3))
            before = u * (y0 + u * (y1 / 2 + u * (y2 / 3 + u * (y3 / 4))))
            ring_flow[j, e, END] += here
            ring_flow[j, e, MEAN] += before
            ring_flow[j, f, START] += here
            ring_flow[j, f, MEAN] += whole - before


@njit(cache=True, error_model="numpy")
def prefill(steps, even, mask, times, cell, tau, lag, part, sent, ring_flow, flows):  # type: ignore[no-untyped-def]
    """Deposit the flows of the history, cubics ``flows`` (steps, arcs, 4), and forget what arrives before it ends."""
    for k in range(steps):
        for a in range(cell.size):
            if tau[a] > 0:
                deposit(k, even, mask, times, a, cell[a], tau, lag, part, sent, ring_flow, 0.0, 1.0, flows[k, a])
    for k in range(steps):
        ring_flow[:, k & mask] = 0.0
