"""Compiled search for sets of waiting requests with exactly given sums: all workers on one level.

Each worker gets ``c_f − 3`` requests near the mean that it still needs, with noise, and then three (or as many as it has) that
hit its sum exactly, found over the sorted queue by two pointers; the hardest worker first, where one that failed counts as
harder in the next round. A hit is its own proof; a miss proves nothing.
"""

import numba as nb
import numpy as np

PASSES = 64
"""Passes of two pointers for one sum of three; in a queue of more requests nearly every sum in reach is found by then."""


@nb.njit(cache=True)
def uniform(state: np.ndarray) -> float:
    """A uniform number in [0, 1) by xorshift64* (Vigna 2016); ``state`` (1,) is never 0."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return float((x * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@nb.njit(cache=True)
def _nearest(values: np.ndarray, many: int, want: float) -> int:
    """Position of a value near ``want`` among the first ``many``, ascending."""
    low, high = 0, many - 1
    while low < high:
        middle = (low + high) // 2
        if values[middle] < want:
            low = middle + 1
        else:
            high = middle
    if low > 0 and want - values[low - 1] < values[low] - want:
        low -= 1
    return low


@nb.njit(cache=True)
def _two(values: np.ndarray, many: int, want: int, skip: int, out: np.ndarray) -> bool:
    """Two positions other than ``skip`` whose values sum to ``want``."""
    i, j = 0, many - 1
    while i < j:
        if i == skip:
            i += 1
            continue
        if j == skip:
            j -= 1
            continue
        pair = values[i] + values[j]
        if pair == want:
            out[0], out[1] = i, j
            return True
        if pair < want:
            i += 1
        else:
            j -= 1
    return False


@nb.njit(cache=True)
def _finish(values: np.ndarray, many: int, k: int, want: int, state: np.ndarray, out: np.ndarray) -> bool:
    """``k ≤ 3`` positions whose values sum to ``want``."""
    if k == 1:
        i = _nearest(values, many, float(want))
        out[0] = i
        return values[i] == want
    if k == 2:
        return _two(values, many, want, -1, out)
    first, last = 0, many  # the third can only be one for which the largest or smallest two leave a sum in reach
    while first < last and values[first] < want - values[many - 1] - values[many - 2]:
        first += 1
    while last > first and values[last - 1] > want - values[0] - values[1]:
        last -= 1
    choices = last - first
    begin = int(uniform(state) * choices)
    for step in range(min(choices, PASSES)):
        t = begin + step
        if t >= choices:
            t -= choices
        t += first
        if _two(values, many, want - values[t], t, out):
            out[2] = t
            return True
    return False


@nb.njit(cache=True)
def _remove(values: np.ndarray, many: int, position: int) -> int:
    for k in range(position, many - 1):
        values[k] = values[k + 1]
    return many - 1


@nb.njit(cache=True)
def _one_worker(
    values: np.ndarray,
    many: int,
    c: int,
    want: int,
    alike: bool,
    state: np.ndarray,
    picks: np.ndarray,
    out: np.ndarray,
) -> bool:
    """``c`` of ``values`` (taken out of them) with the sum ``want``; ``picks`` receives their values.

    The first ``c − 3`` are near the mean needed or, if ``alike``, drawn from the queue and shifted to that mean, so that what
    is left keeps its distribution (for when nearly all of it is needed).
    """
    few = min(c, 3)
    left = want
    average = values[:many].mean() if alike else 0.0
    for k in range(c - few):
        mean = left / (c - k)
        reach = max(0.0, min(mean - values[0], values[many - 1] - mean))
        if alike:
            step = values[int(uniform(state) * many)] - average
            step = max(-reach, min(reach, step))
        else:
            step = min(0.3 * mean, reach) * (2.0 * uniform(state) - 1.0)
        i = _nearest(values, many, mean + step)
        picks[k] = values[i]
        left -= values[i]
        many = _remove(values, many, i)
    if not _finish(values, many, few, left, state, out):
        return False
    for k in range(few):
        picks[c - few + k] = values[out[k]]
        many = _remove(values, many, out[k])
        for later in range(k + 1, few):
            out[later] -= out[later] > out[k]
    return True


@nb.njit(cache=True)
def hit_levels(
    queue: np.ndarray,
    slots: np.ndarray,
    base: np.ndarray,
    level_low: int,
    level_high: int,
    rounds: int,
    seed: int,
    picks: np.ndarray,
) -> bool:
    """Bring every worker to ``base_f + x_f = T`` for one ``T`` of ``[level_low, level_high]``.

    Parameters
    ----------
    queue : int array (R,)
        Waiting sizes, ascending, ``R ≥ Σ slots``.
    slots, base : int arrays (F,)
    level_low, level_high : int
    rounds : int
        Levels to try.
    seed : int
    picks : int array (F, max slots), output
        Sizes that each worker gets.

    Returns
    -------
    bool
        Whether one was hit.
    """
    workers, many = len(slots), len(queue)
    state = np.array([np.uint64(seed) * np.uint64(2) + np.uint64(1)], np.uint64)
    for _ in range(4):
        uniform(state)
    mean = queue.mean()
    middle = 0.0
    for f in range(workers):
        middle += (base[f] + slots[f] * mean) / workers
    values, kept, out = np.empty(many, np.int64), np.empty(many, np.int64), np.zeros(3, np.int64)
    urgency, failed = np.empty(workers), np.ones(workers)
    for trial in range(rounds):
        width = mean * (0.02 + trial / rounds)
        level = int(middle + (2.0 * uniform(state) - 1.0) * width)
        if level < level_low or level > level_high:  # as near as leaves some choice to the worker at the end of its range
            inside = int((0.2 + 0.6 * uniform(state)) * (level_high - level_low))
            level = level_low + inside if level < level_low else level_high - inside
        for f in range(workers):
            urgency[f] = -failed[f] * abs((level - base[f]) / slots[f] - mean) * np.sqrt(slots[f])
        values[:] = queue
        left, ok = many, True
        for f in np.argsort(urgency):
            done = False
            kept[:left] = values[:left]
            for attempt in range(4):
                if attempt > 0:
                    if slots[f] <= 3:
                        break
                    values[:left] = kept[:left]
                if _one_worker(values, left, slots[f], level - base[f], trial % 2 == 1, state, picks[f], out):
                    done = True
                    break
            if not done:
                failed[f] *= 1.5
                ok = False
                break
            left -= slots[f]
        if ok:
            return True
    return False
