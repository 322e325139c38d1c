"""Compiled search: the largest total of disjoint sets of waiting requests whose sums lie in given ranges.

    maximise ``Σ_f x_f``   subject to   ``low_f ≤ x_f ≤ high_f``,   ``x_f`` the sum of exactly ``c_f`` waiting requests,

no request used twice. IO_0 at a given largest load ``M`` is this with ``high_f = M − a_f`` (``I = G M − Σ a − Σ x``);
SpreadLex has lower limits too. Only some workers need a search. Once they have their requests the rest is solved exactly
(`deal`): of workers with one slot and an upper limit, the one with the least limit may take the largest request within it (if
another had that one, they could swap), then the next; workers whose range cannot bind (``loose``) take the largest left. The
same rule bounds what the others can still add: of ``x_1 ≥ … ≥ x_c`` with sum at most ``high`` the ``j``-th is at most
``(high − bottom(c−j))/j``. All numbers are integers; the search is exact unless it meets its limit of nodes.
"""

import numba as nb
import numpy as np

NONE = -(1 << 60)
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
        if counts[i] == 0:
            i += 1
            continue
        if counts[j] == 0:
            j -= 1
            continue
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
            if counts[t] == 0:
                continue
            counts[t] -= 1
            pair = _best_pair(sizes, counts, high - sizes[t])
            counts[t] += 1
            if pair != NONE:
                best = max(best, sizes[t] + pair)
            if best == high:
                break
        return best
    return high


@nb.njit(cache=True)
def deal(
    sizes: np.ndarray,
    remaining: np.ndarray,
    limits: np.ndarray,
    loose: int,
    left: np.ndarray,
    stack: np.ndarray,
    chosen: np.ndarray,
) -> int:
    """Largest total of one request within each of ``limits`` (ascending) and ``loose`` others; `NONE` if there is none.

    ``left`` and ``stack`` (n,) are work space; ``chosen`` (at least as long as ``limits``) receives the classes taken.
    """
    total, t, high = 0, 0, 0
    for i in range(len(limits)):
        while t < len(sizes) and sizes[t] <= limits[i]:
            if remaining[t] > 0:
                stack[high], left[t] = t, remaining[t]
                high += 1
            t += 1
        if high == 0:
            return NONE
        s = stack[high - 1]
        chosen[i] = s
        total += sizes[s]
        left[s] -= 1
        if left[s] == 0:
            high -= 1
    u = len(sizes) - 1
    while loose > 0 and u >= t:
        take = min(loose, remaining[u])
        total += take * sizes[u]
        loose -= take
        u -= 1
    while loose > 0 and high > 0:
        s = stack[high - 1]
        take = min(loose, left[s])
        total += take * sizes[s]
        loose -= take
        high -= 1
    return total


@nb.njit(cache=True)
def _limits(sizes: np.ndarray, counts: np.ndarray, slots: np.ndarray, high: np.ndarray, first: int, last: int) -> np.ndarray:
    """Upper limits of the single requests of the workers ``first … last−1``, ascending."""
    out, i = np.empty(slots[first:last].sum(), np.int64), 0
    for f in range(first, last):
        for j in range(1, slots[f] + 1):
            out[i] = (high[f] - bottom_sum(sizes, counts, slots[f] - j)) // j
            i += 1
    return np.sort(out)


@nb.njit(cache=True)
def _ahead(
    sizes: np.ndarray, counts: np.ndarray, slots: np.ndarray, low: np.ndarray, high: np.ndarray, searched: int
) -> np.ndarray:
    """Upper bounds of the total of the searched workers from each one on (F+1,); all `NONE` where one has no sum at all."""
    rest = np.zeros(searched + 1, np.int64)
    for f in range(searched - 1, -1, -1):
        one = best_sum(sizes, counts, slots[f], high[f])
        if one == NONE or one < low[f]:
            rest[:] = NONE
            return rest
        rest[f] = rest[f + 1] + one
    return rest


@nb.njit(cache=True)
def _limits_ahead(
    sizes: np.ndarray, counts: np.ndarray, slots: np.ndarray, high: np.ndarray, searched: int, dealt: int
) -> tuple[np.ndarray, np.ndarray]:
    """`_limits` of all requests from each searched worker on: their number, and a row a worker."""
    start = np.zeros(searched + 2, np.int64)
    ahead = np.zeros((searched + 1, slots[:dealt].sum()), np.int64)
    for f in range(searched + 1):
        row = _limits(sizes, counts, slots, high, f, dealt)
        start[f] = len(row)
        ahead[f, : len(row)] = row
    return start, ahead


@nb.njit(cache=True)
def _take_top(sizes: np.ndarray, remaining: np.ndarray, slots: np.ndarray, first: int, y: np.ndarray) -> None:
    """Give the workers from ``first`` on the largest requests that remain."""
    t = len(sizes) - 1
    for f in range(first, len(slots)):
        k = slots[f]
        while k > 0:
            while remaining[t] == 0:
                t -= 1
            take = min(k, remaining[t])
            y[f, t] += take
            remaining[t] -= take
            k -= take


