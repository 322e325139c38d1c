"""Compiled expansion of states: what chance does to a state, what admissions can make of it.

A slot holds a symbol, a worker the sorted symbols of its slots, a state the sorted workers (slots and workers are
exchangeable) and the number of its queue. States are coded as integers in mixed radix; an empty slot is the largest symbol.
"""

import numba as nb
import numpy as np


@nb.njit(cache=True)
def _sort(values: np.ndarray) -> None:
    """Ascending, in place, by insertion: these arrays have a handful of entries."""
    for i in range(1, len(values)):
        v, j = values[i], i
        while j > 0 and values[j - 1] > v:
            values[j] = values[j - 1]
            j -= 1
        values[j] = v


@nb.njit(cache=True)
def encode(rows: np.ndarray, empty: int, queue: int, queues: int, codes: np.ndarray) -> int:
    """Code of a state: sort slots within workers and workers, in place. ``rows`` is int (G, B), ``codes`` (G,) work space."""
    workers, slots = rows.shape
    base = 1
    for _ in range(slots):
        base *= empty + 1
    for g in range(workers):
        _sort(rows[g])
        code = 0
        for b in range(slots):
            code = code * (empty + 1) + rows[g, b]
        codes[g] = code
    _sort(codes)
    total = 0
    for g in range(workers):
        total = total * base + codes[g]
    return total * queues + queue


@nb.njit(cache=True)
def decode(code: int, empty: int, queues: int, rows: np.ndarray) -> int:
    """Write the slots of a coded state to ``rows`` and return its queue."""
    queue = code % queues
    code //= queues
    workers, slots = rows.shape
    for g in range(workers - 1, -1, -1):
        for b in range(slots - 1, -1, -1):
            rows[g, b] = code % (empty + 1)
            code //= empty + 1
    return queue


