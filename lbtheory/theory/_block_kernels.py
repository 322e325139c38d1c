"""Stationary laws of small blocks of slots by iteration of their chains (compiled). Formulas in `blocks`."""

import numpy as np
from numba import njit


@njit(cache=True)
def clamp(x: int, low: int, high: int) -> int:
    """``x`` moved into ``[low, high]``."""
    return min(max(x, low), high)


@njit(cache=True)
def pair_chain(p: float, low: int, high: int, target: int, cap: int, tolerance: float) -> tuple[np.ndarray, float]:
    """Law of the survivor's workload ``v`` just after a refill, capped at ``cap``, and the last change in ``ℓ¹``.

    One slot survives with probability ``q/(1+q)`` each, none with ``p/(1+q)``; before that both grow ``1 + j`` steps,
    ``P(j) = (1 − q²) q^{2j}``.
    """
    q = 1 - p
    stay, one = q * q, q / (1 + q)
    go = p * (1 + q)
    start = clamp(target // 2, low, high)
    old, source = np.zeros(cap + 1), np.empty(cap + 1)
    old[start] = 1.0
    change = 2.0
    while True:
        source[:] = old
        for v in range(low, cap + 1):
            source[clamp(target - v, low, high)] += old[v]
        flow, total, before = 0.0, 0.0, change
        change = 0.0
        for v in range(1, cap + 1):
            flow = stay * flow + go * source[v - 1]
            here = one * (flow if v < cap else flow + (stay * flow + go * source[cap]) / go)
            if v == start:
                here += p / (1 + q)
            change += abs(here - old[v])
            old[v] = here
            total += here
        if change <= tolerance or (change >= before and change < 1e-12):
            return old / total, change


@njit(cache=True)
def place(u: int, v: int, cap: int) -> int:
    """Index of the unordered pair ``{u, v}`` in ``0 … cap``: by difference, then by the smaller."""
    d = abs(u - v)
    return d * (cap + 1) - d * (d - 1) // 2 + min(u, v)


@njit(cache=True)
def second(w: int, low: int, high: int, target: int) -> int:
    """First of the two sizes admitted beside one survivor ``w``; the other one fills up to the target."""
    return clamp((target - w) // 2, low, high)


@njit(cache=True)
def triple_chain(
    p: float, low: int, high: int, target: int, cap: int, tolerance: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Law of two workloads just after a refill (the third is ``clamp(T − u − v)``), packed by `place`.

    Refills leave two survivors with probability ``p q²`` for each pair, one with ``p² q`` each, none with ``p³``, over
    ``1 − q³``. The second array is the part of the first in which one survived, by its workload; then comes the last change in
    ``ℓ¹``.
    """
    q = 1 - p
    stay = q**3
    go = 1 - stay
    two, one, none = p * q * q / go, p * p * q / go, p**3 / go
    size = (cap + 1) * (cap + 2) // 2
    old, new, source = np.zeros(size), np.empty(size), np.empty(size)
    lone, single = np.empty(cap + 1), np.empty(cap + 1)
    first = clamp(target // 3, low, high)
    start = place(second(first, low, high, target), first, cap)
    old[start] = 1.0
    change = 2.0
    while True:
        source[:] = old
        lone[:] = 0.0
        for d in range(cap + 1):
            row = d * (cap + 1) - d * (d - 1) // 2
            for u in range(cap + 1 - d):
                mass = old[row + u]
                if mass > 0:
                    v = u + d
                    c = clamp(target - u - v, low, high)
                    source[place(c, u, cap)] += mass
                    source[place(c, v, cap)] += mass
                    lone[u] += mass
                    lone[v] += mass
                    lone[c] += mass
        _grow_pairs(source, new, cap, stay)
        new *= two
        flow = 0.0
        for w in range(1, cap + 1):
            flow = stay * flow + go * lone[w - 1]
            single[w] = one * (flow if w < cap else flow + (stay * flow + go * lone[cap]) / go)
            new[place(second(w, low, high, target), w, cap)] += single[w]
        single[0] = 0.0
        new[start] += none
        before, change, total = change, 0.0, 0.0
        for i in range(size):
            change += abs(new[i] - old[i])
            total += new[i]
            old[i] = new[i]
        if change <= tolerance or (change >= before and change < 1e-11):
            return old / total, single / total, change


@njit(cache=True)
def _grow_pairs(source: np.ndarray, out: np.ndarray, cap: int, stay: float) -> None:
    """``out``: law after ``1 + j`` common steps of growth, coordinates stopping at ``cap``; ``P(j) = (1 − stay) stay^j``."""
    go, edge = 1 - stay, 0.0
    for d in range(cap, -1, -1):
        row = d * (cap + 1) - d * (d - 1) // 2
        last = cap - d
        flow = 0.0
        out[row] = 0.0
        for u in range(1, last + 1):
            flow = go * source[row + u - 1] + stay * flow
            out[row + u] = flow
        out[row + last] += edge
        edge = go * source[row + last] + stay * out[row + last]
    out[row + cap] = (out[row + cap] + go * source[row + cap]) / go


@njit(cache=True)
def triple_loads(law: np.ndarray, low: int, high: int, target: int, cap: int) -> tuple[np.ndarray, np.ndarray]:
    """Law of the sum ``clamp(T − u − v) + u + v`` and of its first term under a packed law of ``{u, v}``."""
    loads, admitted = np.zeros(2 * cap + high + 1), np.zeros(high + 1)
    for d in range(cap + 1):
        row = d * (cap + 1) - d * (d - 1) // 2
        for u in range(cap + 1 - d):
            c = clamp(target - 2 * u - d, low, high)
            loads[c + 2 * u + d] += law[row + u]
            admitted[c] += law[row + u]
    return loads, admitted