@nb.njit(cache=True)
def _write(
    counts: np.ndarray,
    sizes: np.ndarray,
    slots: np.ndarray,
    worker: np.ndarray,
    pick: np.ndarray,
    chosen: np.ndarray,
    searched: int,
    y: np.ndarray,
) -> None:
    """Class counts of the picks of the searched workers and of the ``chosen`` of those after them; the rest get the largest."""
    y[:] = 0
    remaining = counts.copy()
    for d in range(len(pick)):
        y[worker[d], pick[d]] += 1
        remaining[pick[d]] -= 1
    for i in range(len(chosen)):
        y[searched + i, chosen[i]] += 1
        remaining[chosen[i]] -= 1
    _take_top(sizes, remaining, slots, searched + len(chosen), y)


@nb.njit(cache=True)
def fill_box(
    sizes: np.ndarray,
    counts: np.ndarray,
    slots: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    searched: int,
    single: int,
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
        First the workers that are searched, then those with one slot and no lower limit, by ascending ``high``, then loose
        ones.
    searched, single : int
        How many of the first two kinds.
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
    n, dealt = len(sizes), searched + single
    remaining, left, stack = counts.copy(), np.zeros(n, np.int64), np.zeros(n, np.int64)
    loose, depth = slots[dealt:].sum(), slots[:searched].sum()
    limits = high[searched:dealt].copy()
    chosen, best_chosen = np.zeros(depth + single + 1, np.int64), np.zeros(single + 1, np.int64)
    outer = deal(sizes, counts, limits, loose, left, stack, chosen)
    rest = _ahead(sizes, remaining, slots, low, high, searched)
    if outer == NONE or rest[0] == NONE:
        return NONE, 0
    start, ahead = _limits_ahead(sizes, counts, slots, high, searched, dealt)
    ceiling = deal(sizes, counts, ahead[0, : start[0]], loose, left, stack, chosen)
    if ceiling == NONE or min(ceiling, rest[0] + outer) <= floor:
        return NONE, 0
    stop = min(stop, ceiling, rest[0] + outer)
    worker, more, least = np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64)
    d = 0
    for f in range(searched):
        for j in range(slots[f] - 1, -1, -1):
            worker[d], more[d], least[d] = f, j, bottom_sum(sizes, counts, j)
            d += 1
    pick, given = np.full(depth + 1, -1), np.full(depth + 1, -1)
    at, own = np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64)
    best, best_pick, found = floor, pick.copy(), False
    total, nodes, d = 0, 0, 0
    at[0] = n - 1
    while d >= 0:
        if given[d] >= 0:  # come back: take the last request away
            remaining[given[d]] += 1
            total -= sizes[given[d]]
            given[d] = -1
        if d == depth:
            value = deal(sizes, remaining, limits, loose, left, stack, chosen)
            if value != NONE and total + value > best:
                best, found = total + value, True
                best_pick[:] = pick
                best_chosen[:single] = chosen[:single]
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
        if total + min(room, (j + 1) * size) + rest[f + 1] + outer <= best:
            d -= 1
            continue
        at[d] = t - 1
        nodes += 1
        if nodes > limit:
            break
        remaining[t] -= 1
        total += size
        given[d], pick[d] = t, t
        if j == 0 and d + 1 < depth:
            value = deal(sizes, remaining, ahead[f + 1, : start[f + 1]], loose, left, stack, chosen)
            if value == NONE or total + value <= best:
                continue
            value = deal(sizes, remaining, limits, loose, left, stack, chosen)
            if value == NONE or total + rest[f + 1] + value <= best:
                continue
        d += 1
        given[d] = -1
        if j > 0:
            own[d], at[d] = own[d - 1] + size, t
        else:
            own[d], at[d] = 0, n - 1
    if not found:
        return NONE, nodes
    _write(counts, sizes, slots, worker, best_pick[:depth], best_chosen[:single], searched, y)
    return best, nodes


@nb.njit(cache=True)
def box(
    high: np.ndarray,
    low: np.ndarray,
    top: np.ndarray,
    sizes: np.ndarray,
    counts: np.ndarray,
    slots: np.ndarray,
    floor: int,
    stop: int,
    limit: int,
    y: np.ndarray,
) -> tuple[int, int]:
    """`fill_box` with the workers put in its order: the least choice first among those that are searched."""
    kind = np.zeros(len(high), np.int64)
    for f in range(len(high)):
        if high[f] >= top[f] and low[f] == 0:
            kind[f] = 2
        elif slots[f] == 1 and low[f] == 0:
            kind[f] = 1
    many, one = np.flatnonzero(kind == 0), np.flatnonzero(kind == 1)
    span = 1.0 + np.abs(high).max()
    many = many[np.argsort(slots[many] * span + np.minimum(high[many], top[many]))]
    one = one[np.argsort(high[one])]
    order = np.concatenate((many, one, np.flatnonzero(kind == 2)))
    inner = np.zeros_like(y)
    total, nodes = fill_box(
        sizes, counts, slots[order], low[order], high[order], len(many), len(one), floor, stop, limit, inner
    )
    if total != NONE:
        for i in range(len(order)):
            y[order[i]] = inner[i]
    return total, nodes
