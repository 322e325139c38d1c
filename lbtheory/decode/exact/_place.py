"""Compiled search for IO_H where every waiting request is admitted: who goes where, each with a given path.

The sum of all loads at each offset is then fixed, so that ``Σ_h γ^h M_h`` is minimised. With some requests placed, ``P_h`` the
largest loads so far, and ``V`` the workers that may still receive one,

    ``M_h ≥ max(P_h, ⌈(Σ_{f∈V} L_{f,h} + what is left to place)/|V|⌉)``.

A worker without a free slot is not in ``V``, nor is one on which even the least that is left, offset by offset, would be no
better than the best answer known.

Of equal requests a later one goes to no lower worker, and of equal workers without a new request only the first is tried. Both
may be asked at once: among the assignments that differ by the names of equal requests and equal workers, the one whose sequence
of workers is lexicographically least meets both, for each breach is a swap that makes the sequence less.
Source: ours, proved.
"""

import numba as nb
import numpy as np

from lbtheory.decode.exact._limbs import no_less


@nb.njit(cache=True)
def _raised(peaks: np.ndarray, load: np.ndarray, more: np.ndarray, weights: np.ndarray, out: np.ndarray) -> int:
    """``max(P_h, L_h + more_h)`` in ``out``, and its weighted sum."""
    total = 0
    for h in range(len(peaks)):
        out[h] = max(peaks[h], load[h] + more[h])
        total += weights[h] * out[h]
    return total


@nb.njit(cache=True)
def start(
    paths: np.ndarray, loads: np.ndarray, free: np.ndarray, floor: np.ndarray, weights: np.ndarray, steps: int
) -> np.ndarray:
    """A good assignment: in the given order onto the least loaded worker with a free slot, then `_exchange` while it helps.

    Arguments as in `place_all`; ``steps`` limits the elementary steps of the exchanges. Returns the worker of each request.
    """
    workers, worker, load, left = len(loads), np.empty(len(paths), np.int64), loads.copy(), free.copy()
    mass = np.empty(workers, np.int64)
    for f in range(workers):
        mass[f] = (weights * load[f]).sum()
    for i in range(len(paths)):
        to = -1
        for f in range(workers):
            if left[f] > 0 and (to < 0 or mass[f] < mass[to]):
                to = f
        worker[i] = to
        left[to] -= 1
        load[to] += paths[i]
        mass[to] += (weights * paths[i]).sum()
    best, i, calm = 0, 0, 0
    for h in range(len(floor)):
        best += weights[h] * max(floor[h], load[:, h].max())
    while calm < len(paths) and steps > 0:
        value, used = _exchange(i, best, paths, load, left, floor, weights, worker)
        steps -= used
        calm = calm + 1 if value == best else 0
        best, i = value, (i + 1) % len(paths)
    return worker


@nb.njit(cache=True)
def _exchange(
    i: int,
    best: int,
    paths: np.ndarray,
    load: np.ndarray,
    left: np.ndarray,
    floor: np.ndarray,
    weights: np.ndarray,
    worker: np.ndarray,
) -> tuple[int, int]:
    """Move request ``i``, or change it with one of another worker, the first time that helps: the value, and steps made."""
    g, others, steps = worker[i], np.empty(len(floor), np.int64), 0
    for f in range(len(load)):
        if f == g:
            continue
        others[:] = floor
        steps += len(paths) + len(load) * len(floor)
        for e in range(len(load)):
            if e != f and e != g:
                for h in range(len(floor)):
                    others[h] = max(others[h], load[e, h])
        for j in range(-1, len(paths)):  # −1: a move
            if (j < 0 and left[f] == 0) or (j >= 0 and worker[j] != f):
                continue
            steps += len(floor)
            total = 0
            for h in range(len(floor)):
                moved = paths[i, h] - (paths[j, h] if j >= 0 else 0)
                total += weights[h] * max(others[h], load[f, h] + moved, load[g, h] - moved)
            if total >= best:
                continue
            moved_path = paths[i].copy()
            if j >= 0:
                moved_path -= paths[j]
                worker[j] = g
            else:
                left[f] -= 1
                left[g] += 1
            load[f] += moved_path
            load[g] -= moved_path
            worker[i] = f
            return total, steps
    return best, steps