@nb.njit(cache=True)
def chances(
    codes: np.ndarray,
    shape: tuple[int, int],
    next_symbol: np.ndarray,
    chance: np.ndarray,
    outcomes: np.ndarray,
    joined: np.ndarray,
    join_chance: np.ndarray,
    joins: np.ndarray,
    start: np.ndarray,
    to: np.ndarray,
    weight: np.ndarray,
) -> None:
    """Where chance takes each state: every outcome of its slots and, with a finite queue, of the arrivals that replace
    departures.

    Parameters
    ----------
    codes : int array (n,)
    next_symbol, chance : arrays (A, K)
        Outcomes of a slot; ``A`` (empty) is a departure. ``outcomes`` (A,) of them.
    joined, join_chance : arrays (queues, GB+1, J), joins (GB+1,)
        Queue after ``u`` arrivals and its probability. With every size in supply there is one queue and one join.
    start : int array (n+1,)
        Places of the outcomes of each state.
    to, weight : output arrays
    """
    workers, slots = shape
    rows, out, empty = np.empty((workers, slots), np.int64), np.empty((workers, slots), np.int64), len(outcomes)
    queues, codes_of = joined.shape[0], np.empty(workers, np.int64)
    digits = np.zeros(workers * slots, np.int64)
    for i in range(len(codes)):
        queue = decode(codes[i], empty, queues, rows)
        flat = rows.copy().ravel()
        digits[:] = 0
        at = start[i]
        while True:
            p, gone = 1.0, 0
            for k in range(len(flat)):
                a = flat[k]
                p *= chance[a, digits[k]]
                out[k // slots, k % slots] = next_symbol[a, digits[k]]
                gone += next_symbol[a, digits[k]] == empty
            base = encode(out, empty, 0, queues, codes_of)
            for j in range(joins[gone]):
                to[at] = base + joined[queue, gone, j]
                weight[at] = p * join_chance[queue, gone, j]
                at += 1
            k = 0
            while k < len(flat):
                digits[k] += 1
                if digits[k] < outcomes[flat[k]]:
                    break
                digits[k] = 0
                k += 1
            if k == len(flat):
                break


@nb.njit(cache=True)
def count_chances(
    codes: np.ndarray, shape: tuple[int, int], next_symbol: np.ndarray, outcomes: np.ndarray, queues: int, joins: np.ndarray
) -> np.ndarray:
    """Number of outcomes of each state."""
    rows, empty = np.empty(shape, np.int64), len(outcomes)
    many = np.zeros(len(codes), np.int64)
    poly = np.zeros(shape[0] * shape[1] + 1, np.int64)
    for i in range(len(codes)):
        decode(codes[i], empty, queues, rows)
        poly[:] = 0
        poly[0] = 1
        for a in rows.ravel():
            away = 0
            for k in range(outcomes[a]):
                away += next_symbol[a, k] == empty
            for u in range(len(poly) - 1, -1, -1):
                poly[u] = poly[u] * (outcomes[a] - away) + (poly[u - 1] * away if u > 0 else 0)
        for u in range(len(poly)):
            many[i] += poly[u] * joins[u]
    return many


@nb.njit(cache=True)
def fills(
    codes: np.ndarray,
    shape: tuple[int, int],
    empty: int,
    fresh: np.ndarray,
    share: np.ndarray,
    left: np.ndarray,
    counts_only: bool,
    start: np.ndarray,
    to: np.ndarray,
    weight: np.ndarray,
) -> np.ndarray:
    """What admissions make of each state with empty slots: every multiset of sizes on every worker that the queue allows.

    Parameters
    ----------
    fresh : int array (m,)
        Symbol of a request just admitted, by size class.
    share : float array (queues, m)
        Probability that the next request in line is of a class: ``weight`` is that of the fill under first-come admission.
    left : int array (queues, m)
        Queue without one request of a class, −1 where it has none.
    counts_only : bool
        Only count; ``start``, ``to``, ``weight`` are then not used.

    Returns
    -------
    int array (n,)
        Number of fills of each state.
    """
    workers, slots = shape
    rows, out = np.empty((workers, slots), np.int64), np.empty((workers, slots), np.int64)
    (queues, classes), codes_of = left.shape, np.empty(workers, np.int64)
    many = np.zeros(len(codes), np.int64)
    where = np.empty(workers * slots, np.int64)
    digits = np.zeros(workers * slots, np.int64)
    for i in range(len(codes)):
        queue = decode(codes[i], empty, queues, rows)
        holes = 0
        for k in range(workers * slots):
            if rows[k // slots, k % slots] == empty:
                where[holes] = k
                digits[holes] = 0
                holes += 1
        while True:
            after, p, run = queue, 1.0, 0
            out[:] = rows
            for h in range(holes):
                k, t = where[h], digits[h]
                if after < 0:
                    break
                drawn = share[after, t]
                after = left[after, t]
                out[k // slots, k % slots] = fresh[t]
                run = run + 1 if h > 0 and where[h - 1] // slots == k // slots else 1
                same = 1
                while same < run and digits[h - same] == t:
                    same += 1
                p *= drawn * run / same  # builds run! / Π (multiplicity)! request by request
            if after >= 0:
                if not counts_only:
                    to[start[i] + many[i]] = encode(out, empty, after, queues, codes_of)
                    weight[start[i] + many[i]] = p
                many[i] += 1
            h = holes - 1
            while h >= 0:
                digits[h] += 1
                if digits[h] < classes:
                    break
                h -= 1
            if h < 0:
                break
            for j in range(h + 1, holes):  # sizes on one worker ascend
                digits[j] = digits[j - 1] if where[j] // slots == where[j - 1] // slots else 0
    return many


@nb.njit(cache=True)
def keep_least(key: np.ndarray, act: np.ndarray, result: np.ndarray, allowed: np.ndarray) -> None:
    """Of the allowed fills of each state keep those with the least ``key`` (Y,), in place."""
    for x in range(len(act) - 1):
        low = int(np.iinfo(np.int64).max)
        for j in range(act[x], act[x + 1]):
            if allowed[j]:
                low = min(low, int(key[result[j]]))
        for j in range(act[x], act[x + 1]):
            allowed[j] = allowed[j] and key[result[j]] == low


@nb.njit(cache=True)
def least(value: np.ndarray, act: np.ndarray, result: np.ndarray, allowed: np.ndarray, sign: float, out: np.ndarray) -> None:
    """The least (``sign`` 1) or largest (−1) ``value`` over the allowed fills of each state."""
    for x in range(len(act) - 1):
        best = np.inf
        for j in range(act[x], act[x + 1]):
            if allowed[j]:
                best = min(best, sign * value[result[j]])
        out[x] = sign * best


@nb.njit(cache=True)
def sweep(
    value: np.ndarray,
    cost: np.ndarray,
    start: np.ndarray,
    to: np.ndarray,
    odds: np.ndarray,
    table: np.ndarray,
    act: np.ndarray,
    result: np.ndarray,
    allowed: np.ndarray,
    sign: float,
    events: bool,
    middle: np.ndarray,
    out: np.ndarray,
) -> tuple[float, float]:
    """One step of value iteration; returns the least and largest change.

    ``out = cost + P J``, ``J(x)`` the least (``sign`` 1) or largest (−1) ``value`` over the allowed fills of ``x``.
    """
    least(value, act, result, allowed, sign, middle)
    return _expect(value, cost, start, to, odds, table, act, result, events, middle, out)


@nb.njit(cache=True)
def sweep_mixed(
    value: np.ndarray,
    cost: np.ndarray,
    start: np.ndarray,
    to: np.ndarray,
    odds: np.ndarray,
    table: np.ndarray,
    act: np.ndarray,
    result: np.ndarray,
    mix: np.ndarray,
    events: bool,
    middle: np.ndarray,
    out: np.ndarray,
) -> tuple[float, float]:
    """The same for a fixed rule that takes each fill with probability ``mix``."""
    for x in range(len(act) - 1):
        total = 0.0
        for j in range(act[x], act[x + 1]):
            total += mix[j] * value[result[j]]
        middle[x] = total
    return _expect(value, cost, start, to, odds, table, act, result, events, middle, out)


@nb.njit(cache=True)
def _expect(
    value: np.ndarray,
    cost: np.ndarray,
    start: np.ndarray,
    to: np.ndarray,
    odds: np.ndarray,
    table: np.ndarray,
    act: np.ndarray,
    result: np.ndarray,
    events: bool,
    middle: np.ndarray,
    out: np.ndarray,
) -> tuple[float, float]:
    """``cost + P middle``; with ``events`` up to the next completion: without one a state grows older, has a larger code (or
    is at the cap and stays), and is done already in descending order."""
    low, high = np.inf, -np.inf
    for k in range(len(cost)):
        y = len(cost) - 1 - k if events else k
        total, last = float(cost[y]), start[y + 1]
        if events:
            last -= 1
        for j in range(start[y], last):
            total += table[odds[j]] * middle[to[j]]
        if events:
            stay, older = table[odds[last]], result[act[to[last]]]
            total = total / (1.0 - stay) if older == y else total + stay * out[older]
        out[y] = total
        low, high = min(low, total - value[y]), max(high, total - value[y])
    return low, high
