"""One step of the delay equations, compiled (ours).

Routing uses only delayed workloads and workloads only delayed routing, so nothing but two small rings is remembered:

- ``ring_cost[j, k]``: the cost of cell ``j`` on step ``k`` as a cubic of ``θ``, made once and read by every arc into ``j``;
- ``ring_flow[j, k]``: inflow of cell ``j`` at the start of step ``k``, at its end, and its mean over the step. When the shares
  of a source are known on a step, they are sent forward by ``τ`` and added there; the means are exact integrals, so mass is
  conserved and a bend inside a step costs only ``O(h³)``.

Workloads take a classical Runge–Kutta step whose middle inflow is the one for which Simpson's rule gives the mean. Arcs without
delay couple the two inside a step, which is then repeated until it stays.
"""

import numpy as np
from numba import njit

from lbtheory.fluid.dynamics._flow import event_pieces, smooth_step, straight_piece
from lbtheory.fluid.dynamics._projection import project_simplex
from lbtheory.fluid.dynamics._rates import cost, rate

Array = np.ndarray

FIXED, FLOW, PROJECTED, PERIODIC, DISCRETE = range(5)
START, END, MEAN = range(3)
NEAR = 1e-9
"""Times nearer than this share of a step are one."""
REPEATS = 60
"""Most repetitions of a step with arcs without delay."""


@njit(cache=True, error_model="numpy")
def value(c: Array, u: float) -> float:
    """A cubic."""
    return c[0] + u * (c[1] + u * (c[2] + u * c[3]))


@njit(cache=True, error_model="numpy")
def integral(c: Array, u: float) -> float:
    """Of a cubic from 0."""
    return u * (c[0] + u * (c[1] / 2 + u * (c[2] / 3 + u * c[3] / 4)))


@njit(cache=True, error_model="numpy")
def observe(k, even, mask, times, low, high, cell, tau, lag, part, seen, g, ring_cost, c):  # type: ignore[no-untyped-def]
    """Costs ``c`` (3,) that the arcs of a source see at the start, middle and end of step ``k``."""
    for a in range(low, high):
        j, rest = cell[a], part[a]
        if not even:
            observe_between(k, mask, times, j, tau[a], seen, a, g[a], ring_cost, c[a])
            continue
        e = (k - lag[a]) & mask
        u = 1 - rest
        c[a, 2] = g[a] + (ring_cost[j, e, 0] + u * (ring_cost[j, e, 1] + u * (ring_cost[j, e, 2] + u * ring_cost[j, e, 3])))
        f = (e - 1) & mask
        if rest == 0:
            c[a, 0] = g[a] + ring_cost[j, e, 0]
        else:
            c[a, 0] = g[a] + (ring_cost[j, f, 0] + u * (ring_cost[j, f, 1] + u * (ring_cost[j, f, 2] + u * ring_cost[j, f, 3])))
        u = 0.5 - rest
        if u < 0:
            u, e = u + 1, f
        c[a, 1] = g[a] + (ring_cost[j, e, 0] + u * (ring_cost[j, e, 1] + u * (ring_cost[j, e, 2] + u * ring_cost[j, e, 3])))


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
def workload_step(width, start, mean, end, n, code, p, kind, share, varies, out, c):  # type: ignore[no-untyped-def]
    """``N' = inflow − s μ(N/s)`` over a step, ``s`` the share of capacity (a cubic of ``θ``); fills the cost's cubic ``c``.

    ``out``: workload at the end, slopes at both ends. Classical Runge–Kutta; should a stage be negative, implicit Euler
    steps with the mean inflow, which never are.
    """
    s0, sm, s1, e0, e1 = 1.0, 1.0, 1.0, 0.0, 0.0
    if varies:
        s0, sm, s1, e0 = share[0], value(share, 0.5), value(share, 1.0), share[1]
        e1 = share[1] + 2 * share[2] + 3 * share[3]
    middle = 1.5 * mean - (start + end) / 4
    k1 = start - s0 * rate(code, p, n / s0)
    a = n + width / 2 * k1
    k2 = middle - sm * rate(code, p, a / sm)
    b = n + width / 2 * k2
    k3 = middle - sm * rate(code, p, b / sm)
    d = n + width * k3
    k4 = end - s1 * rate(code, p, d / s1)
    after = n + width / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    if min(a, b, d, after) < 0:
        after = implicit(width, mean, n, code, p, sm)
    f0, h0 = cost(code, kind, p, n / s0)
    f1, h1 = cost(code, kind, p, after / s1)
    left = end - s1 * rate(code, p, after / s1)
    out[0], out[1], out[2] = after, k1, left
    h0 *= (width * k1 - n * e0 / s0) / s0
    h1 *= (width * left - after * e1 / s1) / s1
    cubic(f0, h0, f1, h1, c)


