"""Compiled search: the largest total of disjoint sets of waiting requests whose sums lie in given ranges.

    maximise ``Σ_f x_f``   subject to   ``low_f ≤ x_f ≤ high_f``,   ``x_f`` the sum of exactly ``c_f`` waiting requests,

no request used twice. IO_0 at a given largest load ``M`` is this with ``high_f = M − a_f`` (``I = G M − Σ a − Σ x``), SpreadLex has
lower limits too. Workers whose range cannot bind (``loose``) come last and take the largest requests that are left, so the depth
of the search is the number of slots of the others, usually a few. All numbers are integers; the search is exact unless it meets
its limit of nodes.
"""

import numba as nb
import numpy as np

NONE = np.int64(-1) << np.int64(60)
"""Total where there is no assignment."""


@nb.njit(cache=True)
def top_sum(sizes: np.ndarray, counts: np.ndarray, k: int) -> int:
    """Sum of the ``k`` largest requests (of all of them when there are fewer)."""
    total, t = 0, len(sizes) - 1
    while k > 0 and t >= 0:
        take = min(k, counts[t])
        total += take * sizes[t]
        k -= take
        t -= 1
    return total


@nb.njit(cache=True)
def bottom_sum(sizes: np.ndarray, counts: np.ndarray, k: int) -> int:
    """Sum of the ``k`` smallest requests (of all of them when there are fewer)."""
    total, t = 0, 0
    while k > 0 and t < len(sizes):
        take = min(k, counts[t])
        total += take * sizes[t]
        k -= take
        t += 1
    return total


