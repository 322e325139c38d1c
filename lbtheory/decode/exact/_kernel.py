"""Compiled enumeration of all assignments of few requests, at offset 0.

The walk goes worker by worker and, within a worker, through ascending sizes, with "no more requests" first. So it meets
assignments in the lexicographic order of (sizes of worker 0, sizes of worker 1, …), each list ascending and a list before its
extensions; the first of equally good ones is the canonical one.
"""

import numba as nb
import numpy as np

IMBALANCE, MIN_MAX, SPREAD_LEX = 0, 1, 2


@nb.njit(cache=True)
def _better(key: np.ndarray, loads: np.ndarray, full: np.ndarray, best_key: np.ndarray) -> bool:
    """Write the key of ``loads`` to ``key`` and return whether it is below ``best_key``.

    ``full`` is (largest, smallest, number at the largest, sum, number) of the loads of the full workers.
    """
    peak, low, at, total = full[0], full[1], full[2], full[3]
    for v in loads:
        total += v
        low = min(low, v)
        if v > peak:
            peak, at = v, 1
        elif v == peak:
            at += 1
    aggregate = (len(loads) + full[4]) * peak - total
    if key[0] == IMBALANCE:
        key[1], key[2], key[3] = aggregate, 0, 0
    elif key[0] == MIN_MAX:
        key[1], key[2], key[3] = peak, aggregate, 0
    else:
        key[1], key[2], key[3] = peak - low, at, aggregate
    for k in range(1, 5):
        if key[k] != best_key[k]:
            return key[k] < best_key[k]
    return False


@nb.njit(cache=True)
def _keep(key: np.ndarray, y: np.ndarray, best_key: np.ndarray, best_y: np.ndarray) -> None:
    for k in range(len(key)):
        best_key[k] = key[k]
    for g in range(y.shape[0]):
        for t in range(y.shape[1]):
            best_y[g, t] = y[g, t]


@nb.njit(cache=True)
def _place(
    g: int,
    t: int,
    sign: int,
    forced: int,
    key: np.ndarray,
    loads: np.ndarray,
    y: np.ndarray,
    remaining: np.ndarray,
    need: np.ndarray,
    tie: np.ndarray,
    sizes: np.ndarray,
) -> None:
    """Put a request of class ``t`` on worker ``g`` (``sign`` 1) or take it back (−1)."""
    remaining[t] -= sign
    need[t] -= sign * forced
    loads[g] += sign * sizes[t]
    y[g, t] += sign
    key[4] += sign * tie[g, t]


@nb.njit(cache=True)
def _try_last(
    g: int,
    t: int,
    key: np.ndarray,
    loads: np.ndarray,
    y: np.ndarray,
    remaining: np.ndarray,
    need: np.ndarray,
    tie: np.ndarray,
    sizes: np.ndarray,
    full: np.ndarray,
    best_key: np.ndarray,
    best_y: np.ndarray,
) -> None:
    """Complete the assignment with one request of class ``t`` on worker ``g`` and compare."""
    _place(g, t, 1, 0, key, loads, y, remaining, need, tie, sizes)
    if _better(key, loads, full, best_key):
        _keep(key, y, best_key, best_y)
    _place(g, t, -1, 0, key, loads, y, remaining, need, tie, sizes)


@nb.njit(cache=True)
def _last(
    g: int,
    first: int,
    need_left: int,
    key: np.ndarray,
    loads: np.ndarray,
    y: np.ndarray,
    remaining: np.ndarray,
    need: np.ndarray,
    tie: np.ndarray,
    sizes: np.ndarray,
    full: np.ndarray,
    best_key: np.ndarray,
    best_y: np.ndarray,
) -> None:
    """The last free slot, on worker ``g``: only the sizes next to the gap below the others' maximum can be best."""
    n = len(sizes)
    if need_left > 0:
        for t in range(first, n):
            if need[t] > 0 and remaining[t] > 0:
                _try_last(g, t, key, loads, y, remaining, need, tie, sizes, full, best_key, best_y)
        return
    peak = full[0]
    for k in range(len(loads)):
        if k != g:
            peak = max(peak, loads[k])
    gap = peak - loads[g]
    at, end = first, n
    while at < end:
        middle = (at + end) // 2
        if sizes[middle] < gap:
            at = middle + 1
        else:
            end = middle
    below = at - 1
    while below >= first and remaining[below] == 0:
        below -= 1
    if below >= first:
        _try_last(g, below, key, loads, y, remaining, need, tie, sizes, full, best_key, best_y)
    if at < n and sizes[at] == gap:
        if remaining[at] > 0:
            _try_last(g, at, key, loads, y, remaining, need, tie, sizes, full, best_key, best_y)
        at += 1
    while at < n and remaining[at] == 0:
        at += 1
    if at < n:
        _try_last(g, at, key, loads, y, remaining, need, tie, sizes, full, best_key, best_y)


