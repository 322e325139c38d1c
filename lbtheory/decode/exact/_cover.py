"""Compiled search for the largest smallest load: requests given to workers so that each has at least what it needs.

Without upper limits only the ``U`` largest requests matter (a larger one in place of a smaller never hurts). A worker's last
request is the smallest that is enough: what is left for the others is then as large as it can be. Workers with one slot come
last: they can be served exactly if the ``i``-th largest request left is at least the ``i``-th largest need. Source: ours,
proved.
"""

import numba as nb
import numpy as np

from lbtheory.decode.exact._box import last_at_most


@nb.njit(cache=True)
def _enough(sizes: np.ndarray, remaining: np.ndarray, slots: np.ndarray, need: np.ndarray, first: int) -> bool:
    """Whether the needs from worker ``first`` on pass: those of the first ``k`` against the largest requests left, for all
    ``k``."""
    t, used = len(sizes) - 1, 0
    have, want = 0, 0
    for f in range(first, len(slots)):
        for _ in range(slots[f]):
            while t >= 0 and used == remaining[t]:
                t, used = t - 1, 0
            if t < 0:
                return False
            have += sizes[t]
            used += 1
        want += max(0, need[f])
        if have < want:
            return False
    return True


@nb.njit(cache=True)
def _singles(sizes: np.ndarray, remaining: np.ndarray, need: np.ndarray, first: int, pick: np.ndarray) -> bool:
    """Serve the workers from ``first`` on, one slot each, needs descending; the classes go to the end of ``pick``."""
    used = np.zeros(len(sizes), np.int64)
    for f in range(first, len(need)):
        t = max(0, last_at_most(sizes, need[f] - 1) + 1)
        while t < len(sizes) and used[t] == remaining[t]:
            t += 1
        if t == len(sizes):
            return False
        used[t] += 1
        pick[len(pick) - len(need) + f] = t
    return True


@nb.njit(cache=True)
def cover(
    sizes: np.ndarray, counts: np.ndarray, slots: np.ndarray, need: np.ndarray, limit: int, y: np.ndarray
) -> tuple[int, int]:
    """Give each worker ``c_f`` requests that sum to ``need_f`` or more.

    Parameters
    ----------
    sizes, counts : int arrays (n,)
        Ascending; ``Σ slots`` or more in all.
    slots, need : int arrays (F,)
        Workers with several slots first, then those with one by descending need.
    limit : int
        Nodes to visit.
    y : int array (F, n), output
        Class counts where there is an answer.

    Returns
    -------
    found : int
        1 yes, 0 no, −1 not known.
    nodes : int
    """
    remaining, depth, multi = counts.copy(), slots.sum(), 0
    worker, more = np.empty(depth + 1, np.int64), np.empty(depth + 1, np.int64)
    d = 0
    for f in range(len(slots)):
        multi += slots[f] > 1
        for j in range(slots[f] - 1, -1, -1):
            worker[d], more[d] = f, j
            d += 1
    last = slots[:multi].sum()
    pick, left = np.full(depth, -1), np.zeros(depth + 1, np.int64)
    nodes, d = 0, 0
    left[0] = need[0] if len(need) else 0
    if not _enough(sizes, remaining, slots, need, 0):
        return 0, 0
    while d >= 0:
        if d == last:
            if _singles(sizes, remaining, need, multi, pick):
                y[:] = 0
                for i in range(depth):
                    y[worker[i], pick[i]] += 1
                return 1, nodes
            d -= 1
            continue
        j, top = more[d], len(sizes) - 1
        if j < slots[worker[d]] - 1:
            top = pick[d - 1]
        if pick[d] >= 0:
            remaining[pick[d]] += 1
            t = len(sizes) if j == 0 else pick[d] + 1
            pick[d] = -1
        else:
            t = max(0, last_at_most(sizes, -((-left[d]) // (j + 1)) - 1) + 1)
        while t <= top and remaining[t] == 0:
            t += 1
        if t > top:
            d -= 1
            continue
        nodes += 1
        if nodes > limit:
            return -1, nodes
        remaining[t] -= 1
        pick[d] = t
        if j > 0:
            left[d + 1] = left[d] - sizes[t]
        else:
            f = worker[d] + 1
            if not _enough(sizes, remaining, slots, need, f):
                continue
            if f < len(need):
                left[d + 1] = need[f]
        d += 1
    return 0, nodes
