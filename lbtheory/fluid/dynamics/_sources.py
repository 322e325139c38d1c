"""What the sources see, decide and send over one step, compiled. See `_kernel` for the rings."""

import numpy as np
from numba import njit

from lbtheory.fluid.dynamics._deposit import NEAR, deposit, deposit_whole, flow_of
from lbtheory.fluid.dynamics._flow import event_pieces, smooth_step, straight_piece
from lbtheory.fluid.dynamics._projection import project_simplex
from lbtheory.fluid.dynamics._workloads import END, MEAN, START, integral, value

Array = np.ndarray

FIXED, FLOW, PROJECTED, PERIODIC, DISCRETE = range(5)


@njit(cache=True, error_model="numpy")
def observe(k, even, mask, times, low, high, cell, tau, lag, part, seen, g, ring_cost, c):  # type: ignore[no-untyped-def]
    """Costs ``c`` (3,) that the arcs of a source see at the start, middle and end of step ``k``.

    On an even mesh the middle is the one for which Simpson's rule gives the mean over the step.
    """
    for a in range(low, high):
        j, rest = cell[a], part[a]
        if not even:
            observe_between(k, mask, times, j, tau[a], seen, a, g[a], ring_cost, c[a])
            continue
        e, u = (k - lag[a]) & mask, 1 - rest
        new = ring_cost[j, e]
        begin, mean = new[0], integral(new, u)
        if rest != 0:
            old = ring_cost[j, (e - 1) & mask]
            begin, mean = value(old, u), integral(old, 1.0) - integral(old, u) + mean
        c[a, 0], c[a, 2] = g[a] + begin, g[a] + value(new, u)
        c[a, 1] = 1.5 * (g[a] + mean) - 0.25 * (c[a, 0] + c[a, 2])


@njit(cache=True, error_model="numpy")
def observe_between(k, mask, times, j, tau, seen, a, g, ring_cost, c):  # type: ignore[no-untyped-def]
    """`observe` of one arc on steps of unlike widths."""
    ring = ring_cost[j]
    width = times[k + 1] - times[k]
    near = NEAR * width
    p = seen[a]
    moment = times[k] - tau
    while p < k and times[p + 1] <= moment + near:
        p += 1
    seen[a] = p
    c[0] = g + value(ring[p & mask], max((moment - times[p]) / (times[p + 1] - times[p]), 0.0))
    moment = times[k] + width / 2 - tau
    while p < k and times[p + 1] <= moment:
        p += 1
    c[1] = g + value(ring[p & mask], (moment - times[p]) / (times[p + 1] - times[p]))
    moment = times[k + 1] - tau
    while p < k and times[p + 1] < moment - near:
        p += 1
    c[2] = g + value(ring[p & mask], min((moment - times[p]) / (times[p + 1] - times[p]), 1.0))


@njit(cache=True, error_model="numpy")
def cheapest(c: Array, x: Array, uniform: bool) -> None:
    """All mass on the least cost: its lowest index, or shared evenly by those that tie exactly."""
    best, ties = 0, 0
    for a in range(x.size):
        if c[a, 0] < c[best, 0]:
            best = a
    for a in range(x.size):
        ties += c[a, 0] == c[best, 0]
    for a in range(x.size):
        chosen = c[a, 0] == c[best, 0] if uniform else a == best
        x[a] = (1.0 / ties if uniform else 1.0) if chosen else 0.0


@njit(cache=True, error_model="numpy")
def route(  # type: ignore[no-untyped-def]
    k, joint, even, mask, times, routing, update, uniform, coupled, first, cell, tau, lag, part, seen, sent, g, eta, rates,
    varies, ring_cost, ring_flow, x, speed, c, bounds, pieces, parts, now, counts, done,
):  # fmt: skip
    """Shares over step ``k`` of the sources with ``coupled == joint``, sent on to their cells.

    Coupled is 1 for a source with zero-delay arcs, 0 for the others, 2 for one that never sends and keeps its shares. The
    others are final, and left out where ``done`` already. For joint sources only what arrives at once is sent, into ``now``
    (n, 3); `settle` does the rest.
    """
    width = times[k + 1] - times[k]
    moves = routing in (FLOW, PROJECTED)
    for i in range(first.size - 1):
        low, high = first[i], first[i + 1]
        if coupled[i] != joint or low == high or done[i]:
            continue
        if moves or (update and routing >= PERIODIC):
            observe(k, even, mask, times, low, high, cell, tau, lag, part, seen, g, ring_cost, c)
        if moves:
            parts[i] = flow_step(x[low:high], c[low:high], eta[i] * width, routing, bounds[i], pieces, low, high, counts)
        else:
            if update and routing == PERIODIC:
                for a in range(low, high):
                    x[a] -= eta[i] * c[a, 0]
                project_simplex(x[low:high])
            elif update and routing == DISCRETE:
                cheapest(c[low:high], x[low:high], uniform)
            parts[i] = hold(x, bounds[i], pieces, low, high)
        if joint:
            send_now(parts[i], low, high, cell, tau, rates[i], varies, bounds[i], pieces, now)
        else:
            send(
                k, parts[i], even, mask, times, low, high, cell, tau, lag, part, sent, rates[i], varies, ring_flow, bounds[i],
                pieces,
            )  # fmt: skip
            finish(parts[i], low, high, pieces, x, speed, width)


