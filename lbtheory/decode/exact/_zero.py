"""Compiled exact decisions at offset 0 where the queue covers the free slots: IO_0.

For a largest load ``M`` the total admitted is at most ``u(M) = min_S [Σ_{f∉S} (M − a_f) + top(c(S))]``, ``top(k)`` the sum of
the ``k`` largest waiting requests: those outside ``S`` stay below ``M``, those inside share the largest. So with the largest
load ``M``

    ``I ≥ φ(M) = G M − Σ_g a_g − u(M)``,   nondecreasing in ``M``, since each of at most ``G`` workers adds 1 to ``u`` or
    nothing.

``φ`` at the least possible ``M`` bounds IO_0; an assignment that reaches it is proved by that alone. Otherwise `fill_box`
finds the largest total for ``M``, ``M + 1``, … until ``φ(M)`` is no better than what is known, and `refine` improves what a
search that was cut has found. Source: ours, proved.
"""

import numba as nb
import numpy as np

from lbtheory.decode.exact._box import NONE, bottom_sum, box, last_at_most, top_sum
from lbtheory.decode.exact._hit import hit_levels
from lbtheory.decode.exact._refine import refine

UNPROVED, BOUND, LEVELS, SEARCH, REFINED = 0, 1, 2, 3, 4
"""How an answer was settled: not; the bound was met by dealing out, by `hit_levels`; `fill_box` ended; `refine` met it."""

FAR = 1 << 60
FIRST_ROUNDS = 8
"""Levels tried before the search; the others follow where it does not end."""
GROUPS = 100
"""How many searches of groups the nodes are shared among."""
PEAK_COST = 200
"""Nodes that one largest load counts for: about what preparing its search takes."""


@nb.njit(cache=True)
def ceiling(peak: int, base: np.ndarray, slots: np.ndarray, top: np.ndarray, sums: np.ndarray, shared: np.ndarray) -> int:
    """``u(M)`` over the sets ``S`` that hold the workers with most room a slot; marks the best set in ``shared``.

    Parameters
    ----------
    base, slots, top : int arrays (F,)
        Loads, free slots, and the sums of the ``c_f`` largest requests.
    sums : int array (U+1,)
        ``top(k)``.
    shared : bool array (F,), output
    """
    workers = len(base)
    room = np.empty(workers)
    for f in range(workers):
        room[f] = -(peak - base[f]) / slots[f]
        if peak - base[f] >= top[f]:
            room[f] -= FAR
    order = np.argsort(room)
    outside = 0
    for f in range(workers):
        outside += min(peak - base[f], top[f])
    best, many, used = outside, 0, 0
    for i in range(workers):
        f = order[i]
        outside -= min(peak - base[f], top[f])
        used += slots[f]
        if outside + sums[used] <= best:
            best, many = outside + sums[used], i + 1
    shared[:] = False
    for i in range(many):
        shared[order[i]] = True
    return best


@nb.njit(cache=True)
def top_sums(sizes: np.ndarray, counts: np.ndarray, k: int) -> np.ndarray:
    """``top(0 … k)``."""
    out, t, used = np.zeros(k + 1, np.int64), len(sizes) - 1, 0
    for i in range(1, k + 1):
        while used == counts[t]:
            t, used = t - 1, 0
        out[i] = out[i - 1] + sizes[t]
        used += 1
    return out


@nb.njit(cache=True)
def _deal(queue: np.ndarray, slots: np.ndarray, room: np.ndarray, shared: np.ndarray, picks: np.ndarray) -> bool:
    """Deal the largest requests to the workers in ``shared``, each to the one with most room a free slot; False on overflow."""
    workers, used = len(slots), np.zeros(len(slots), np.int64)
    left = room.copy()
    many = 0
    for f in range(workers):
        if shared[f]:
            many += slots[f]
    for i in range(many):
        size, to, most = queue[len(queue) - 1 - i], -1, 0.0
        for f in range(workers):
            if shared[f] and used[f] < slots[f]:
                share = left[f] / (slots[f] - used[f])
                if to < 0 or share > most:
                    to, most = f, share
        picks[to, used[to]] = size
        used[to] += 1
        left[to] -= size
        if left[to] < 0:
            return False
    return True


@nb.njit(cache=True)
def record(picks: np.ndarray, slots: np.ndarray, sizes: np.ndarray, y: np.ndarray) -> None:
    """Class counts of the sizes picked."""
    y[:] = 0
    for f in range(len(slots)):
        for k in range(slots[f]):
            y[f, last_at_most(sizes, picks[f, k])] += 1


