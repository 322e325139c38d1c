"""FCFS admission with a destination rule that sees counts (or, for token-JSQ, loads); compiled.

Oracles: the plain policies in ``lbtheory.decode.policies``.
"""

from typing import NamedTuple

from lbtheory.core.jit import inlined, kernel
from lbtheory.decode.kernels import step
from lbtheory.decode.kernels.state import HEAD, ITERATION, POINTER, RUNNING

JSQ, ROUND_ROBIN, RANDOM, POWER_OF_TWO, TOKEN_JSQ, VLLM = range(6)
LOWEST, ROTATING, RANDOM_TIE, FIRST_DRAW = range(4)


class FcfsRule(NamedTuple):
    """Destination rule, tie rule and the age of what it sees."""

    rule: int
    ties: int
    stale: int  # counts are refreshed every `stale` iterations
    local: bool  # own assignments since the refresh are added


@kernel
def run(stream, limits, rule, state, records, rows):  # type: ignore[no-untyped-def]
    """Run up to ``rows`` iterations; returns (rows written, why it stopped)."""
    for row in range(rows):
        stop, admissions = step.begin(stream, limits, state)
        if stop != RUNNING:
            return row, stop
        _look(limits, rule, state)
        if admissions > 0:
            free = step.list_free(limits, state)
            if rule.ties == LOWEST and (rule.rule == JSQ or rule.rule == TOKEN_JSQ or rule.rule == VLLM):
                _admit_from_heap(stream, limits, rule, state, free, admissions)
            else:
                for _ in range(admissions):
                    i = state.ints[HEAD]
                    position = _choose(stream, limits, rule, state, free, i)
                    _assign(stream, limits, rule, state, i, state.free[position])
                    free = step.drop_if_full(limits, state, free, position)
        step.finish(limits, state, records, row, admissions)
    return rows, RUNNING


@kernel
def _assign(stream, limits, rule, state, i, g):  # type: ignore[no-untyped-def]
    step.admit(stream, limits, state, i, g)
    if rule.local:
        state.worker[g].seen_count += 1
        state.worker[g].seen_load += state.request[i].prompt
        state.worker[g].seen_new += 1


@kernel
def _admit_from_heap(stream, limits, rule, state, free, admissions):  # type: ignore[no-untyped-def]
    """Least score, ties by lowest index: the free workers form a heap, so a choice costs ``O(log G)``."""
    for position in range(free // 2 - 1, -1, -1):
        _sink(rule, state, position, free)
    for _ in range(admissions):
        g = state.free[0]
        _assign(stream, limits, rule, state, state.ints[HEAD], g)
        if state.worker[g].count == limits.slots:
            free -= 1
            state.free[0] = state.free[free]
        _sink(rule, state, 0, free)


@inlined
def _sink(rule, state, position, free):  # type: ignore[no-untyped-def]
    """Restore the heap below ``position``."""
    g = state.free[position]
    score = _score(rule, state, g)
    while 2 * position + 1 < free:
        child = 2 * position + 1
        c = state.free[child]
        low = _score(rule, state, c)
        if child + 1 < free:
            other = state.free[child + 1]
            value = _score(rule, state, other)
            if value < low or (value == low and other < c):
                child, c, low = child + 1, other, value
        if score < low or (score == low and g < c):
            break
        state.free[position] = c
        position = child
    state.free[position] = g


@kernel
def _look(limits, rule, state):  # type: ignore[no-untyped-def]
    """Refresh what the router sees, every ``stale`` iterations."""
    if (state.ints[ITERATION] - 1) % rule.stale == 0:
        for g in range(limits.workers):
            state.worker[g].seen_count = state.worker[g].count
            state.worker[g].seen_load = state.worker[g].load
            state.worker[g].seen_new = 0


@inlined
def _score(rule, state, g):  # type: ignore[no-untyped-def]
    if rule.rule == TOKEN_JSQ:
        return state.worker[g].seen_load
    if rule.rule == VLLM:  # 4 · waiting + running; what was assigned since the refresh still waits
        return state.worker[g].seen_count + 3 * state.worker[g].seen_new
    return state.worker[g].seen_count


@kernel
def _choose(stream, limits, rule, state, free, i):  # type: ignore[no-untyped-def]
    """Position in the free list of the worker for request ``i``."""
    if rule.rule == ROUND_ROBIN:
        return _rotate(limits, state, free)
    if rule.rule == RANDOM:
        return _draw(stream.coins[i, 0], free)
    if rule.rule == POWER_OF_TWO:
        return _two(stream, limits, rule, state, free, i)
    best, ties, chosen = _score(rule, state, state.free[0]), 1, 0
    for j in range(1, free):
        value = _score(rule, state, state.free[j])
        if value < best:
            best, ties, chosen = value, 1, j
        elif value == best:
            ties += 1
    if ties == 1 or rule.ties == LOWEST:
        return chosen
    skip = 0
    if rule.ties == RANDOM_TIE:
        skip = _draw(stream.coins[i, 2], ties)
    else:
        for j in range(free):
            if _score(rule, state, state.free[j]) == best and state.free[j] < state.ints[POINTER]:
                skip += 1
        skip %= ties
    for j in range(free):
        if _score(rule, state, state.free[j]) == best:
            if skip == 0:
                chosen = j
                break
            skip -= 1
    if rule.ties == ROTATING:
        state.ints[POINTER] = (state.free[chosen] + 1) % limits.workers
    return chosen


@inlined
def _draw(coin, n):  # type: ignore[no-untyped-def]
    """Uniform draw from ``0 … n − 1`` with a coin in [0, 1)."""
    return min(int(coin * n), n - 1)


@kernel
def _rotate(limits, state, free):  # type: ignore[no-untyped-def]
    """First free worker at or after the pointer, cyclically; the pointer moves behind it."""
    chosen = 0
    for j in range(free):
        if state.free[j] >= state.ints[POINTER]:
            chosen = j
            break
    state.ints[POINTER] = (state.free[chosen] + 1) % limits.workers
    return chosen


@kernel
def _two(stream, limits, rule, state, free, i):  # type: ignore[no-untyped-def]
    """Two uniform draws with replacement; fewer requests wins."""
    a, b = _draw(stream.coins[i, 0], free), _draw(stream.coins[i, 1], free)
    x, y = state.worker[state.free[a]].seen_count, state.worker[state.free[b]].seen_count
    if x != y or a == b:
        return a if x <= y else b
    if rule.ties == FIRST_DRAW:
        return a
    if rule.ties == RANDOM_TIE:
        return a if stream.coins[i, 2] < 0.5 else b
    low, high = min(a, b), max(a, b)
    if rule.ties == LOWEST:
        return low
    pointer = state.ints[POINTER]
    ahead = state.free[low] >= pointer or state.free[high] < pointer
    chosen = low if ahead else high
    state.ints[POINTER] = (state.free[chosen] + 1) % limits.workers
    return chosen
