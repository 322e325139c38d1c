"""One step of the delay equations, compiled (ours).

Routing uses only delayed workloads and workloads only delayed routing, so nothing but two small rings is remembered:

- ``ring_cost[j, k]``: the cost of cell ``j`` on step ``k`` as a cubic of ``θ``, made once and read by every arc into ``j``;
- ``ring_flow[j, k]``: inflow of cell ``j`` at the start of step ``k``, at its end, its mean over the step, and what is inflow
  at the node that ends it. When the shares of a source are known on a step, they are sent forward by ``τ`` and added there; the
  means are exact integrals, so mass is conserved and a bend inside a step costs only ``O(h³)``.

Workloads take a classical Runge–Kutta step whose middle inflow is the one for which Simpson's rule gives the mean. Arcs without
delay couple the two inside a step, which is then repeated until it stays.
"""

import numpy as np
from numba import njit

from lbtheory.core.jit import arithmetic
from lbtheory.fluid.dynamics._lanes import begin_lanes, hand_over, step_sources, take_back, unload_all, unload_speeds
from lbtheory.fluid.dynamics._sources import FLOW, PROJECTED, route, settle
from lbtheory.fluid.dynamics._workloads import NODE, ROOM, guess, workloads

REPEATS = 60
"""Most repetitions of a step with arcs without delay."""


@njit(cache=True, error_model="numpy")
def advance(  # type: ignore[no-untyped-def]
    begin, end, every, even, mask, times, updates, routing, uniform, coupled, first, cell, tau, lag, part, seen, sent, g, eta,
    rates, varies, codes, parameters, kind, shares, capacity_varies, ring_cost, ring_flow, node, n, x, speed, c, bounds, pieces,
    parts, out, counts, chunk, rows, places, kept_n, kept_n_slopes, kept_x, kept_x_slopes,
):  # fmt: skip
    """Steps ``begin ≤ k < end``; keeps every ``every``-th node from the first step on; returns the step of a cost that is not
    finite and its cell, or (−1, −1). With chunks of lanes, sources without an event take the quick way of `_lanes`."""
    together = (coupled == 1).any()
    moves = routing in (FLOW, PROJECTED)
    repeat = together and moves
    now, done = np.zeros((n.size, 3)), np.zeros(first.size - 1, np.bool_)
    quick, support = chunk[-1] > 0, np.zeros(first.size - 1)
    room, cubics = np.empty((ROOM, n.size)), np.empty((n.size, 4))
    flat_cost, flat_flow, sending = ring_cost.reshape(-1), ring_flow.reshape(-1), rates[0, :, 0].copy()
    if quick:
        begin_lanes(begin, mask, coupled, first, chunk, x, support, places, rows, flat_cost)
    for k in range(begin, end):
        r = k - begin if varies else 0
        s = k - begin if capacity_varies else 0
        keeping = (k - begin) % every == 0 or (k + 1 - begin) % every == 0 or k == end - 1
        if quick and keeping:
            unload_all(coupled, first, chunk, rows, x)
        if moves and (k - begin) % every == 0:
            kept_x[(k - begin) // every] = x
        if together:
            guess(k, mask, times, n, codes, parameters, kind, shares[s], capacity_varies, ring_cost)
        if not quick or not step_sources(
            k, mask, times[k + 1] - times[k], coupled, first, chunk, eta, sending, support, places, rows, flat_cost, flat_flow,
            done,
        ):  # fmt: skip
            if quick:
                hand_over(k, mask, done, coupled, first, chunk, places, rows, flat_flow, x)
            route(
                k, 0, even, mask, times, routing, updates[k], uniform, coupled, first, cell, tau, lag, part, seen, sent, g, eta,
                rates[r], varies, ring_cost, ring_flow, x, speed, c, bounds, pieces, parts, now, counts, done,
            )  # fmt: skip
            if quick:
                take_back(done, coupled, first, chunk, x, support, rows)
        if quick and keeping:
            unload_speeds(times[k + 1] - times[k], done, first, chunk, rows, speed)
        for turn in range(REPEATS):
            if together:
                now[:] = 0.0
                route(
                    k, 1, even, mask, times, routing, updates[k], uniform, coupled, first, cell, tau, lag, part, seen, sent, g,
                    eta, rates[r], varies, ring_cost, ring_flow, x, speed, c, bounds, pieces, parts, now, counts, done,
                )  # fmt: skip
            change = workloads(
                k, times[k + 1] - times[k], mask, codes, parameters, kind, shares[s], capacity_varies, repeat, ring_cost,
                ring_flow, node, now, n, out, room, cubics,
            )  # fmt: skip
            if not change < np.inf:
                for j in range(n.size):
                    if not np.isfinite(ring_cost[j, k & mask]).all():
                        return k, j
            if not repeat or change < 1e-14:
                counts[2] = max(counts[2], turn + 1)
                break
            if turn == REPEATS - 1:
                counts[3] += 1
        if together:
            settle(
                k, even, mask, times, coupled, first, cell, tau, lag, part, sent, rates[r], varies, ring_flow, x, speed, bounds,
                pieces, parts,
            )  # fmt: skip
        if not moves and (k - begin) % every == 0:
            kept_x[(k - begin) // every] = x
        keep(k - begin, every, n, x, speed, out, kept_n, kept_n_slopes, kept_x_slopes)
        for j in range(n.size):
            n[j], node[j] = out[j, 0], ring_flow[j, k & mask, NODE]
            for column in range(4):
                ring_flow[j, k & mask, column] = 0.0
    if quick:
        unload_all(coupled, first, chunk, rows, x)
    return -1, -1


@arithmetic
def keep(offset, every, n, x, speed, out, kept_n, kept_n_slopes, kept_x_slopes):  # type: ignore[no-untyped-def]
    """Store workloads before a step, slopes from the right, and at the end of a stretch slopes from the left."""
    row = offset // every
    if offset % every == 0:
        for j in range(n.size):
            kept_n[row, j] = n[j]
            kept_n_slopes[row, j, 0] = out[j, 1]
        for a in range(x.size):
            kept_x_slopes[row, a, 0] = speed[a, 0]
    if (offset + 1) % every == 0:
        for j in range(n.size):
            kept_n_slopes[row, j, 1] = out[j, 2]
        for a in range(x.size):
            kept_x_slopes[row, a, 1] = speed[a, 1]