@nb.njit(cache=True)
def _walk(
    filled: bool,
    admissions: int,
    slots: np.ndarray,
    room: np.ndarray,
    key: np.ndarray,
    loads: np.ndarray,
    y: np.ndarray,
    remaining: np.ndarray,
    need: np.ndarray,
    tie: np.ndarray,
    sizes: np.ndarray,
    full: np.ndarray,
    best_key: np.ndarray,
    best_y: np.ndarray,
) -> None:
    """Visit every assignment, depth first; a node is (worker, smallest class allowed, requests it has, next class to try).

    Written as a loop over a stack: cached recursive kernels crash when loaded.
    """
    n, depth = len(sizes), len(slots) + admissions + 1
    worker, first, used = np.zeros(depth, np.int64), np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    following, via, was_forced = np.full(depth, -1), np.full(depth, -1), np.zeros(depth, np.int64)
    left, need_left, d = admissions, need.sum(), 0
    while d >= 0:
        g = worker[d]
        if following[d] < 0:
            following[d] = first[d]
            if g == len(slots):
                following[d] = n
                if _better(key, loads, full, best_key):
                    _keep(key, y, best_key, best_y)
            elif (used[d] == slots[g]) if filled else (left <= room[g + 1]):
                d += 1
                worker[d], first[d], used[d], following[d], via[d] = g + 1, 0, 0, -1, -1
                continue
        if g < len(slots) and used[d] < slots[g] and left > 0:
            if filled and left == 1:
                _last(g, first[d], need_left, key, loads, y, remaining, need, tie, sizes, full, best_key, best_y)
            else:
                t = following[d]
                while t < n and (remaining[t] == 0 or (need_left == left and need[t] == 0)):
                    t += 1
                following[d] = t + 1
                if t < n:
                    forced = 1 if need[t] > 0 else 0
                    _place(g, t, 1, forced, key, loads, y, remaining, need, tie, sizes)
                    left, need_left = left - 1, need_left - forced
                    d += 1
                    worker[d], first[d], used[d], following[d] = g, t, used[d - 1] + 1, -1
                    via[d], was_forced[d] = t, forced
                    continue
        if via[d] >= 0:
            _place(g, via[d], -1, was_forced[d], key, loads, y, remaining, need, tie, sizes)
            left, need_left = left + 1, need_left + was_forced[d]
        d -= 1


@nb.njit(cache=True)
def enumerate_assignments(
    kind: int,
    filled: bool,
    admissions: int,
    slots: np.ndarray,
    base: np.ndarray,
    sizes: np.ndarray,
    counts: np.ndarray,
    forced: np.ndarray,
    tie: np.ndarray,
    full: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Best assignment of ``admissions`` requests by the key of ``kind``, then ``Σ tie · y``, then lexicographic order.

    Parameters
    ----------
    kind : int
        `IMBALANCE`, `MIN_MAX` or `SPREAD_LEX`.
    filled : bool
        Every slot is filled; otherwise every waiting request is admitted.
    admissions : int
    slots, base : int arrays (F,)
    sizes, counts, forced : int arrays (n,)
    tie : int array (F, n)
    full : int array (5,)
        Largest and smallest load of the workers without a free slot, how many are at that largest, their sum and number.

    Returns
    -------
    key : int array (5,)
        ``kind``, the key padded with zeros to three numbers, the tie value.
    y : int array (F, n)
    """
    size = len(slots)
    room = np.zeros(size + 1, np.int64)
    for g in range(size - 1, -1, -1):
        room[g] = room[g + 1] + slots[g]
    key, best_key = np.zeros(5, np.int64), np.full(5, np.iinfo(np.int64).max)
    key[0] = kind
    y = np.zeros((size, len(sizes)), np.int64)
    best_y = y.copy()
    _walk(
        filled, admissions, slots, room, key, base.copy(), y, counts.copy(), forced.copy(), tie, sizes, full, best_key, best_y
    )
    return best_key, best_y
