"""A step of flow routing without events on an even mesh: the loop over arcs that takes the time, compiled.

The same formulas as `_sources.observe`, `_flow.smooth_step`, `_deposit.deposit_whole` and `_sources.finish`, in short loops
over contiguous arrays without branches, which the compiler can turn into vector instructions: costs; whether the active set is
certain to be the support; the flow sent and the shares at the end. What is added to the rings goes one by one.
"""

import numpy as np
from numba import njit

from lbtheory.fluid.dynamics._workloads import END, MEAN, START

Array = np.ndarray

ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


@njit(cache=True, error_model="numpy")
def places(cell, lag, part, size):  # type: ignore[no-untyped-def]
    """Per arc: begin of its cell's ring, whole steps back at the end and in the middle of a step, and ``θ`` there.

    The end of step ``k``, a delay earlier, is at ``θ = 1 − part`` of step ``k − lag``; its middle at ``θ = ½ − part`` of that
    step, or of the one before at one more.
    """
    late = part > 0.5
    slot = (cell * size).astype(np.uint64)
    return slot, lag.astype(np.uint64), (lag + late).astype(np.uint64), 1.0 - part, 0.5 - part + late


@njit(cache=True, error_model="numpy")
def look(low, high, k, mask, slot, lag, u, g, ring, seen):  # type: ignore[no-untyped-def]
    """Costs ``seen`` at ``θ = u`` of step ``k − lag``."""
    for a in range(low, high):
        p = (slot[a] + ((k - lag[a]) & mask)) * FOUR
        seen[a] = g[a] + (ring[p] + u[a] * (ring[p + ONE] + u[a] * (ring[p + TWO] + u[a] * ring[p + THREE])))


@njit(cache=True, error_model="numpy")
def mean_costs(low, high, x, start, middle, end):  # type: ignore[no-untyped-def]
    """Means over the support at the start, middle and end of a step."""
    m0, m1, m2, count = 0.0, 0.0, 0.0, 0
    for a in range(low, high):
        on = x[a] > 0
        m0 += start[a] if on else 0.0
        m1 += middle[a] if on else 0.0
        m2 += end[a] if on else 0.0
        count += on
    return m0 / count, m1 / count, m2 / count


@njit(cache=True, error_model="numpy")
def uncertain(low, high, gain, m0, m1, m2, x, start, middle, end):  # type: ignore[no-untyped-def]
    """How many arcs may meet or leave zero on the step; see `_flow.smooth_step`."""
    count = 0
    for a in range(low, high):
        u, v, w = m0 - start[a], m1 - middle[a], m2 - end[a]
        most, bend = max(abs(u), abs(v), abs(w)), 0.125 * abs(u - 2 * v + w)
        stays = x[a] > 1.25 * gain * most if x[a] > 0 else max(u, v, w) < -bend
        count += not stays
    return count


@njit(cache=True, error_model="numpy")
def weights(t, first, rates, gains):  # type: ignore[no-untyped-def]
    """``λ``, ``λt``, ``ληh`` times the weights of the speeds at the start, middle and end of a step in a share at ``θ = t`` (3)
    and in its integral up to there (3), and ``ηh/6``; (9, arcs). ``gains`` (s,) are ``ηh``.

    The speed is the quadratic ``u + (−3u + 4v − w)θ + 2(u − 2v + w)θ²``, so that at ``t = 1`` these are Simpson's ``1/6, 2/3,
    1/6`` and ``1/6, 1/3, 0``.
    """
    made = np.empty((9, t.size))
    for i in range(first.size - 1):
        made[6, first[i] : first[i + 1]] = rates[i, 0]
        made[8, first[i] : first[i + 1]] = gains[i]
    made[0] = t * (1 - t * (1.5 - t * (2 / 3)))
    made[1] = t * t * (2 - t * (4 / 3))
    made[2] = t * t * (t * (2 / 3) - 0.5)
    made[3] = t * t * (0.5 - t * (0.5 - t / 6))
    made[4] = t * t * t * (2 / 3 - t / 3)
    made[5] = t * t * t * (t / 6 - 1 / 6)
    for q in range(6):
        made[q] *= made[6] * made[8]
    made[7] = t * made[6]
    made[8] /= 6
    return made


@njit(cache=True, error_model="numpy")
def below(low, high, m0, m1, m2, x, c0, c1, c2, u, v, w):  # type: ignore[no-untyped-def]
    """How far costs are below their means, 0 for a share that is 0."""
    for a in range(low, high):
        on = x[a] > 0
        u[a] = m0 - c0[a] if on else 0.0
        v[a] = m1 - c1[a] if on else 0.0
        w[a] = m2 - c2[a] if on else 0.0


