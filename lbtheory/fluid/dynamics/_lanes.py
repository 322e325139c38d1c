"""A step of flow routing without events on an even mesh: the loop over arcs that takes the time, compiled.

The same step as `_sources.route` makes, arranged for vector instructions. The arcs of a source lie in chunks of at most
`WIDTH` lanes; a chunk keeps every quantity of its lanes in a row of its own, so that all distances in memory are constants and
a whole source stays in the nearest cache. Lanes are padded to a multiple of four; a padded lane has share 0 and a cost of
`NEVER`.

A cell's cost on step ``k`` is the cubic ``c₀ + c₁θ + c₂θ² + c₃θ³``. An arc with delay ``(lag + part) h`` sees on step ``k`` the
rest of the cubic of step ``k − lag − 1`` from ``t = 1 − part`` on, then that of step ``k − lag`` up to ``t``; so one cubic a
step gives its cost at the end (``END``), and the exact mean of its cost over the step (``AREA``) once the integral of the rest
(``REST``) is remembered. With the means of the three over the support less their own, ``u`` at the start, ``w`` at the end and
``v`` over the step, the speed of a share is the quadratic

    ``ηh (u + (6v − 4u − 2w) θ + 3 (u + w − 2v) θ²)``

whose integral over the step is ``ηh v``: the shares at the end are exact for the costs seen. What leaves on step ``k`` before
``θ = t`` arrives on step ``k + lag``, the rest (``LEFT``) on the next.
"""

import numpy as np

from lbtheory.core.jit import arithmetic
from lbtheory.fluid.dynamics._workloads import END as FLOW_END
from lbtheory.fluid.dynamics._workloads import MEAN as FLOW_MEAN
from lbtheory.fluid.dynamics._workloads import NODE as FLOW_NODE
from lbtheory.fluid.dynamics._workloads import START as FLOW_START

Array = np.ndarray

WIDTH = 40
NEVER = 1e300
ROWS, PLACES = 16, 2
U = np.uint64
SHARE, ON, THETA, CONSTANT, START, END, AREA, REST, LEFT, HERE, BEFORE, AFTER, CUBIC = (U(WIDTH * r) for r in range(13))
"""Rows of a chunk: share, 1 where it is positive, ``t``, what the arc adds to the cost, costs at the start and end of the step
and their mean, rests of cost and flow, what arrives at a node, before it and after it, and four rows of cubics, one after
another."""
SLOT, LAG = U(0), U(WIDTH)
"""Places of a lane: begin of its cell's ring, whole steps of delay."""
FIRST_SPEED, LAST_SPEED, NEXT = CUBIC, U(CUBIC + WIDTH), U(CUBIC + 2 * WIDTH)
"""What replaces the cubics: ``ηhu``, ``ηhw`` and the share at the end of the step."""
ONE, TWO, THREE, FOUR = U(1), U(2), U(3), U(4)


