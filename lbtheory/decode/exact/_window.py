"""Compiled search for IO_H with few free slots, for requests that stay through the window.

With ``P_h`` the peaks of the workers that are done, ``R`` the others, and ``W = Σ_h w_h``,

    ``Σ_h w_h G max(P_h, max_{f∈R} L_{f,h}) − W Σ_{f∈R} x_f
    ≥ (1/|R|) Σ_{f∈R} min_x [Σ_h w_h G max(P_h, A_{f,h} + x) − |R| W x]``,

since a maximum is at least the mean of its parts. Each term is convex in ``x``, least at an end of the range or where some
``A_{f,h} + x`` meets ``P_h``. With one worker left the bound is exact but for the sums that exist. Source: ours, proved.
"""

import numba as nb
import numpy as np

from lbtheory.decode.exact._box import bottom_sum, last_at_most, top_sum
from lbtheory.decode.exact._limbs import no_less, sign


@nb.njit(cache=True)
def _term(base: np.ndarray, peaks: np.ndarray, weights: np.ndarray, gain: int, x: int) -> int:
    """``Σ_h w_h max(P_h, A_h + x) − gain x``; the weights hold the factor ``G``."""
    total = -gain * x
    for h in range(len(weights)):
        total += weights[h] * max(peaks[h], base[h] + x)
    return total


@nb.njit(cache=True)
def _turn(base: np.ndarray, peaks: np.ndarray, weights: np.ndarray, gain: int, low: int, high: int) -> int:
    """Where `_term` is least over ``[low, high]``: the least ``x`` from which it no longer falls."""
    if _slope(base, peaks, weights, gain, low) >= 0:
        return low
    best = high
    for h in range(len(weights)):
        x = peaks[h] - base[h]
        if low < x < best and _slope(base, peaks, weights, gain, x) >= 0:
            best = x
    return best


@nb.njit(cache=True)
def _slope(base: np.ndarray, peaks: np.ndarray, weights: np.ndarray, gain: int, x: int) -> int:
    """Change of `_term` from ``x`` to ``x + 1``."""
    total = -gain
    for h in range(len(weights)):
        if base[h] + x >= peaks[h]:
            total += weights[h]
    return total


@nb.njit(cache=True)
def _exact_turn(base: np.ndarray, peaks: np.ndarray, workers: int, high: int, rounding: tuple[np.ndarray, int, int]) -> int:
    """The least ``x`` of ``[0, high]`` from which ``Σ_h γ^h (G max(P_h, A_h + x) − x)`` no longer falls."""
    best, step, zero = high, np.empty(len(base), np.int64), np.zeros(len(base), np.int64)
    for k in range(-1, len(base)):
        x = 0 if k < 0 else peaks[k] - base[k]
        if 0 <= x < best:
            for h in range(len(base)):
                step[h] = workers - 1 if base[h] + x >= peaks[h] else -1
            if sign(rounding[0], rounding[1], step, zero) >= 0:
                best = x
    return best