@njit(cache=True, error_model="numpy")
def settle(  # type: ignore[no-untyped-def]
    k, even, mask, times, coupled, first, cell, tau, lag, part, sent, rates, varies, ring_flow, x, speed, bounds, pieces, parts
):  # fmt: skip
    """What joint sources send later, and their shares at the end of the step."""
    for i in range(first.size - 1):
        low, high = first[i], first[i + 1]
        if coupled[i] == 1 and low < high:
            send(
                k, parts[i], even, mask, times, low, high, cell, tau, lag, part, sent, rates[i], varies, ring_flow, bounds[i],
                pieces,
            )  # fmt: skip
            finish(parts[i], low, high, pieces, x, speed, times[k + 1] - times[k])


@njit(cache=True, error_model="numpy")
def hold(x: Array, bounds: Array, pieces: Array, low: int, high: int) -> int:
    """Constant shares: one piece."""
    for a in range(low, high):
        pieces[0, a, 0] = x[a]
        pieces[0, a, 1] = pieces[0, a, 2] = pieces[0, a, 3] = 0.0
    bounds[0], bounds[1] = 0.0, 1.0
    return 1


@njit(cache=True, error_model="numpy")
def flow_step(x, c, gain, routing, bounds, pieces, low, high, counts):  # type: ignore[no-untyped-def]
    """Pieces of a flow step from ``x``, which stays as it is; returns their number."""
    bounds[0], bounds[1] = 0.0, 1.0
    if smooth_step(x, c, gain, pieces[0, low:high]):
        return 1
    if routing == PROJECTED:
        straight_piece(x.copy(), c, gain, 0.0, pieces[0, low:high])
        return 1
    count, ran_out = event_pieces(x.copy(), c, gain, bounds, pieces[:, low:high])
    counts[0] += count - 1
    counts[1] += ran_out
    return count


@njit(cache=True, error_model="numpy")
def send(  # type: ignore[no-untyped-def]
    k, count, even, mask, times, low, high, cell, tau, lag, part, sent, rates, varies, ring_flow, bounds, pieces
):  # fmt: skip
    """Deposit the pieces of a source."""
    if even and count == 1:
        deposit_whole(k, mask, low, high, cell, lag, part, rates, varies, ring_flow, pieces[0])
        return
    y = np.empty(4)
    for piece in range(count):
        for a in range(low, high):
            if tau[a] > 0:
                flow_of(pieces[piece, a], rates, varies, y)
                deposit(
                    k, even, mask, times, a, cell[a], tau, lag, part, sent, ring_flow, bounds[piece], bounds[piece + 1], y
                )  # fmt: skip


@njit(cache=True, error_model="numpy")
def send_now(count, low, high, cell, tau, rates, varies, bounds, pieces, now):  # type: ignore[no-untyped-def]
    """What a source sends along arcs without delay."""
    y = np.empty(4)
    for piece in range(count):
        for a in range(low, high):
            if tau[a] > 0:
                continue
            flow_of(pieces[piece, a], rates, varies, y)
            j = cell[a]
            if piece == 0:
                now[j, START] += y[0]
            if piece == count - 1:
                now[j, END] += value(y, 1.0)
            now[j, MEAN] += integral(y, bounds[piece + 1]) - integral(y, bounds[piece])


@njit(cache=True, error_model="numpy")
def finish(count, low, high, pieces, x, speed, width):  # type: ignore[no-untyped-def]
    """Shares at the end of the step, with sum 1 to rounding, and their slopes at both ends (per second)."""
    total = 0.0
    for a in range(low, high):
        end = pieces[count - 1, a]
        x[a] = max(value(end, 1.0), 0.0)
        if x[a] < 1e-15:  # an event at the very end
            x[a] = 0.0
        total += x[a]
        speed[a, 0] = pieces[0, a, 1] / width
        speed[a, 1] = (end[1] + 2 * end[2] + 3 * end[3]) / width
    if abs(total - 1) > 4e-16:
        for a in range(low, high):
            x[a] /= total
