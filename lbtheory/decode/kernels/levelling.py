"""LEVEL, LEVEL+ and LEVEL-H+, compiled (``level.md``). Oracle: ``policies/_levelling.py``.

Every worker is steered to a common level ``T`` instead of up to the current maximum; no forecast is used but for LEVEL-H+.
"""

from typing import NamedTuple

import numpy as np

from lbtheory.core.jit import kernel
from lbtheory.decode.kernels import balance, sizes, step
from lbtheory.decode.kernels.state import (
    ACTIVE,
    HAZARD,
    HEAD,
    ITERATION,
    NO_FORECAST,
    RELEASED,
    RELEASED_SUM,
    RUNNING,
    WAITING,
    WAITING_SUM,
)
from lbtheory.decode.predictors.base import MEDIAN, ONE


class LevelRule(NamedTuple):
    """Parameters of the LEVEL family and its work arrays."""

    window: int  # oldest requests that are looked at; 0 for all
    lam: float  # λ: how far the target is pulled up to the largest load
    phi: float  # φ: how much of the age is left out of the load
    pairs: bool  # fill the last two slots of a worker with the best pair
    fixed_order: bool  # order of the workers is fixed for the step (LEVEL)
    largest_first: bool  # below saturation: largest prompt to the least loaded worker (LEVEL+)
    weights: np.ndarray  # (H+1,) γ^h
    sums: np.ndarray  # (3, H+2) sums of γ^h, h γ^h and γ^h mean_g A; row starts stay 0
    projected: np.ndarray  # (G, H+1)
    peak: np.ndarray


@kernel
def run(stream, limits, rule, state, records, rows):  # type: ignore[no-untyped-def]
    """Run up to ``rows`` iterations; returns (rows written, why it stopped)."""
    for row in range(rows):
        stop, admissions = step.begin(stream, limits, state)
        if stop != RUNNING:
            return row, stop
        reach = balance.look_ahead(stream, limits, state, admissions)
        if admissions > 0:
            _levels(stream, limits, rule, state, reach)
            free = step.list_free(limits, state)
            slots = limits.workers * limits.slots - state.ints[ACTIVE]
            if rule.largest_first and state.ints[WAITING] <= slots:
                _largest_first(stream, limits, rule, state, free, admissions)
            else:
                _steer(stream, limits, rule, state, free, slots, admissions)
        step.finish(limits, state, records, row, admissions)
    return rows, RUNNING


@kernel
def _levels(stream, limits, rule, state, reach):  # type: ignore[no-untyped-def]
    """``E_g``: the load that stands for worker ``g``."""
    k = state.ints[ITERATION]
    if limits.forecast != NO_FORECAST:
        _projected_levels(stream, limits, rule, state, reach)
        return
    for g in range(limits.workers):
        state.worker[g].level = state.worker[g].load - rule.phi * (k * state.worker[g].count - state.worker[g].entered)


@kernel
def _projected_levels(stream, limits, rule, state, reach):  # type: ignore[no-untyped-def]
    """LEVEL-H+: mean load + weighted mean of ``A_{g,h} − mean_g A_{g,h}`` before the worker's own next departure.

    Before it ``A_{g,h} = ℓ_g + h n_g``; in the mean over workers departures are refilled by the mean size seen so far.
    """
    k, workers = state.ints[ITERATION], limits.workers
    refill = state.ints[RELEASED_SUM] / state.ints[RELEASED]
    balance.project(stream, limits, state, reach, rule.projected, rule.peak)
    for g in range(workers):
        state.worker[g].quota = reach + 1
    sums = rule.sums
    left, value = 0.0, 0.0
    total_load = 0
    for h in range(reach + 1):
        total = 0
        for g in range(workers):
            total += rule.projected[g, h]
        leaving = _leaving(limits, state, h)
        if h == 0:
            total_load = total
        left += leaving
        value += leaving * (refill - h)
        sums[0, h + 1] = sums[0, h] + rule.weights[h]
        sums[1, h + 1] = sums[1, h] + rule.weights[h] * h
        sums[2, h + 1] = sums[2, h] + rule.weights[h] * ((total + (left * h + value)) / workers)
    for g in range(workers):
        d = state.worker[g].quota
        ahead = (state.worker[g].load * sums[0, d] + state.worker[g].count * sums[1, d] - sums[2, d]) / sums[0, d]
        state.worker[g].level = total_load / workers + ahead - rule.phi * (k * state.worker[g].count - state.worker[g].entered)


@kernel
def _leaving(limits, state, h):  # type: ignore[no-untyped-def]
    """Departures forecast at offset ``h``; ``quota`` of a worker is cut to ``h`` where it is the worker's first."""
    if h == 0:
        return 0.0
    found = 0
    row = (state.ints[ITERATION] + h) & (state.ring_count.shape[1] - 1)
    for g in range(limits.workers):
        if limits.forecast == HAZARD:
            gone = state.ring_count[g, h]
            before = 0 if h == 1 else state.worker[g].expected
            state.worker[g].expected = before + gone
            first = before + gone >= MEDIAN
        else:
            gone = state.ring_count[g, row]
            if h == 1:
                gone += state.worker[g].late_count
            first = gone > 0
        found += gone
        if first:
            state.worker[g].quota = min(state.worker[g].quota, h)
    return found / ONE if limits.forecast == HAZARD else float(found)