@nb.njit(cache=True)
def last_at_most(sizes: np.ndarray, value: int) -> int:
    """Index of the largest size ``≤ value``, −1 when there is none."""
    low, high = 0, len(sizes)
    while low < high:
        middle = (low + high) // 2
        if sizes[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low - 1


@nb.njit(cache=True)
def _best_pair(sizes: np.ndarray, counts: np.ndarray, high: int) -> int:
    """Largest sum ``≤ high`` of two waiting requests."""
    best, i, j = NONE, 0, len(sizes) - 1
    while i <= j:
        if i == j and counts[i] < 2:
            break
        pair = sizes[i] + sizes[j]
        if pair <= high:
            best = max(best, pair)
            i += 1
        else:
            j -= 1
    return best


@nb.njit(cache=True)
def best_sum(sizes: np.ndarray, counts: np.ndarray, c: int, high: int) -> int:
    """Upper bound of a sum ``≤ high`` of ``c`` waiting requests; exact for one and two, and for three of few sizes."""
    top = top_sum(sizes, counts, c)
    if top <= high:
        return top
    if c == 1:
        t = last_at_most(sizes, high)
        return sizes[t] if t >= 0 else NONE
    if c == 2:
        return _best_pair(sizes, counts, high)
    if c == 3 and len(sizes) <= 128:
        best = NONE
        for t in range(len(sizes)):
            counts[t] -= 1
            if counts[t] == 0:
                rest, many = np.delete(sizes, t), np.delete(counts, t)
                pair = _best_pair(rest, many, high - sizes[t])
            else:
                pair = _best_pair(sizes, counts, high - sizes[t])
            counts[t] += 1
            if pair != NONE:
                best = max(best, sizes[t] + pair)
            if best == high:
                break
        return best
    return high


@nb.njit(cache=True)
def _take_top(
    sizes: np.ndarray, remaining: np.ndarray, slots: np.ndarray, first: int, y: np.ndarray
) -> None:
    """Give the workers from ``first`` on the largest requests that remain."""
    t, left = len(sizes) - 1, remaining[len(sizes) - 1] if len(sizes) > 0 else 0
    for f in range(first, len(slots)):
        k = slots[f]
        while k > 0:
            while left == 0:
                t -= 1
                left = remaining[t]
            take = min(k, left)
            y[f, t] += take
            k -= take
            left -= take


@nb.njit(cache=True)
def fill_box(
    sizes: np.ndarray,
    counts: np.ndarray,
    slots: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    tight: int,
    floor: int,
    stop: int,
    limit: int,
    y: np.ndarray,
) -> tuple[int, int]:
    """Maximise the total; depth first, larger requests first.

    Parameters
    ----------
    sizes, counts : int arrays (n,)
        Distinct waiting sizes, ascending, and how many wait; at least ``Σ slots`` in all.
    slots, low, high : int arrays (F,)
        Workers from ``tight`` on must accept any requests: ``low_f ≤`` the sum of the ``c_f`` smallest and ``high_f ≥`` that of
        the ``c_f`` largest.
    tight : int
    floor, stop : int
        Only totals above ``floor`` count; the search ends at the first total of ``stop`` or more.
    limit : int
        Nodes to visit.
    y : int array (F, n), output
        Class counts of the answer, where there is one.

    Returns
    -------
    total : int
        The largest total above ``floor``, or `NONE`.
    nodes : int
        Visited nodes; above ``limit`` when the search was cut, and the total is then not proved largest.
    """
    n, workers = len(sizes), len(slots)
    remaining = counts.copy()
    rest = np.zeros(tight + 1, np.int64)
    for f in range(tight - 1, -1, -1):
        one = best_sum(sizes, remaining, slots[f], high[f])
        if one == NONE or one < low[f]:
            return NONE, 0
        rest[f] = rest[f + 1] + one
    after = np.zeros(workers + 1, np.int64)
    for f in range(workers - 1, -1, -1):
        after[f] = after[f + 1] + slots[f]
    loose = after[tight]
    top_loose = top_sum(sizes, counts, loose)
    depth = after[0] - loose
    worker, more = np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64)
    d = 0
    for f in range(tight):
        for j in range(slots[f] - 1, -1, -1):
            worker[d], more[d] = f, j
            d += 1
    least = np.zeros(depth + 1, np.int64)
    for d in range(depth):
        least[d] = bottom_sum(sizes, counts, more[d])
    pick, at, own, given = (
        np.full(depth + 1, -1),
        np.zeros(depth + 1, np.int64),
        np.zeros(depth + 1, np.int64),
        np.full(depth + 1, -1),
    )
    best, best_pick, found = floor, pick.copy(), False
    total, nodes, d = 0, 0, 0
    at[0] = n - 1
    while d >= 0:
        if given[d] >= 0:  # come back: take the last request away
            remaining[given[d]] += 1
            total -= sizes[given[d]]
            given[d] = -1
        if d == depth:
            value = total + top_sum(sizes, remaining, loose)
            if value > best:
                best, found = value, True
                best_pick[:] = pick
                if best >= stop:
                    break
            d -= 1
            continue
        f, j = worker[d], more[d]
        room = high[f] - own[d]
        if at[d] >= 0 and sizes[at[d]] > room - least[d]:
            at[d] = last_at_most(sizes, room - least[d])
        t = at[d]
        while t >= 0 and remaining[t] == 0:
            t -= 1
        if t < 0 or own[d] + (j + 1) * sizes[t] < low[f]:
            d -= 1
            continue
        size = sizes[t]
        outside = total + rest[f + 1] + top_loose
        if outside + min(room, (j + 1) * size) <= best:
            d -= 1
            continue
        at[d] = t - 1
        nodes += 1
        if nodes > limit:
            break
        remaining[t] -= 1
        total += size
        given[d], pick[d] = t, t
        if j == 0:
            left = after[f + 1]
            ahead = min(rest[f + 1] + top_sum(sizes, remaining, loose), top_sum(sizes, remaining, left))
            if total + ahead <= best:
                continue
        d += 1
        given[d] = -1
        if j > 0:
            own[d], at[d] = own[d - 1] + size, t
        else:
            own[d], at[d] = 0, n - 1
    if not found:
        return NONE, nodes
    y[:] = 0
    remaining[:] = counts
    for d in range(depth):
        y[worker[d], best_pick[d]] += 1
        remaining[best_pick[d]] -= 1
    _take_top(sizes, remaining, slots, tight, y)
    return best, nodes