@nb.njit(cache=True)
def _bound(
    base: np.ndarray,
    first: int,
    peaks: np.ndarray,
    weights: np.ndarray,
    mass: int,
    given: int,
    low: np.ndarray,
    high: np.ndarray,
) -> int:
    """Lower bound of the value with the workers before ``first`` done, ``given`` in total on them."""
    left = len(base) - first
    total = 0
    for f in range(first, len(base)):
        x = _turn(base[f], peaks, weights, left * mass, low[f], high[f])
        total += _term(base[f], peaks, weights, left * mass, x)
    return -((-total) // left) - mass * given


@nb.njit(cache=True)
def _last(sizes: np.ndarray, remaining: np.ndarray, top: int, want: int, up: bool) -> int:
    """The available class nearest to ``want`` from above (``up``) or below, at most ``top``; −1 where there is none."""
    t = last_at_most(sizes, want - 1) + 1 if up else min(top, last_at_most(sizes, want - 1))
    step = 1 if up else -1
    while 0 <= t <= top and remaining[t] == 0:
        t += step
    return t if 0 <= t <= top else -1


@nb.njit(cache=True)
def search_window(
    sizes: np.ndarray,
    counts: np.ndarray,
    slots: np.ndarray,
    base: np.ndarray,
    peak: np.ndarray,
    weights: np.ndarray,
    workers: int,
    goal: np.ndarray,
    rounding: tuple[np.ndarray, int, int],
    limit: int,
    y: np.ndarray,
) -> int:
    """Minimise ``Σ_h γ^h (G M_h − Σ_f x_f)``; depth first, larger requests first.

    Parameters
    ----------
    sizes, counts : int arrays (n,)
        Distinct waiting sizes, ascending, and how many wait.
    slots : int array (F,)
    base : int array (F, H+1)
        Projected loads with the growth of new requests.
    peak : int array (H+1,)
        Largest projected loads of the full workers.
    weights : int array (H+2,)
        ``G w_h``, then ``mass = Σ_h w_h``.
    workers : int
        ``G``.
    goal : int array (H+1,)
        ``G M_h − Σ_f x_f`` of a known answer: only a less value counts.
    rounding : tuple
        See `lbtheory.decode.exact._limbs.no_less`.
    limit : int
        Nodes to visit.
    y : int array (F, n), output
        Class counts of the answer, where there is one.

    Returns
    -------
    nodes : int
        Above ``limit`` when the search was cut.
    """
    width, offsets, depth, mass, many = len(slots), len(peak), slots.sum(), weights[-1], weights[:-1]
    best, plain, goal = (many // workers * goal).sum(), rounding[2] == 0, goal.copy()
    here = np.empty(offsets, np.int64)
    low, high = np.empty(width, np.int64), np.empty(width, np.int64)
    for f in range(width):
        low[f], high[f] = bottom_sum(sizes, counts, slots[f]), top_sum(sizes, counts, slots[f])
    worker, more = np.empty(depth, np.int64), np.empty(depth, np.int64)
    d = 0
    for f in range(width):
        for j in range(slots[f] - 1, -1, -1):
            worker[d], more[d] = f, j
            d += 1
    peaks, given = np.zeros((width + 1, offsets), np.int64), np.zeros(width + 1, np.int64)
    peaks[0] = peak
    remaining, pick, own = counts.copy(), np.full(depth, -1), np.zeros(depth + 1, np.int64)
    at, tries = np.full(depth, len(sizes) - 1), np.zeros(depth, np.int64)
    best_pick, nodes, d = np.full(depth, -1), 0, 0
    while d >= 0:
        f = worker[d]
        if pick[d] >= 0:  # come back: take the last request away
            remaining[pick[d]] += 1
            pick[d] = -1
        top = at[d]
        if d == depth - 1:  # the last request: the two sizes about the turning point
            t = -1
            while t < 0 and tries[d] < 2:
                bare = base[f] + own[d]
                if plain:
                    turn = _turn(bare, peaks[f], many, mass, 0, sizes[-1])
                else:
                    turn = _exact_turn(bare, peaks[f], workers, sizes[-1], rounding)
                t = _last(sizes, remaining, top, turn, tries[d] == 0)
                tries[d] += 1
        else:
            t = top
            while t >= 0 and remaining[t] == 0:
                t -= 1
            at[d] = t - 1
        if t < 0:
            tries[d] = 0
            d -= 1
            continue
        nodes += 1
        if nodes > limit:
            break
        remaining[t] -= 1
        pick[d] = t
        total = own[d] + sizes[t]
        if more[d] > 0:
            own[d + 1], at[d + 1], d = total, t, d + 1
            continue
        for h in range(offsets):
            peaks[f + 1, h] = max(peaks[f, h], base[f, h] + total)
        given[f + 1] = given[f] + total
        if f + 1 == width:
            value = -mass * given[width]
            for h in range(offsets):
                value += many[h] * peaks[width, h]
                here[h] = workers * peaks[width, h] - given[width]
            if not no_less(value, here, best, goal, rounding):
                best = value
                best_pick[:], goal[:] = pick, here
        elif _bound(base, f + 1, peaks[f + 1], many, mass, given[f + 1], low, high) < best + rounding[2]:
            d += 1
            own[d], at[d] = 0, len(sizes) - 1
    if best_pick[0] >= 0:
        y[:] = 0
        for i in range(depth):
            y[worker[i], best_pick[i]] += 1
    return nodes