@njit(cache=True, error_model="numpy")
def cubic(f0: float, h0: float, f1: float, h1: float, c: Array) -> None:
    """From values and slopes at 0 and 1; a slope that is not finite is the secant's."""
    if not abs(h0) < np.inf:
        h0 = f1 - f0
    if not abs(h1) < np.inf:
        h1 = f1 - f0
    c[0], c[1], c[2], c[3] = f0, h0, 3 * (f1 - f0) - 2 * h0 - h1, 2 * (f0 - f1) + h0 + h1


@njit(cache=True, error_model="numpy")
def implicit(width: float, mean: float, n: float, code: int, p: Array, s: float) -> float:
    """Eight steps ``y + (h/8) s μ(y/s) = N + (h/8) mean``, each solved by bisection to the last bit."""
    small = width / 8
    for _ in range(8):
        goal = n + small * mean
        low, high = 0.0, max(goal, 0.0)
        while True:
            y = low + (high - low) / 2
            if not low < y < high:
                break
            if y + small * s * rate(code, p, y / s) > goal:
                high = y
            else:
                low = y
        n = low
    return n


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
def route(  # type: ignore[no-untyped-def]
    k, joint, even, mask, times, routing, update, uniform, coupled, first, cell, tau, lag, part, seen, sent, g, eta, rates,
    varies, ring_cost, ring_flow, x, speed, c, bounds, pieces, parts, now, counts,
):  # fmt: skip
    """Shares over step ``k`` of the sources with ``coupled == joint``, sent on to their cells.

    Coupled is 1 for a source with zero-delay arcs, 0 for the others, 2 for one that never sends and keeps its shares. The others
    are final. For joint sources only what arrives at once is sent, into ``now`` (n, 3); `settle` does the rest.
    """
    width = times[k + 1] - times[k]
    for i in range(first.size - 1):
        low, high = first[i], first[i + 1]
        if coupled[i] != joint or low == high:
            continue
        moves = routing == FLOW or routing == PROJECTED
        if moves or (update and routing != FIXED):
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
                k, parts[i], even, mask, times, low, high, cell, tau, lag, part, sent, rates[i], varies, ring_flow, bounds[i], pieces
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
                k, parts[i], even, mask, times, low, high, cell, tau, lag, part, sent, rates[i], varies, ring_flow, bounds[i], pieces
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


@njit(cache=True, error_model="numpy")
def workloads(k, width, mask, codes, parameters, kind, shares, varies, ring_cost, ring_flow, now, n, out):  # type: ignore[no-untyped-def]
    """Workload step of every cell; returns the greatest change of a cost's cubic over its size, inf for one not finite."""
    change, c = 0.0, np.empty(4)
    for j in range(n.size):
        flow = ring_flow[j, k & mask]
        workload_step(
            width, flow[START] + now[j, START], flow[MEAN] + now[j, MEAN], flow[END] + now[j, END], n[j], codes[j],
            parameters[j], kind, shares[j], varies, out[j], c,
        )  # fmt: skip
        old = ring_cost[j, k & mask]
        for r in range(4):
            if not abs(c[r]) < np.inf:
                change = np.inf
            change = max(change, abs(c[r] - old[r]) / (1e-300 + abs(c[0])))
            old[r] = c[r]
    return change