@nb.njit(cache=True)
def _lift(peaks: np.ndarray, usable: np.ndarray, load: np.ndarray, rest: np.ndarray) -> None:
    """Raise ``peaks`` to the mean over the usable workers, rounded up."""
    many = usable.sum()
    for h in range(len(peaks)):
        total = rest[h]
        for f in range(len(load)):
            if usable[f]:
                total += load[f, h]
        peaks[h] = max(peaks[h], -((-total) // many))


@nb.njit(cache=True)
def _options(
    peaks: np.ndarray,
    usable: np.ndarray,
    load: np.ndarray,
    mass: np.ndarray,
    path: np.ndarray,
    weights: np.ndarray,
    order: np.ndarray,
    value: np.ndarray,
) -> int:
    """The usable workers for a request by what it would raise the peaks to, then by load: fills both; how many there are."""
    width, trial = 0, np.empty(len(peaks), np.int64)
    for f in range(len(load)):
        if not usable[f]:
            continue
        v, k = _raised(peaks, load[f], path, weights, trial), width
        while k > 0 and (value[k - 1] > v or (value[k - 1] == v and mass[order[k - 1]] > mass[f])):
            order[k], value[k] = order[k - 1], value[k - 1]
            k -= 1
        order[k], value[k] = f, v
        width += 1
    return width


@nb.njit(cache=True)
def place_all(
    paths: np.ndarray,
    same: np.ndarray,
    twin: np.ndarray,
    loads: np.ndarray,
    free: np.ndarray,
    floor: np.ndarray,
    weights: np.ndarray,
    rounding: tuple[np.ndarray, int, int],
    limit: int,
    worker: np.ndarray,
) -> tuple[int, int]:
    """Minimise ``Σ_h γ^h M_h``; depth first, the requests in the given order, the least bound first.

    Parameters
    ----------
    paths : int array (R, H+1)
        What each request adds to the load of its worker, large requests first, equal ones side by side.
    same : bool array (R,)
        Whether a request is equal to the one before it.
    twin : int array (F,)
        The last worker before this one that is equal to it, −1 where there is none.
    loads : int array (F, H+1)
        Loads of the workers with free slots.
    free : int array (F,)
        Free slots, at least ``R`` in sum.
    floor : int array (H+1,)
        Largest loads of the full workers, 0 without one.
    weights : int array (H+1,)
    rounding : tuple
        See `lbtheory.decode.exact._limbs.no_less`.
    limit : int
        Nodes to visit.
    worker : int array (R,)
        The worker of each request: of a first answer, then of the best one.

    Returns
    -------
    bound : int
        Lower bound of ``Σ_h w_h M_h`` over the assignments that are better than the answer, where the search was cut.
    nodes : int
        Above ``limit`` when the search was cut.
    """
    many, workers, offsets = len(paths), len(loads), len(floor)
    load, left = loads.copy(), free.copy()
    rest, least = np.zeros((many + 1, offsets), np.int64), np.empty((many, offsets), np.int64)
    for i in range(many - 1, -1, -1):
        for h in range(offsets):
            rest[i, h] = rest[i + 1, h] + paths[i, h]
            least[i, h] = paths[i, h] if i == many - 1 else min(paths[i, h], least[i + 1, h])
    best_peaks, mass = floor.copy(), np.zeros(workers, np.int64)
    for i in range(many):
        load[worker[i]] += paths[i]
    for f in range(workers):
        best_peaks = np.maximum(best_peaks, load[f])
        load[f] = loads[f]
        mass[f] = (weights * loads[f]).sum()
    best = (weights * best_peaks).sum()
    weight = (paths * weights).sum(axis=1)
    peaks, trial = np.zeros((many + 1, offsets), np.int64), np.empty(offsets, np.int64)
    peaks[0] = floor
    for f in range(workers):
        peaks[0] = np.maximum(peaks[0], loads[f])
    order, value = np.zeros((many, workers), np.int64), np.zeros((many, workers), np.int64)
    width, at, pick = np.zeros(many, np.int64), np.zeros(many, np.int64), np.full(many, -1)
    got, usable = np.zeros(workers, np.int64), np.zeros(workers, np.bool_)
    nodes, d, fresh = 0, 0, True
    while d >= 0:
        if fresh:  # the workers for request d, least bound first
            fresh, at[d] = False, 0
            for f in range(workers):
                usable[f] = left[f] > 0
                if usable[f]:
                    v = _raised(peaks[d], load[f], least[d], weights, trial)
                    usable[f] = not no_less(v, trial, best, best_peaks, rounding)
            if usable.any():
                _lift(peaks[d], usable, load, rest[d])
            low = pick[d - 1] if d > 0 and same[d] else 0
            for f in range(workers):  # of equal requests a later one goes no lower; of equal workers without one the first
                usable[f] &= f >= low and (got[f] > 0 or twin[f] < low or got[twin[f]] > 0)
            width[d] = _options(peaks[d], usable, load, mass, paths[d], weights, order[d], value[d])
        if pick[d] >= 0:  # come back: take request d away
            f = pick[d]
            load[f] -= paths[d]
            mass[f] -= weight[d]
            left[f] += 1
            got[f] -= 1
            pick[d] = -1
        if at[d] == width[d] or value[d, at[d]] >= best + rounding[2]:
            d -= 1
            continue
        if nodes >= limit:
            nodes += 1
            break
        f = order[d, at[d]]
        v = _raised(peaks[d], load[f], paths[d], weights, peaks[d + 1])
        at[d] += 1
        nodes += 1
        if no_less(v, peaks[d + 1], best, best_peaks, rounding):
            continue
        load[f] += paths[d]
        mass[f] += weight[d]
        left[f] -= 1
        got[f] += 1
        pick[d] = f
        if d + 1 == many:
            best = v
            best_peaks[:] = peaks[many]
            worker[:] = pick
        else:
            d, fresh = d + 1, True
    bound = best
    for e in range(d + 1):  # what is left to visit lies below these
        if at[e] < width[e]:
            bound = min(bound, value[e, at[e]])
    return bound, nodes
