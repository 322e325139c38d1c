"""Index of the waiting prompt sizes: nearest sizes and earliest requests in ``O(log sizes)``.

A Fenwick tree counts the distinct sizes that some waiting request has. Within a size the earliest released request always
goes first (every tie rule says so), so a class is a static list and a pointer into it.
"""

import numpy as np

from lbtheory.core.jit import inlined
from lbtheory.decode.kernels.state import RELEASED


@inlined
def _add(tree: np.ndarray, rank: int, amount: int) -> None:
    i = rank + 1
    while i < len(tree):
        tree[i] += amount
        i += i & (-i)


@inlined
def _count_through(tree: np.ndarray, rank: int) -> int:
    """How many present classes have rank ≤ ``rank``."""
    i, total = rank + 1, 0
    while i > 0:
        total += tree[i]
        i -= i & (-i)
    return total


@inlined
def _kth(tree: np.ndarray, k: int) -> int:
    """Rank of the ``k``-th present class, ``k`` from 1; the caller knows that there are as many."""
    position, step = 0, 1
    while step * 2 < len(tree):
        step *= 2
    while step > 0:
        if position + step < len(tree) and tree[position + step] < k:
            position += step
            k -= tree[position]
        step >>= 1
    return position


@inlined
def enter(stream, state, i):  # type: ignore[no-untyped-def]
    """Request ``i`` starts to wait."""
    rank = state.request[i].rank
    if stream.class_order[state.class_head[rank]] == i:
        _add(state.tree, rank, 1)


@inlined
def leave(stream, state, i):  # type: ignore[no-untyped-def]
    """Request ``i``, the earliest of its class, stops waiting."""
    rank = state.request[i].rank
    state.class_head[rank] += 1
    head = state.class_head[rank]
    if head == stream.class_start[rank + 1] or stream.class_order[head] >= state.ints[RELEASED]:
        _add(state.tree, rank, -1)


@inlined
def below(values, size):  # type: ignore[no-untyped-def]
    """How many of the ascending ``values`` are below ``size``."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < size:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def at_most(stream, state, size):  # type: ignore[no-untyped-def]
    """Earliest waiting request with the largest prompt ≤ ``size``, −1 when there is none."""
    rank = below(stream.sizes, size + 1) - 1
    if rank < 0:
        return -1
    k = _count_through(state.tree, rank)
    if k == 0:
        return -1
    return stream.class_order[state.class_head[_kth(state.tree, k)]]


@inlined
def at_least(stream, state, size):  # type: ignore[no-untyped-def]
    """Earliest waiting request with the smallest prompt ≥ ``size``, −1 when there is none."""
    rank = below(stream.sizes, size)
    if rank == len(stream.sizes):
        return -1
    k = _count_through(state.tree, rank - 1) + 1
    if k > _count_through(state.tree, len(stream.sizes) - 1):
        return -1
    return stream.class_order[state.class_head[_kth(state.tree, k)]]


@inlined
def nearest(stream, state, want):  # type: ignore[no-untyped-def]
    """Waiting request whose prompt is nearest to ``want`` (a float); ties: earliest released."""
    whole = int(np.floor(want))
    low = at_most(stream, state, whole)
    high = at_least(stream, state, whole + 1)
    if low < 0:
        return high
    if high < 0:
        return low
    a, b = abs(state.request[low].prompt - want), abs(state.request[high].prompt - want)
    if a < b or (a == b and low < high):
        return low
    return high