@njit(cache=True, error_model="numpy")
def sent(low, high, x, u, v, w, t, p, q, r, flow):  # type: ignore[no-untyped-def]
    """``t x + p u + q v + r w``."""
    for a in range(low, high):
        flow[a] = t[a] * x[a] + (p[a] * u[a] + (q[a] * v[a] + r[a] * w[a]))


@njit(cache=True, error_model="numpy")
def move(low, high, x, u, v, w, gain):  # type: ignore[no-untyped-def]
    """Shares at the end of the step, by Simpson's rule; ``gain`` is ``ηh/6``."""
    for a in range(low, high):
        x[a] += gain[a] * (u[a] + (4.0 * v[a] + w[a]))


@njit(cache=True, error_model="numpy")
def deposit_smooth(low, high, k, mask, slot, lag, t, rate, gain, x, u, v, here, before, ring_flow):  # type: ignore[no-untyped-def]
    """Add what is sent to the inflows of the cells."""
    for a in range(low, high):
        e = slot[a] + ((k + lag[a]) & mask)
        ring_flow[e, END] += here[a]
        ring_flow[e, MEAN] += before[a]
        if t[a] == 1.0:
            ring_flow[e, START] += rate[a] * x[a]
        else:
            f = slot[a] + ((k + lag[a] + ONE) & mask)
            ring_flow[f, START] += here[a]
            ring_flow[f, MEAN] += rate[a] * (x[a] + gain[a] * (u[a] + 2.0 * v[a])) - before[a]


@njit(cache=True, error_model="numpy")
def smooth_sources(  # type: ignore[no-untyped-def]
    k, mask, width, coupled, first, slot, lag, lag_middle, u_end, u_middle, powers, g, eta, ring_cost, ring_flow, x, speed,
    start, middle, end, flows, c, done, keeping,
):  # fmt: skip
    """`_sources.route` of all sources whose step is certain to be one piece: even mesh, constant rates, no zero delays.

    ``done[i]`` says which were; for the others ``c`` (arcs, 3) holds the costs. The rings are flat, ``ring_cost``
    (4 · cells · size,) and ``ring_flow`` (cells · size, 3). ``start`` (arcs,) holds the costs at the end of the last step: a
    step begins with them unless a delay is a whole number of steps. Costs at the ``end`` are written; ``start``, ``middle``
    and ``flows`` (3, arcs) are scratch afterwards. Slopes are stored only if ``keeping``. Returns whether all were.
    """
    now, turn, none = np.uint64(k), np.uint64(mask), np.uint64(0)
    every = True
    look(none, np.uint64(x.size), now, turn, slot, lag_middle, u_middle, g, ring_cost, middle)
    look(none, np.uint64(x.size), now, turn, slot, lag, u_end, g, ring_cost, end)
    here, before, last = flows[0], flows[1], flows[2]
    for i in range(first.size - 1):
        low, high = np.uint64(first[i]), np.uint64(first[i + 1])
        done[i] = coupled[i] == 0
        if not done[i] or low == high:
            every &= done[i]
            continue
        for a in range(low, high):
            if u_end[a] == 1.0:
                start[a] = g[a] + ring_cost[(slot[a] + ((now - lag[a]) & turn)) * FOUR]
        m0, m1, m2 = mean_costs(low, high, x, start, middle, end)
        if uncertain(low, high, eta[i] * width, m0, m1, m2, x, start, middle, end):
            done[i] = every = False
            for a in range(low, high):
                c[a, 0], c[a, 1], c[a, 2] = start[a], middle[a], end[a]
            continue
        below(low, high, m0, m1, m2, x, start, middle, end, start, middle, last)
        if keeping:
            for a in range(low, high):
                speed[a, 0], speed[a, 1] = eta[i] * start[a], eta[i] * last[a]
    i = 0
    while i < first.size - 1:
        begin = i
        while i < first.size - 1 and done[i]:
            i += 1
        low, high = np.uint64(first[begin]), np.uint64(first[i])  # of sources in a row
        sent(low, high, x, start, middle, last, powers[6], powers[0], powers[1], powers[2], here)
        sent(low, high, x, start, middle, last, powers[7], powers[3], powers[4], powers[5], before)
        deposit_smooth(low, high, now, turn, slot, lag, u_end, powers[6], powers[8], x, start, middle, here, before, ring_flow)
        move(low, high, x, start, middle, last, powers[8])
        for source in range(begin, i):
            total = 0.0
            for a in range(np.uint64(first[source]), np.uint64(first[source + 1])):
                total += x[a]
            if abs(total - 1) > 4e-16 and first[source] < first[source + 1]:
                x[first[source] : first[source + 1]] *= 1 / total
        i += 1
    return every