@kernel
def _largest_first(stream, limits, rule, state, free, admissions):  # type: ignore[no-untyped-def]
    """All waiting requests go: by decreasing prompt (ties: oldest) to the worker with least ``E_g`` (ties: lowest)."""
    for _ in range(admissions):
        best = 0
        for f in range(1, free):
            if state.worker[state.free[f]].level < state.worker[state.free[best]].level:
                best = f
        i, g = sizes.at_most(stream, state, stream.sizes[-1]), state.free[best]
        state.worker[g].level += state.request[i].prompt
        step.admit(stream, limits, state, i, g)
        free = step.drop_if_full(limits, state, free, best)


@kernel
def _quotas(limits, rule, state, free, slots, admissions):  # type: ignore[no-untyped-def]
    """How many requests each worker gets: its free slots, or Count-JSQ's numbers when fewer wait than slots are free."""
    for g in range(limits.workers):
        state.worker[g].quota = 0
    if admissions == slots:
        for f in range(free):
            g = state.free[f]
            state.worker[g].quota = limits.slots - state.worker[g].count
        return
    for _ in range(admissions):
        best = 0
        for f in range(1, free):
            g, b = state.free[f], state.free[best]
            if state.worker[g].count + state.worker[g].quota < state.worker[b].count + state.worker[b].quota:
                best = f
        state.worker[state.free[best]].quota += 1


@kernel
def _steer(stream, limits, rule, state, free, slots, admissions):  # type: ignore[no-untyped-def]
    """Give every worker its number of requests with a sum as near ``T − E_g`` as can be."""
    _quotas(limits, rule, state, free, slots, admissions)
    size = state.ints[WAITING_SUM] / state.ints[WAITING]
    total, top = 0.0, -np.inf
    for g in range(limits.workers):
        total += state.worker[g].level
        top = max(top, state.worker[g].level)
    target = (total + admissions * size) / limits.workers
    target += rule.lam * max(0.0, top - target)
    for f in range(free):
        g = state.free[f]
        state.worker[g].need = target - state.worker[g].level
        state.worker[g].urgency = _urgency(state, g, size)
    current = -1
    while admissions > 0:
        if step.overdue(limits, state):
            i = state.ints[HEAD]
            g = _fitting(state, free, i)
            _give(stream, limits, rule, state, i, g, size)
            admissions -= 1
            continue
        if current < 0 or state.worker[current].quota == 0:
            current = _most_urgent(state, free)
        if rule.pairs and state.worker[current].quota == 2 and state.ints[WAITING] >= 2:
            i, j = _nearest_pair(rule, state, state.worker[current].need)
            _give(stream, limits, rule, state, i, current, size)
            admissions -= 1
            if step.overdue(limits, state) and state.ints[HEAD] != j:
                continue
            _give(stream, limits, rule, state, j, current, size)
            admissions -= 1
            continue
        want = state.worker[current].need / state.worker[current].quota
        i = sizes.nearest(stream, state, want) if rule.window == 0 else _nearest_of(rule, state, want)
        _give(stream, limits, rule, state, i, current, size)
        admissions -= 1


@kernel
def _give(stream, limits, rule, state, i, g, size):  # type: ignore[no-untyped-def]
    state.worker[g].need -= state.request[i].prompt
    state.worker[g].quota -= 1
    if not rule.fixed_order and state.worker[g].quota > 0:
        state.worker[g].urgency = _urgency(state, g, size)
    step.admit(stream, limits, state, i, g)


@kernel
def _urgency(state, g, size):  # type: ignore[no-untyped-def]
    """How far the worker's need is from what its quota brings on average, in standard deviations up to a constant."""
    quota = state.worker[g].quota
    if quota == 0:
        return -1.0
    return abs(state.worker[g].need - quota * size) / np.sqrt(quota)


@kernel
def _most_urgent(state, free):  # type: ignore[no-untyped-def]
    best, best_value = -1, -1.0
    for f in range(free):
        g = state.free[f]
        if state.worker[g].quota > 0 and state.worker[g].urgency > best_value:
            best, best_value = g, state.worker[g].urgency
    return best


@kernel
def _fitting(state, free, i):  # type: ignore[no-untyped-def]
    """Worker whose mean need is nearest to the prompt of request ``i``; ties: lowest index."""
    best, best_value = -1, np.inf
    for f in range(free):
        g = state.free[f]
        if state.worker[g].quota > 0:
            value = abs(state.request[i].prompt - state.worker[g].need / state.worker[g].quota)
            if value < best_value:
                best, best_value = g, value
    return best


@kernel
def _nearest_of(rule, state, want):  # type: ignore[no-untyped-def]
    """Of the oldest requests in the window the one whose prompt is nearest to ``want``; ties: oldest."""
    i = state.ints[HEAD]
    best, best_value = i, abs(state.request[i].prompt - want)
    for _ in range(1, min(rule.window, state.ints[WAITING])):
        i = state.request[i].after
        value = abs(state.request[i].prompt - want)
        if value < best_value:
            best, best_value = i, value
    return best


@kernel
def _nearest_pair(rule, state, want):  # type: ignore[no-untyped-def]
    """Of the oldest requests in the window the pair whose sum is nearest to ``want``; ties: oldest first, then second."""
    window = state.ints[WAITING] if rule.window == 0 else min(rule.window, state.ints[WAITING])
    i = state.ints[HEAD]
    first, second, best = -1, -1, np.inf
    for a in range(window - 1):
        j = state.request[i].after
        for _ in range(a + 1, window):
            value = abs(state.request[i].prompt + state.request[j].prompt - want)
            if value < best:
                first, second, best = i, j, value
            j = state.request[j].after
        i = state.request[i].after
    return first, second