@njit(cache=True, error_model="numpy")
def guess(k, mask, times, n, codes, parameters, kind, shares, varies, ring_cost):  # type: ignore[no-untyped-def]
    """Costs on the step that begins: their value, and the slope that the last step ended with."""
    ratio = (times[k + 1] - times[k]) / (times[k] - times[k - 1])
    for j in range(n.size):
        share = shares[j, 0] if varies else 1.0
        old, new = ring_cost[j, (k - 1) & mask], ring_cost[j, k & mask]
        new[0] = cost(codes[j], kind, parameters[j], n[j] / share)[0]
        new[1] = (old[1] + 2 * old[2] + 3 * old[3]) * ratio
        new[2] = new[3] = 0.0


@njit(cache=True, error_model="numpy")
def prefill(steps, even, mask, times, cell, tau, lag, part, sent, ring_flow, flows):  # type: ignore[no-untyped-def]
    """Deposit the flows of the history, cubics ``flows`` (steps, arcs, 4), and forget what arrives before it ends."""
    for k in range(steps):
        for a in range(cell.size):
            if tau[a] > 0:
                deposit(k, even, mask, times, a, cell[a], tau, lag, part, sent, ring_flow, 0.0, 1.0, flows[k, a])
    for k in range(steps):
        ring_flow[:, k & mask] = 0.0


@njit(cache=True, error_model="numpy")
def advance(  # type: ignore[no-untyped-def]
    begin, end, base, every, even, mask, times, updates, routing, uniform, coupled, first, cell, tau, lag, part, seen, sent, g,
    eta, rates, varies, codes, parameters, kind, shares, capacity_varies, ring_cost, ring_flow, n, x, speed, c, bounds, pieces,
    parts, out, counts, kept_n, kept_n_slopes, kept_x, kept_x_slopes,
):  # fmt: skip
    """Steps ``begin ≤ k < end``; keeps every ``every``-th node from the first step on; returns the step of a cost that is not
    finite and its cell, or (−1, −1)."""
    together = (coupled == 1).any()
    repeat = together and (routing == FLOW or routing == PROJECTED)
    now = np.zeros((n.size, 3))
    for k in range(begin, end):
        r = k - begin if varies else 0
        s = k - begin if capacity_varies else 0
        if together:
            guess(k, mask, times, n, codes, parameters, kind, shares[s], capacity_varies, ring_cost)
        route(
            k, 0, even, mask, times, routing, updates[k], uniform, coupled, first, cell, tau, lag, part, seen, sent, g, eta,
            rates[r], varies, ring_cost, ring_flow, x, speed, c, bounds, pieces, parts, now, counts,
        )  # fmt: skip
        for turn in range(REPEATS):
            if together:
                now[:] = 0.0
                route(
                    k, 1, even, mask, times, routing, updates[k], uniform, coupled, first, cell, tau, lag, part, seen, sent, g,
                    eta, rates[r], varies, ring_cost, ring_flow, x, speed, c, bounds, pieces, parts, now, counts,
                )  # fmt: skip
            change = workloads(
                k, times[k + 1] - times[k], mask, codes, parameters, kind, shares[s], capacity_varies, ring_cost, ring_flow, now,
                n, out,
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
        keep(k, k - begin, every, n, x, speed, out, pieces, kept_n, kept_n_slopes, kept_x, kept_x_slopes)
        for j in range(n.size):
            n[j] = out[j, 0]
            ring_flow[j, k & mask] = 0.0
    return -1, -1


@njit(cache=True, error_model="numpy")
def keep(k, offset, every, n, x, speed, out, pieces, kept_n, kept_n_slopes, kept_x, kept_x_slopes):  # type: ignore[no-untyped-def]
    """Store the node before a step (values and slopes from the right) and, at the end of a stretch, slopes from the left."""
    if offset % every == 0:
        row = offset // every
        for j in range(n.size):
            kept_n[row, j] = n[j]
            kept_n_slopes[row, j, 0] = out[j, 1]
        for a in range(x.size):
            kept_x[row, a] = pieces[0, a, 0]
            kept_x_slopes[row, a, 0] = speed[a, 0]
    if (offset + 1) % every == 0:
        row = offset // every
        for j in range(n.size):
            kept_n_slopes[row, j, 1] = out[j, 2]
        for a in range(x.size):
            kept_x_slopes[row, a, 1] = speed[a, 1]