@nb.njit(cache=True)
def meet_bound(
    peak: int,
    peak_high: int,
    queue: np.ndarray,
    sizes: np.ndarray,
    slots: np.ndarray,
    base: np.ndarray,
    shared: np.ndarray,
    rounds: int,
    seed: int,
    y: np.ndarray,
) -> int:
    """Reach ``u(M)`` exactly: the largest requests to ``shared``, the others onto the level ``M``; how, or `UNPROVED`."""
    workers, inside = len(slots), 0
    for f in range(workers):
        if shared[f]:
            inside += slots[f]
    picks = np.zeros((workers, slots.max()), np.int64)
    if not _deal(queue, slots, peak - base, shared, picks):
        return UNPROVED
    if shared.all():
        record(picks, slots, sizes, y)
        return BOUND
    outside = np.flatnonzero(~shared)
    found = np.zeros((len(outside), slots.max()), np.int64)
    if not hit_levels(queue[: len(queue) - inside], slots[outside], base[outside], peak, peak_high, rounds, seed, found):
        return UNPROVED
    for k in range(len(outside)):
        picks[outside[k]] = found[k]
    record(picks, slots, sizes, y)
    return LEVELS


@nb.njit(cache=True)
def io_zero(
    queue: np.ndarray,
    sizes: np.ndarray,
    counts: np.ndarray,
    base: np.ndarray,
    slots: np.ndarray,
    full_peak: int,
    load: int,
    workers: int,
    seed: int,
    rounds: int,
    limit: int,
    y: np.ndarray,
) -> tuple[int, int, int]:
    """IO_0: the least ``I = G M − Σ_g L_g``.

    Parameters
    ----------
    queue : int array (R,)
        Waiting sizes, ascending; ``sizes``, ``counts`` (n,) are the same by distinct size.
    base, slots : int arrays (F,)
        Loads and free slots of the workers that have some.
    full_peak, load, workers : int
        Largest load of the others (0 or less where there are none), sum of all loads, ``G``.
    seed, rounds, limit : int
        For `hit_levels` and `fill_box`.
    y : int array (F, n), output
        Class counts of the best assignment known.

    Returns
    -------
    value, bound : int
        ``I`` of ``y``, and a proved lower bound of the optimum.
    how : int
        `UNPROVED`, `BOUND`, `LEVELS`, `SEARCH` or `REFINED`.
    """
    count, admissions = len(base), slots.sum()
    top, peak = np.empty(count, np.int64), full_peak
    for f in range(count):
        top[f] = top_sum(sizes, counts, slots[f])
        peak = max(peak, base[f] + bottom_sum(sizes, counts, slots[f]))
    sums, shared = top_sums(sizes, counts, admissions), np.zeros(count, np.bool_)
    first = workers * peak - load - ceiling(peak, base, slots, top, sums, shared)
    levels = count == workers and not shared.any()
    high = peak
    if levels:
        high = max(peak, min((base + top).min(), (load + sums[admissions]) // workers))
    tries = min(rounds, FIRST_ROUNDS)
    how = meet_bound(peak, high, queue, sizes, slots, base, shared, tries, seed, y)
    if how != UNPROVED:
        return first, first, how
    best, bound, how = _search(peak, queue, sizes, counts, base, slots, top, sums, load, workers, limit, y)
    if how == UNPROVED:
        if best == FAR:
            _some_fill(peak, sizes, counts, base, slots, top, sums, limit // GROUPS, y)
        best = _refined(full_peak, sizes, counts, base, slots, top, sums, load, workers, rounds, limit, seed, y)
        if best == bound:
            return best, bound, REFINED
    if how == UNPROVED and bound == first and rounds > tries:
        how = meet_bound(peak, high, queue, sizes, slots, base, shared, rounds - tries, seed + 1, y)
        if how != UNPROVED:
            return first, first, how
    return best, bound, how


@nb.njit(cache=True)
def _some_fill(
    peak: int,
    sizes: np.ndarray,
    counts: np.ndarray,
    base: np.ndarray,
    slots: np.ndarray,
    top: np.ndarray,
    sums: np.ndarray,
    limit: int,
    y: np.ndarray,
) -> None:
    """Any fill, below a largest load that is raised until a short search finds one (where nothing binds, any will do)."""
    step, total, none = 1, NONE, np.zeros(len(base), np.int64)
    while total == NONE:
        peak += step
        step *= 2
        most = ceiling(peak, base, slots, top, sums, np.zeros(len(base), np.bool_))
        total, _ = box(peak - base, none, top, sizes, counts, slots, -1, most, limit, y)


@nb.njit(cache=True)
def _refined(
    full_peak: int,
    sizes: np.ndarray,
    counts: np.ndarray,
    base: np.ndarray,
    slots: np.ndarray,
    top: np.ndarray,
    sums: np.ndarray,
    load: int,
    workers: int,
    rounds: int,
    limit: int,
    seed: int,
    y: np.ndarray,
) -> int:
    """``I`` of ``y`` after `refine` below its largest load."""
    loads = base + (y * sizes).sum(axis=1)
    peak = max(full_peak, loads.max())
    most = ceiling(peak, base, slots, top, sums, np.zeros(len(base), np.bool_))
    refine(peak - base, sizes, counts, slots, most, rounds, limit // GROUPS, seed, y)
    loads = base + (y * sizes).sum(axis=1)
    return workers * max(full_peak, loads.max()) - load - (loads - base).sum()


@nb.njit(cache=True)
def _next_peak(peak: int, sizes: np.ndarray, counts: np.ndarray, base: np.ndarray, slots: np.ndarray) -> int:
    """The least load above ``peak`` that a worker can have (any, with more than two slots): no other is a maximum."""
    best = FAR
    for f in range(len(base)):
        want = peak - base[f] + 1  # the least sum of this or more
        if slots[f] == 1:
            t = last_at_most(sizes, want - 1) + 1
            if t < len(sizes):
                best = min(best, base[f] + sizes[t])
        elif slots[f] == 2:
            i, j = 0, len(sizes) - 1
            while i <= j:
                if i == j and counts[i] < 2:
                    break
                pair = sizes[i] + sizes[j]
                if pair >= want:
                    best = min(best, base[f] + pair)
                    j -= 1
                else:
                    i += 1
        else:
            best = min(best, peak + 1)
    return best


@nb.njit(cache=True)
def _search(
    peak: int,
    queue: np.ndarray,
    sizes: np.ndarray,
    counts: np.ndarray,
    base: np.ndarray,
    slots: np.ndarray,
    top: np.ndarray,
    sums: np.ndarray,
    load: int,
    workers: int,
    limit: int,
    y: np.ndarray,
) -> tuple[int, int, int]:
    """`fill_box` for one largest load after another."""
    best, bound, used, cut = FAR, FAR, 0, False
    shared, none = np.zeros(len(base), np.bool_), np.zeros(len(base), np.int64)
    while peak < FAR:  # beyond every load that any worker can have nothing is left to try
        most = ceiling(peak, base, slots, top, sums, shared)
        phi = workers * peak - load - most
        if phi >= best:
            break
        if used > limit:
            bound, cut = min(bound, phi), True
            break
        total, nodes = box(peak - base, none, top, sizes, counts, slots, workers * peak - load - best, most, limit // 2 + 1, y)
        used += nodes + PEAK_COST
        if total != NONE:
            best = workers * peak - load - total
        if nodes > limit // 2 + 1 and (total == NONE or total < most):
            bound, cut = min(bound, phi), True
            if best < FAR:
                break
        peak = _next_peak(peak, sizes, counts, base, slots)
    if cut:
        return best, min(bound, best), SEARCH if best <= bound else UNPROVED
    return best, best, SEARCH


@nb.njit(cache=True)
def decide(
    loads: np.ndarray,
    free: np.ndarray,
    waiting: np.ndarray,
    order: np.ndarray,
    seed: int,
    rounds: int,
    limit: int,
    worker: np.ndarray,
) -> tuple[int, int, int]:
    """IO_0 from loads (G,), free slots (G,) and waiting sizes (R,) in release order, ``0 < Σ free ≤ R``; ``order`` sorts
    them, stably.


    ``worker`` (R,) receives the worker of each request, −1 where it waits on; of requests of one size the earliest go,
    the lowest worker first. Returns what `io_zero` returns.
    """
    queue = waiting[order]
    starts = np.empty(len(queue), np.int64)
    n = 0
    for i in range(len(queue)):
        if i == 0 or queue[i] != queue[i - 1]:
            starts[n] = i
            n += 1
    sizes, counts = queue[starts[:n]], np.empty(n, np.int64)
    for t in range(n):
        counts[t] = (starts[t + 1] if t + 1 < n else len(queue)) - starts[t]
    lowest, full_peak = loads.min(), 0
    for g in range(len(loads)):
        if free[g] == 0:
            full_peak = max(full_peak, loads[g] - lowest)
    opened = np.flatnonzero(free > 0)
    y = np.zeros((len(opened), n), np.int64)
    value, bound, how = io_zero(
        queue,
        sizes,
        counts,
        loads[opened] - lowest,
        free[opened],
        full_peak,
        loads.sum() - len(loads) * lowest,
        len(loads),
        seed,
        rounds,
        limit,
        y,
    )
    worker[:] = -1
    for t in range(n):
        i = starts[t]
        for f in range(len(opened)):
            for _ in range(y[f, t]):
                worker[order[i]] = opened[f]
                i += 1
    return value, bound, how