def make_lanes(first: Array, cell: Array, lag: Array, part: Array, constant: Array, size: int) -> tuple[Array, Array, Array]:
    """Chunks: the first of each source and the number of all (sources + 1,), their rows and their places, flat.

    ``first`` (sources + 1,) where the arcs of each source begin, all 0 for no chunks; of each arc ``cell``, ``lag``,
    ``part`` and ``constant``; ``size`` from ring to ring.
    """
    arcs, own = np.diff(first), slice(first[-1])
    chunk = np.concatenate([[0], np.cumsum(-(-arcs // WIDTH))])
    rows, places = np.zeros((chunk[-1], ROWS, WIDTH)), np.zeros((chunk[-1], PLACES, WIDTH), dtype=np.uint64)
    rows[:, THETA // U(WIDTH)], rows[:, CONSTANT // U(WIDTH)] = 0.5, NEVER
    within = np.arange(first[-1]) - np.repeat(first[:-1], arcs)
    at, lane = np.repeat(chunk[:-1], arcs) + within // WIDTH, within % WIDTH
    rows[at, THETA // U(WIDTH), lane], rows[at, CONSTANT // U(WIDTH), lane] = (1.0 - part)[own], constant[own]
    places[at, 0, lane], places[at, 1, lane] = (cell * size)[own], lag[own]
    return chunk.astype(np.int64), rows.reshape(-1), places.reshape(-1)


@arithmetic
def extent(chunk, z, arcs):  # type: ignore[no-untyped-def]
    """Where the rows and places of chunk ``z`` begin, its lanes without and with padding; ``chunk`` is its source's first."""
    lanes = min(arcs - (z - chunk) * WIDTH, WIDTH)
    return U(z * (ROWS * WIDTH)), U(z * (PLACES * WIDTH)), U(lanes), U((lanes + 3) // 4 * 4)


@arithmetic
def fetch(b, q, m, k, mask, places, ring, rows):  # type: ignore[no-untyped-def]
    """Cubics of step ``k − lag``."""
    for a in range(m):
        p = (places[q + SLOT + a] + ((k - places[q + LAG + a]) & mask)) * FOUR
        c0, c1, c2, c3 = ring[p], ring[p + ONE], ring[p + TWO], ring[p + THREE]
        i = b + CUBIC + FOUR * a
        rows[i] = c0
        rows[i + ONE] = c1
        rows[i + TWO] = c2
        rows[i + THREE] = c3


@arithmetic
def see(b, m, rows):  # type: ignore[no-untyped-def]
    """Costs from the cubics; a delay of whole steps begins with the value of its cubic."""
    for a in range(m):
        i, p = b + a, b + CUBIC + FOUR * a
        c0, c1, c2, c3, t, g = rows[p], rows[p + ONE], rows[p + TWO], rows[p + THREE], rows[i + THETA], rows[i + CONSTANT]
        d1, d2, d3 = 0.5 * c1, (1 / 3) * c2, 0.25 * c3
        seen = t * (c0 + t * (d1 + t * (d2 + t * d3)))
        rows[i + START] = g + c0 if t == 1.0 else rows[i + END]
        rows[i + END] = g + (c0 + t * (c1 + t * (c2 + t * c3)))
        rows[i + AREA] = g + (rows[i + REST] + seen)
        rows[i + REST] = (c0 + (d1 + (d2 + d3))) - seen


@arithmetic
def total(b, m, row, rows):  # type: ignore[no-untyped-def]
    """Sum of a row over the lanes."""
    s0 = s1 = s2 = s3 = 0.0
    i = b + row
    stop = i + m
    while i < stop:
        s0 += rows[i]
        s1 += rows[i + ONE]
        s2 += rows[i + TWO]
        s3 += rows[i + THREE]
        i += FOUR
    return (s0 + s1) + (s2 + s3)


@arithmetic
def total_on(b, m, row, rows):  # type: ignore[no-untyped-def]
    """Sum of a row over the support."""
    s0 = s1 = s2 = s3 = 0.0
    i = b
    stop = i + m
    while i < stop:
        s0 += rows[i + ON] * rows[i + row]
        s1 += rows[i + ON + ONE] * rows[i + row + ONE]
        s2 += rows[i + ON + TWO] * rows[i + row + TWO]
        s3 += rows[i + ON + THREE] * rows[i + row + THREE]
        i += FOUR
    return (s0 + s1) + (s2 + s3)


@arithmetic
def shift(b, m, start, mean, end, gain, rate, rows):  # type: ignore[no-untyped-def]
    """Shares at the end of the step and what is sent, with the means of the costs; ``gain = ηh``.

    Returns how many lanes may meet or leave zero on the step: a quadratic is at most 5/4 of its greatest value at 0, ½ and 1,
    and at least its least value there less ``|second difference|/8`` (as in `_flow.smooth_step`).
    """
    uncertain = 0
    for a in range(m):
        i = b + a
        x, t, on = rows[i + SHARE], rows[i + THETA], rows[i + ON]
        u, v, w = start - rows[i + START], mean - rows[i + AREA], end - rows[i + END]
        middle = 1.5 * v - 0.25 * (u + w)
        most = max(max(u, middle), w) + 0.125 * abs(u - 2 * middle + w)
        size = max(max(abs(u), abs(middle)), abs(w))
        uncertain += not (x - 1.25 * gain * size if on > 0 else -most) > 0
        scale = gain * on
        u *= scale
        v *= scale
        w *= scale
        s1 = 6 * v - 4 * u - 2 * w
        s2 = 3 * (u + w) - 6 * v
        before = rate * (t * (x + t * (0.5 * u + t * (1 / 6 * s1 + t * (1 / 12 * s2)))))
        rows[i + HERE] = rate * (x + t * (u + t * (0.5 * s1 + t * (1 / 3 * s2))))
        rows[i + BEFORE] = rows[i + LEFT] + before
        rows[i + AFTER] = rate * (x + (0.5 * u + (1 / 6 * s1 + 1 / 12 * s2))) - before
        rows[i + FIRST_SPEED] = u
        rows[i + LAST_SPEED] = w
        rows[i + NEXT] = x + v
    return uncertain


@arithmetic
def send(b, q, lanes, k, mask, rate, places, rows, ring):  # type: ignore[no-untyped-def]
    """Add what arrives on step ``k + lag`` to the inflows.

    The value at ``t < 1`` is inflow at the node where step ``k + lag`` ends and the next begins. With a delay of whole steps
    the flow arrives as it left, from the start of that step to its end.
    """
    for a in range(lanes):
        e = (places[q + SLOT + a] + ((k + places[q + LAG + a]) & mask)) * FOUR
        if rows[b + THETA + a] == 1.0:
            ring[e + U(FLOW_START)] += rate * rows[b + SHARE + a]
            ring[e + U(FLOW_END)] += rows[b + HERE + a]
        else:
            ring[e + U(FLOW_NODE)] += rows[b + HERE + a]
        ring[e + U(FLOW_MEAN)] += rows[b + BEFORE + a]


@arithmetic
def commit(b, m, scale, rows):  # type: ignore[no-untyped-def]
    """Go on to the end of the step."""
    for a in range(m):
        i = b + a
        rows[i + LEFT] = rows[i + AFTER]
        rows[i + SHARE] = scale * rows[i + NEXT]


@arithmetic
def step_sources(k, mask, width, coupled, first, chunk, eta, rates, support, places, rows, ring_cost, ring_flow, done):  # type: ignore[no-untyped-def]
    """Step ``k`` of every source that is not ``coupled`` and certain to meet no event; ``done`` says which; True if all were.

    The costs that the others see are in their chunks too. ``support`` (sources,) counts positive shares. The rings are flat:
    ``ring_cost`` and ``ring_flow`` (4 · cells · size,).
    """
    every, now, turn = True, U(k), U(mask)
    for i in range(first.size - 1):
        low, high, arcs = chunk[i], chunk[i + 1], first[i + 1] - first[i]
        done[i] = coupled[i] == 0
        if not done[i] or arcs == 0:
            every &= done[i]
            continue
        start, mean, end = 0.0, 0.0, 0.0
        for z in range(low, high):
            b, q, _, m = extent(low, z, arcs)
            fetch(b, q, m, now, turn, places, ring_cost, rows)
            see(b, m, rows)
            start += total_on(b, m, START, rows)
            mean += total_on(b, m, AREA, rows)
            end += total_on(b, m, END, rows)
        one = 1.0 / support[i]
        uncertain, after = 0, 0.0
        for z in range(low, high):
            b, _, _, m = extent(low, z, arcs)
            uncertain += shift(b, m, start * one, mean * one, end * one, eta[i] * width, rates[i], rows)
            after += total(b, m, NEXT, rows)
        if uncertain:
            done[i] = every = False
            continue
        scale = 1.0 / after if abs(after - 1) > 4e-16 else 1.0
        for z in range(low, high):
            b, q, lanes, m = extent(low, z, arcs)
            send(b, q, lanes, now, turn, rates[i], places, rows, ring_flow)
            commit(b, m, scale, rows)
    return every


@arithmetic
def place(i, a, first, chunk):  # type: ignore[no-untyped-def]
    """Where the lane of arc ``a`` of source ``i`` is in the first row of its chunk."""
    lane = a - first[i]
    return U((chunk[i] + lane // WIDTH) * (ROWS * WIDTH) + lane % WIDTH)


@arithmetic
def load(i, first, chunk, x, support, rows):  # type: ignore[no-untyped-def]
    """Take the shares of a source from ``x`` (arcs,)."""
    support[i] = 0.0
    for a in range(first[i], first[i + 1]):
        at = place(i, a, first, chunk)
        rows[at + SHARE] = x[a]
        rows[at + ON] = 1.0 if x[a] > 0 else 0.0
        support[i] += rows[at + ON]


@arithmetic
def begin_lanes(k, mask, coupled, first, chunk, x, support, places, rows, ring_cost):  # type: ignore[no-untyped-def]
    """Shares, and the costs that step ``k − 1`` left behind."""
    for i in range(first.size - 1):
        if coupled[i] == 0:
            load(i, first, chunk, x, support, rows)
            for z in range(chunk[i], chunk[i + 1]):
                b, q, _, m = extent(chunk[i], z, first[i + 1] - first[i])
                fetch(b, q, m, U(k - 1), U(mask), places, ring_cost, rows)
                see(b, m, rows)


@arithmetic
def hand_over(k, mask, done, coupled, first, chunk, places, rows, ring_flow, x):  # type: ignore[no-untyped-def]
    """Give the sources that may meet an event to `_sources.route`: their shares, and to the cells what was left to send."""
    for i in range(first.size - 1):
        if coupled[i] != 0 or done[i]:
            continue
        for z in range(chunk[i], chunk[i + 1]):
            b, q, lanes, _ = extent(chunk[i], z, first[i + 1] - first[i])
            for a in range(lanes):
                e = (places[q + SLOT + a] + ((U(k) + places[q + LAG + a]) & U(mask))) * FOUR
                ring_flow[e + U(FLOW_MEAN)] += rows[b + LEFT + a]
                rows[b + LEFT + a] = 0.0
        unload(i, first, chunk, rows, x)


@arithmetic
def take_back(done, coupled, first, chunk, x, support, rows):  # type: ignore[no-untyped-def]
    """The shares that `_sources.route` has made."""
    for i in range(first.size - 1):
        if coupled[i] == 0 and not done[i]:
            load(i, first, chunk, x, support, rows)


@arithmetic
def unload(i, first, chunk, rows, x):  # type: ignore[no-untyped-def]
    """Write the shares of a source into ``x`` (arcs,)."""
    for a in range(first[i], first[i + 1]):
        x[a] = rows[place(i, a, first, chunk) + SHARE]


@arithmetic
def unload_all(coupled, first, chunk, rows, x):  # type: ignore[no-untyped-def]
    """`unload` of every source in lanes."""
    for i in range(first.size - 1):
        if coupled[i] == 0:
            unload(i, first, chunk, rows, x)


@arithmetic
def unload_speeds(width, done, first, chunk, rows, speed):  # type: ignore[no-untyped-def]
    """Write the slopes of shares at both ends of a step of its width into ``speed`` (arcs, 2), per second."""
    for i in range(first.size - 1):
        if done[i]:
            for a in range(first[i], first[i + 1]):
                at = place(i, a, first, chunk)
                speed[a, 0], speed[a, 1] = rows[at + FIRST_SPEED] / width, rows[at + LAST_SPEED] / width
