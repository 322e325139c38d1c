"""Separate queues, compiled: a request is bound to a worker when it is released. Oracle: ``policies/separate.py``.

A waiting request keeps its worker in ``worker`` and the next request of the same queue in ``chain``, which are free until it
is admitted.
"""

from typing import NamedTuple

import numpy as np

from lbtheory.core.jit import kernel
from lbtheory.decode.kernels import step
from lbtheory.decode.kernels.state import POINTER, RELEASED, RUNNING

JSQ, ROUND_ROBIN, TOKENS = range(3)


class SeparateRule(NamedTuple):
    """How requests are bound, and the queues."""

    bind: int
    bound: np.ndarray  # (1,) requests bound so far
    head: np.ndarray  # (G,) first request of each queue, −1 for none
    tail: np.ndarray  # (G,)
    waiting: np.ndarray  # (G,) requests in each queue
    tokens: np.ndarray  # (G,) their prompts


@kernel
def run(stream, limits, rule, state, records, rows):  # type: ignore[no-untyped-def]
    """Run up to ``rows`` iterations; returns (rows written, why it stopped)."""
    for row in range(rows):
        stop, _ = step.begin(stream, limits, state)
        if stop != RUNNING:
            return row, stop
        while rule.bound[0] < state.ints[RELEASED]:
            _bind(limits, rule, state, rule.bound[0])
            rule.bound[0] += 1
        admitted = 0
        for g in range(limits.workers):
            while rule.waiting[g] > 0 and state.worker[g].count < limits.slots:
                i = rule.head[g]
                rule.head[g] = state.request[i].chain
                rule.waiting[g] -= 1
                rule.tokens[g] -= state.request[i].prompt
                step.admit(stream, limits, state, i, g)
                admitted += 1
        step.finish(limits, state, records, row, admitted)
    return rows, RUNNING


@kernel
def _bind(limits, rule, state, i):  # type: ignore[no-untyped-def]
    """Request ``i`` joins the queue of one worker."""
    g = 0
    if rule.bind == ROUND_ROBIN:
        g = state.ints[POINTER]
        state.ints[POINTER] = (g + 1) % limits.workers
    else:
        best = _score(rule, state, 0)
        for other in range(1, limits.workers):
            value = _score(rule, state, other)
            if value < best:
                g, best = other, value
    state.request[i].worker = g
    state.request[i].chain = -1
    if rule.waiting[g] > 0:
        state.request[rule.tail[g]].chain = i
    else:
        rule.head[g] = i
    rule.tail[g] = i
    rule.waiting[g] += 1
    rule.tokens[g] += state.request[i].prompt


@kernel
def _score(rule, state, g):  # type: ignore[no-untyped-def]
    """Requests on the worker and in its queue, or their tokens."""
    if rule.bind == TOKENS:
        return state.worker[g].load + rule.tokens[g]
    return state.worker[g].count + rule.waiting[g]
