"""Better fills below a largest load: a few workers at a time are filled anew, exactly, from what the others leave."""

import numba as nb
import numpy as np

from lbtheory.decode.exact._box import NONE, box, top_sum
from lbtheory.decode.exact._hit import uniform

GROUP = 4
"""Workers of a group."""
GROUP_SLOTS = 16
"""Free slots of a group, more only where one worker has more: then its search still ends soon."""


@nb.njit(cache=True)
def _choose(room: np.ndarray, slots: np.ndarray, state: np.ndarray, group: np.ndarray) -> int:
    """A random worker with room below the largest load, and others; how many there are in ``group``."""
    workers, there, many, used = len(slots), 0, 0, 0
    for f in range(workers):
        there += room[f] > 0
    skip = int(uniform(state) * there)
    for f in range(workers):
        if room[f] > 0:
            if skip == 0:
                group[0], used, many = f, slots[f], 1
                break
            skip -= 1
    for _ in range(3 * GROUP):
        if many == min(GROUP, workers):
            break
        f = int(uniform(state) * workers)
        if used + slots[f] <= GROUP_SLOTS and not (group[:many] == f).any():
            group[many] = f
            used += slots[f]
            many += 1
    return many


@nb.njit(cache=True)
def refine(
    high: np.ndarray,
    sizes: np.ndarray,
    counts: np.ndarray,
    slots: np.ndarray,
    goal: int,
    tries: int,
    limit: int,
    seed: int,
    y: np.ndarray,
) -> int:
    """Raise the total of a fill; the total in the end.

    Parameters
    ----------
    high : int array (F,)
        What each worker may take at most.
    sizes, counts : int arrays (n,)
        Distinct waiting sizes, ascending, and how many wait.
    slots : int array (F,)
    goal : int
        Upper bound of the total, where the work ends.
    tries, limit : int
        Groups that are filled anew, and nodes of each search.
    seed : int
    y : int array (F, n), in and output
        Class counts of a fill within ``high``.
    """
    state = np.array([np.uint64(seed) * np.uint64(2) + np.uint64(1)], np.uint64)
    room, remaining, total = high.copy(), counts.copy(), 0
    for f in range(len(slots)):
        for t in range(len(sizes)):
            remaining[t] -= y[f, t]
            room[f] -= y[f, t] * sizes[t]
        total += high[f] - room[f]
    group = np.zeros(GROUP, np.int64)
    for _ in range(tries):
        if total >= goal:
            break
        chosen = group[: _choose(room, slots, state, group)]
        taken = 0
        for f in chosen:
            remaining += y[f]
            taken += high[f] - room[f]
        top = np.empty(len(chosen), np.int64)
        for k in range(len(chosen)):
            top[k] = top_sum(sizes, remaining, slots[chosen[k]])
        none, inner = np.zeros(len(chosen), np.int64), np.zeros((len(chosen), len(sizes)), np.int64)
        stop = goal - total + taken
        found, _nodes = box(high[chosen], none, top, sizes, remaining, slots[chosen], taken - 1, stop, limit, inner)
        if found != NONE:  # as good or better; what is as good opens other ways
            total += found - taken
            for k in range(len(chosen)):
                y[chosen[k]] = inner[k]
                room[chosen[k]] = high[chosen[k]] - (inner[k] * sizes).sum()
        for f in chosen:
            remaining -= y[f]
    return total
