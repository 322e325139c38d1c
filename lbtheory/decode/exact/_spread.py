"""Compiled SpreadLex where the queue covers the free slots, by the search of IO_0 with lower limits. Source: ours."""

import numba as nb
import numpy as np

from lbtheory.decode.exact._box import NONE, bottom_sum, box, top_sum
from lbtheory.decode.exact._cover import cover
from lbtheory.decode.exact._zero import FAR, LEVELS, SEARCH, UNPROVED, ceiling, meet_bound, top_sums

COVER = 4
"""How an answer was settled: the largest smallest load, with the largest requests, and nobody new at the peak."""


@nb.njit(cache=True)
def _raise_least(
    sizes: np.ndarray,
    counts: np.ndarray,
    base: np.ndarray,
    slots: np.ndarray,
    top: np.ndarray,
    below: np.ndarray,
    least: int,
    limit: int,
    y: np.ndarray,
) -> int:
    """The largest possible smallest load, at most ``least``, where the ``U`` largest requests give it and none passes
    ``below``; −1 where that is not known.
    """
    count, many = len(base), slots.sum()
    tops, t = np.zeros(len(sizes), np.int64), len(sizes) - 1
    while many > 0:
        tops[t] = min(many, counts[t])
        many -= tops[t]
        t -= 1
    low, bottom = least, np.empty(count, np.int64)
    for f in range(count):
        bottom[f] = bottom_sum(sizes, tops, slots[f])
        low, least = min(low, base[f] + bottom[f]), min(least, base[f] + top[f])
    inner, used = np.zeros_like(y), 0
    y[:] = 0
    while low < least:
        middle = least - (least - low) // 2
        need = middle - base
        several, one = np.flatnonzero((need > bottom) & (slots > 1)), np.flatnonzero((need > bottom) & (slots == 1))
        order = np.concatenate((several[np.argsort(-need[several] / slots[several])], one[np.argsort(-need[one])]))
        found, nodes = cover(sizes, tops, slots[order], need[order], limit - used, inner[: len(order)])
        used += nodes
        if found < 0:
            return -1
        if found == 0:
            least = middle - 1
            continue
        low = middle
        y[:] = 0
        for i in range(len(order)):
            y[order[i]] = inner[i]
    for f in range(count):
        for t in range(len(sizes)):
            tops[t] -= y[f, t]
    for f in np.argsort(below / slots):  # the others: the smallest to whom has least room
        if y[f].sum() == 0:
            t, left = 0, slots[f]
            while left > 0:
                y[f, t] = min(left, tops[t])
                left -= y[f, t]
                tops[t] -= y[f, t]
                t += 1
        if (y[f] * sizes).sum() > below[f]:
            return -1
    return low


@nb.njit(cache=True)
def spread_zero(
    queue: np.ndarray,
    sizes: np.ndarray,
    counts: np.ndarray,
    base: np.ndarray,
    slots: np.ndarray,
    full: np.ndarray,
    seed: int,
    rounds: int,
    limit: int,
    y: np.ndarray,
) -> tuple[int, int, int, int]:
    """SpreadLex: the least ``(D, N_max, I)``; only proved answers are given.

    With ``M0`` the least possible largest load and ``m0`` the largest possible smallest one, ``D ≥ M0 − m0``; a given ``D``
    allows the largest loads ``M0 … m0 + D``. ``N_max`` is at least the number of workers that cannot be below ``M0``. With full
    workers alone at ``M0`` the largest requests usually do all at once: they raise the smallest load as far as it goes, no
    other worker reaches ``M0``, and no total is larger.

    Parameters
    ----------
    full : int array (G−F,)
        Loads of the workers without a free slot. The others are as in `io_zero`.

    Returns
    -------
    spread, many, imbalance : int
    how : int
        `UNPROVED` when the answer is not known.
    """
    count, workers = len(base), len(base) + len(full)
    top, bottom = np.empty(count, np.int64), np.empty(count, np.int64)
    peak, least = -1, FAR
    for f in range(count):
        top[f], bottom[f] = top_sum(sizes, counts, slots[f]), bottom_sum(sizes, counts, slots[f])
        peak, least = max(peak, base[f] + bottom[f]), min(least, base[f] + top[f])
    load = base.sum() + full.sum()
    for v in full:
        peak, least = max(peak, v), min(least, v)
    sums, shared = top_sums(sizes, counts, slots.sum()), np.zeros(count, np.bool_)
    if peak <= least:
        if len(full) == 0:
            high = max(peak, min(least, (load + sums[slots.sum()]) // workers))
            if meet_bound(peak, high, queue, sizes, slots, base, shared, rounds, seed, y) == LEVELS:
                return 0, workers, 0, LEVELS
        return 0, 0, 0, UNPROVED
    many, below, held = 0, np.empty(count, np.int64), FAR
    for v in full:
        many += v == peak
        held = min(held, v)
    at_peak = many
    for f in range(count):
        forced = base[f] + bottom[f] == peak
        many += forced
        below[f] = peak - base[f] if forced else peak - base[f] - 1
    if many == at_peak:  # only full workers must be at the peak: all others stay below it
        floor = _raise_least(sizes, counts, base, slots, top, below, held, limit, y)
        if 0 <= floor < peak:
            return peak - floor, many, workers * peak - load - sums[slots.sum()], COVER
    for spread in range(peak - least, peak - least + 32):
        low = np.maximum(0, peak - spread - base - bottom)
        low = np.where(low > 0, low + bottom, 0)
        total, nodes = box(below, low, top, sizes, counts, slots, NONE, FAR, limit, y)
        if nodes > limit:
            return 0, 0, 0, UNPROVED
        if total != NONE:
            value = workers * peak - load - total
            for other in range(peak + 1, least + spread + 1):
                if many > 1 or workers * other - load - ceiling(other, base, slots, top, sums, shared) < value:
                    return 0, 0, 0, UNPROVED
            return spread, many, value, SEARCH
        for other in range(peak, least + spread + 1):
            low = np.maximum(0, other - spread - base - bottom)
            low = np.where(low > 0, low + bottom, 0)
            total, nodes = box(other - base, low, top, sizes, counts, slots, NONE, FAR, limit, y)
            if nodes > limit or total != NONE:
                return 0, 0, 0, UNPROVED
    return 0, 0, 0, UNPROVED
