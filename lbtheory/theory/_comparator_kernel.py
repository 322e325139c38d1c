"""The range that `comparator.enumerate_instances` covers, and its compiled judgement.

The plain counterpart of `scan` is `comparator.check_instance`; they share no code.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod
from typing import NamedTuple

import numba as nb
import numpy as np

SOME, EVERY, UNIQUE, ORDER = 1, 2, 4, 8
"""Bits of `scan`: some maximum of some optimum has no θ; every maximum of every optimum; the only maximum of the only
optimum; some pair breaks ``max T_r ≤ min T_g``."""


@nb.njit(cache=True)
def _key(order: int, after: np.ndarray, key: np.ndarray) -> None:
    """Write the key of the loads ``after``: order 0 ``(D, N, I)``, 1 ``(I, 0, 0)``, 2 ``(I, D, N)``, 3 ``(D, 0, 0)``."""
    high, low, number, total = after[0], after[0], 0, 0
    for v in after:
        total += v
        low = min(low, v)
        if v > high:
            high, number = v, 0
        if v == high:
            number += 1
    spread, imbalance = high - low, len(after) * high - total
    key[:] = 0
    if order == 0:
        key[0], key[1], key[2] = spread, number, imbalance
    elif order == 1:
        key[0] = imbalance
    elif order == 2:
        key[0], key[1], key[2] = imbalance, spread, number
    else:
        key[0] = spread


@nb.njit(cache=True)
def _compare(key: np.ndarray, best: np.ndarray) -> int:
    """−1, 0 or 1 as ``key`` is lexicographically below, at or above ``best``."""
    for i in range(len(key)):
        if key[i] != best[i]:
            return -1 if key[i] < best[i] else 1
    return 0


@nb.njit(cache=True)
def _judge(
    loads: np.ndarray, free: np.ndarray, s: int, after: np.ndarray, pick: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[int, int, bool]:
    """Maxima of one assignment, those without a θ for some ``g``, and whether a pair breaks the order.

    ``θ c_r − (θ+1) c_g`` is linear in θ, so the best θ is 0 or s.
    """
    peak = after.max()
    maxima, failing, disorder = 0, 0, False
    for r in range(len(loads)):
        if after[r] != peak:
            continue
        maxima += 1
        fails = False
        for g in range(len(loads)):
            if peak - after[g] <= s:
                continue
            allowed = max(-free[g], s * free[r] - (s + 1) * free[g])
            fails = fails or (after[r] - loads[r]) - (after[g] - loads[g]) > allowed
            disorder = disorder or high[pick[r]] > low[pick[g]]
        failing += fails
    return maxima, failing, disorder


@nb.njit(cache=True)
def _bits(maxima: int, failing: int, disorder: bool) -> int:
    """The bits of one queue, from the maxima of all its optima; one maximum means one optimum."""
    bits = ORDER if disorder else 0
    if failing > 0:
        bits |= SOME
        if failing == maxima:
            bits |= EVERY
            if maxima == 1:
                bits |= UNIQUE
    return bits


@nb.njit(cache=True)
def scan(
    order: int,
    loads: np.ndarray,
    free: np.ndarray,
    s: int,
    first: np.ndarray,
    counts: np.ndarray,
    sums: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    queues: np.ndarray,
) -> np.ndarray:
    """Judge all optimal assignments that fill every slot, for each queue.

    Parameters
    ----------
    order : int
        Which key, see `_key`.
    loads, free : int64 array (G,)
        Survivors' loads (tokens) and free slots.
    s : int
        Largest size (tokens).
    first : int64 array (f + 2,)
        The multisets of ``c`` sizes are the rows ``first[c] … first[c+1] − 1`` of the next four.
    counts : int64 array (K, s)
        Class counts of a multiset.
    sums, low, high : int64 array (K,)
        Its sum, smallest (``s + 1`` if empty) and largest (0 if empty) size.
    queues : int64 array (Q, s)
        Class counts; each at least ``Σ free`` requests in all.

    Returns
    -------
    uint8 array (Q,)
        Bits `SOME`, `EVERY`, `UNIQUE`, `ORDER`.
    """
    workers = len(loads)
    flags = np.zeros(len(queues), np.uint8)
    left = np.zeros((workers + 1, s), np.int64)
    pick, after = np.zeros(workers, np.int64), np.zeros(workers, np.int64)
    key, best = np.zeros(3, np.int64), np.zeros(3, np.int64)
    for j in range(len(queues)):
        left[0] = queues[j]
        optima = maxima = failing = 0
        disorder = False
        g = 0
        pick[0] = first[free[0]] - 1
        while g >= 0:
            pick[g] += 1
            if pick[g] == first[free[g] + 1]:
                g -= 1
                continue
            fits = True
            for t in range(s):
                left[g + 1, t] = left[g, t] - counts[pick[g], t]
                fits = fits and left[g + 1, t] >= 0
            if not fits:
                continue
            after[g] = loads[g] + sums[pick[g]]
            if g + 1 < workers:
                g += 1
                pick[g] = first[free[g]] - 1
                continue
            _key(order, after, key)
            sign = -1 if optima == 0 else _compare(key, best)
            if sign > 0:
                continue
            if sign < 0:
                best[:] = key
                optima = maxima = failing = 0
                disorder = False
            here = _judge(loads, free, s, after, pick, low, high)
            optima, maxima, failing, disorder = optima + 1, maxima + here[0], failing + here[1], disorder or here[2]
        flags[j] = _bits(maxima, failing, disorder)
    return flags


class Range(NamedTuple):
    """The bounds of an enumeration, named as the arguments of `comparator.enumerate_instances`."""

    workers: int
    s: int
    largest_free: int
    largest_load: int
    total_free: int | None
    shortfall: int


class Block(NamedTuple):
    """Loads, free slots, the size of their orbit under renaming; queues (Q, s), how many each stands for, flags of `scan`."""

    loads: tuple[int, ...]
    free: tuple[int, ...]
    orbit: int
    queues: np.ndarray
    weights: np.ndarray
    flags: np.ndarray


def judged(bounds: Range, order: int, profiles: list[tuple[tuple[int, int], ...]]) -> Iterator[Block]:
    """Each of ``profiles`` with all its queues, judged by `scan` for the key ``order``."""
    s, sizes = bounds.s, range(1, bounds.s + 1)
    multisets = [m for c in range(bounds.largest_free + 1) for m in combinations_with_replacement(sizes, c)]
    first = np.cumsum([0] + [comb(s + c - 1, c) for c in range(bounds.largest_free + 1)])
    counts = np.array([[m.count(t) for t in sizes] for m in multisets], dtype=np.int64)
    summary = np.array([(sum(m), min(m, default=s + 1), max(m, default=0)) for m in multisets], dtype=np.int64).T.copy()
    supply: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for profile in profiles:
        loads, free = zip(*profile, strict=True)
        slots = sum(free)
        if slots not in supply:
            supply[slots] = all_queues(slots, s, bounds.shortfall)
        queues, weights = supply[slots]
        orbit = factorial(len(profile)) // prod(map(factorial, Counter(profile).values()))
        numbers = np.array(loads, dtype=np.int64), np.array(free, dtype=np.int64)
        flags = scan(order, *numbers, s, first, counts, summary[0], summary[1], summary[2], queues)
        yield Block(loads, free, orbit, queues, weights, flags)


def all_profiles(bounds: Range) -> list[tuple[tuple[int, int], ...]]:
    """One ascending list of (load, free) pairs of each orbit, least load 0.

    By total of free slots, then largest load, sum of loads, and the list itself.
    """
    pairs = product(range(bounds.largest_load + 1), range(bounds.largest_free + 1))
    found = [
        (sum(free for _, free in profile), profile[-1][0], sum(load for load, _ in profile), profile)
        for profile in combinations_with_replacement(pairs, bounds.workers)
        if profile[0][0] == 0
    ]
    return [row[3] for row in sorted(found) if bounds.total_free in (None, row[0])]


def all_queues(slots: int, s: int, shortfall: int) -> tuple[np.ndarray, np.ndarray]:
    """Class counts ``0 … C`` that meet the hypothesis (Q, s), and how many with counts ``0 … 2C + 1`` each stands for (Q,).

    By number of requests, then sum of sizes, then counts.
    """
    found = sorted(
        (sum(counts), sum(t * n for t, n in enumerate(counts, 1)), counts)
        for counts in product(range(slots + 1), repeat=s)
        if sum(counts) >= slots and sum(counts) - max(counts) >= slots - shortfall
    )
    queues = np.array([row[2] for row in found], dtype=np.int64).reshape(-1, s)
    return queues, (slots + 2) ** (queues == slots).sum(axis=1)
