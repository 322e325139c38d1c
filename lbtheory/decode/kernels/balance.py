"""BalanceRoute, compiled: BR-0 and BR-H with two stages (decode paper, section 5 and EC.3).

Score of ``n`` requests with total ``b`` for a worker with margins ``m_h = M_h − ℓ_{g,h}``:

    ``Σ_h γ^h [ x_h − β (x_h − m_h)_+ ]``,   ``x_h = b`` (simplified form) or ``b + h n`` (exact form, with ``β = G``).

``H = 0, β = G`` is the F-score of BR-0. The score is concave in ``b``, so the best single request is found from the slope
``Γ − β Σ_{h: m_h < b} γ^h`` and the index of waiting sizes, whatever the length of the queue. Oracle: ``policies/_balance.py``.
"""

from typing import NamedTuple

import numpy as np

from lbtheory.core.jit import kernel
from lbtheory.decode.kernels import sizes, step
from lbtheory.decode.kernels.state import (
    ACTIVE,
    HAZARD,
    HEAD,
    ITERATION,
    NO_FORECAST,
    ORACLE,
    REFRESHED,
    RUNNING,
    TABLE,
    WAITING,
)

NEARLY_NOTHING = 1e-300  # makes "at least" out of "above"


class BalanceRule(NamedTuple):
    """Parameters of BalanceRoute and its work arrays."""

    beta: float
    tolerance: float  # scores closer than this times the total are equal up to rounding
    greedy: int  # S_greedy
    window: int  # R_max
    exact: bool  # score before simplification
    weights: np.ndarray  # (H+1,) γ^h
    projected: np.ndarray  # (G, H+1)
    peak: np.ndarray  # (H+1,) M_h
    margin: np.ndarray  # (H+1,) float64
    picks: np.ndarray  # (R_max,)


@kernel
def run(stream, limits, rule, state, records, rows):  # type: ignore[no-untyped-def]
    """Run up to ``rows`` iterations; returns (rows written, why it stopped)."""
    for row in range(rows):
        stop, admissions = step.begin(stream, limits, state)
        if stop != RUNNING:
            return row, stop
        reach = look_ahead(stream, limits, state, admissions)
        if admissions > 0:
            project(stream, limits, state, reach, rule.projected, rule.peak)
            _admit_all(stream, limits, rule, state, reach, admissions)
        step.finish(limits, state, records, row, admissions)
    return rows, RUNNING


@kernel
def look_ahead(stream, limits, state, admissions):  # type: ignore[no-untyped-def]
    """Keep the forecasts up to date; returns how many offsets the window still reaches."""
    if limits.forecast == NO_FORECAST:
        return 0
    if limits.refresh_each:
        if limits.forecast == ORACLE:
            step.oracle_window(stream, limits, state)
        elif limits.forecast == TABLE and admissions > 0:
            step.refresh(stream, limits, state)
        return limits.horizon
    since = state.ints[ITERATION] - state.ints[REFRESHED]
    if state.ints[REFRESHED] == 0 or since >= limits.horizon:
        state.ints[REFRESHED] = state.ints[ITERATION]
        step.refresh(stream, limits, state)
        since = 0
    return limits.horizon - since


@kernel
def project(stream, limits, state, reach, projected, peak):  # type: ignore[no-untyped-def]
    """Projected loads ``A_{g,h}`` of the requests in flight for ``h = 0 … reach``, and their maxima."""
    if limits.forecast == HAZARD:
        step.expected(stream, limits, state, reach, projected)
    else:
        _cut_off(limits, state, reach, projected)
    for h in range(reach + 1):
        peak[h] = projected[0, h]
    for g in range(1, limits.workers):
        for h in range(reach + 1):
            peak[h] = max(peak[h], projected[g, h])


@kernel
def _cut_off(limits, state, reach, projected):  # type: ignore[no-untyped-def]
    """Cutoff projection: requests vanish at their forecast."""
    k = state.ints[ITERATION]
    origin = k if limits.refresh_each else state.ints[REFRESHED]
    counted = reach
    if limits.forecast == ORACLE:  # departures at the cap stay
        counted = max(0, min(reach, origin + limits.cap - 1 - k))
    mask = state.ring_count.shape[1] - 1
    for g in range(limits.workers):
        row = projected[g]
        count, base = state.worker[g].count, state.worker[g].base
        row[0] = state.worker[g].load
        if limits.forecast == TABLE:
            count -= state.worker[g].late_count
            base -= state.worker[g].late_base
        for h in range(1, counted + 1):
            count -= state.ring_count[g, (k + h) & mask]
            base -= state.ring_base[g, (k + h) & mask]
            row[h] = base + (k + h) * count
        for h in range(counted + 1, reach + 1):
            row[h] = base + (k + h) * count


@kernel
def _place(stream, limits, rule, state, reach, i, g):  # type: ignore[no-untyped-def]
    """Admit request ``i`` to ``g``; it is taken to stay through the window."""
    step.admit(stream, limits, state, i, g)
    for h in range(reach + 1):
        rule.projected[g, h] += state.request[i].prompt + h
        rule.peak[h] = max(rule.peak[h], rule.projected[g, h])


@kernel
def _admit_all(stream, limits, rule, state, reach, admissions):  # type: ignore[no-untyped-def]
    free = step.list_free(limits, state)
    slots = limits.workers * limits.slots - state.ints[ACTIVE]
    while admissions > 0:
        forced = step.overdue(limits, state)
        if forced or slots > rule.greedy:
            position = _emptiest(state, free)
            g = state.free[position]
            if forced:
                i = state.ints[HEAD]
            else:
                _margins(rule, reach, g, 1)
                i = _best_single(stream, rule, state, reach)
            _place(stream, limits, rule, state, reach, i, g)
            admissions -= 1
            slots -= 1
        else:
            position = _neediest(rule, state, free, reach)
            g = state.free[position]
            chosen = _best_subset(stream, limits, rule, state, reach, g)
            for j in range(chosen):
                if j > 0 and step.overdue(limits, state) and state.ints[HEAD] != rule.picks[j]:
                    break
                _place(stream, limits, rule, state, reach, rule.picks[j], g)
                admissions -= 1
                slots -= 1
        free = step.drop_if_full(limits, state, free, position)


@kernel
def _emptiest(state, free):  # type: ignore[no-untyped-def]
    """Most free slots, then smallest load, then lowest index; a position in the free list."""
    best = 0
    for j in range(1, free):
        g, b = state.free[j], state.free[best]
        if state.worker[g].count < state.worker[b].count or (
            state.worker[g].count == state.worker[b].count and state.worker[g].load < state.worker[b].load
        ):
            best = j
    return best


@kernel
def _neediest(rule, state, free, reach):  # type: ignore[no-untyped-def]
    """Descending (free slots, smallest margin over the window), then lowest index."""
    best, best_margin = -1, 0
    for j in range(free):
        g = state.free[j]
        margin = rule.peak[0] - rule.projected[g, 0]
        for h in range(1, reach + 1):
            margin = min(margin, rule.peak[h] - rule.projected[g, h])
        if best >= 0:
            more = state.worker[state.free[best]].count - state.worker[g].count
        if best < 0 or more > 0 or (more == 0 and margin > best_margin):
            best, best_margin = j, margin
    return best


@kernel
def _margins(rule, reach, g, requests):  # type: ignore[no-untyped-def]
    """Margins in terms of the total ``b`` of so many requests (the exact form takes their growth off)."""
    growth = requests if rule.exact else 0
    for h in range(reach + 1):
        rule.margin[h] = rule.peak[h] - rule.projected[g, h] - h * growth


@kernel
def _score(rule, reach, b, requests):  # type: ignore[no-untyped-def]
    growth = requests if rule.exact else 0
    value = 0.0
    for h in range(reach + 1):
        value += rule.weights[h] * (b + h * growth - rule.beta * max(b - rule.margin[h], 0.0))
    return value


@kernel
def _slope(rule, reach, b):  # type: ignore[no-untyped-def]
    """Score of ``b`` less that of ``b − 1``, up to rounding; not increasing in ``b``."""
    whole, over = 0.0, 0.0
    for h in range(reach + 1):
        whole += rule.weights[h]
        over += rule.weights[h] if rule.margin[h] < b else 0.0
    return whole - rule.beta * over


@kernel
def _last(rule, reach, top, least):  # type: ignore[no-untyped-def]
    """Largest ``b ≤ top`` up to which the slope is above ``least``."""
    low, high = 0, top
    while low < high:
        middle = (low + high + 1) // 2
        if _slope(rule, reach, middle) > least:
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def _best_single(stream, rule, state, reach):  # type: ignore[no-untyped-def]
    """Waiting request with the largest score (ties: earliest released), by the concavity of the score."""
    top = stream.sizes[-1]
    rise = _last(rule, reach, top, rule.tolerance)
    level = rise
    if rise < top and _slope(rule, reach, rise + 1) >= -rule.tolerance:
        level = _last(rule, reach, top, -rule.tolerance - NEARLY_NOTHING)
    best = sizes.at_most(stream, state, rise)
    if level > rise:  # a plateau: every size on it has the same score
        i = sizes.at_least(stream, state, max(rise, 1))
        if i >= 0 and state.request[i].prompt <= level:
            best = i
            while i >= 0 and state.request[i].prompt <= level:
                best = min(best, i)
                i = sizes.at_least(stream, state, state.request[i].prompt + 1)
            return best
    other = sizes.at_least(stream, state, level + 1)
    if best < 0:
        return other
    if other < 0:
        return best
    near = rule.tolerance * state.request[other].prompt
    gain = _score(rule, reach, state.request[other].prompt, 1) - _score(rule, reach, state.request[best].prompt, 1)
    return other if gain > near or (gain >= -near and other < best) else best


@kernel
def _best_subset(stream, limits, rule, state, reach, g):  # type: ignore[no-untyped-def]
    """Write the best subset of the first ``R_max`` waiting requests into ``rule.picks``; returns its size.

    Equal scores: fewest requests, then earliest released. When the best score is not positive: the best single request.
    """
    window = min(rule.window, state.ints[WAITING])
    room = min(limits.slots - state.worker[g].count, window)
    i = state.ints[HEAD]
    for j in range(window):
        rule.picks[j] = i
        i = state.request[i].after
    best, best_mask, best_size, near = -np.inf, 0, 0, 0.0
    for requests in range(1, room + 1):
        if rule.exact or requests == 1:
            _margins(rule, reach, g, requests)
        for mask in range(1, 1 << window):
            if _bits(mask) != requests:
                continue
            total = 0
            for j in range(window):
                if mask >> j & 1:
                    total += state.request[rule.picks[j]].prompt
            value = _score(rule, reach, total, requests)
            near = max(near, rule.tolerance * total)
            if value > best + near or (value >= best - near and requests == best_size and _earlier(mask, best_mask)):
                best, best_mask, best_size = value, mask, requests
        if requests == 1:
            single, single_mask = best, best_mask
    if best <= near:
        best, best_mask = single, single_mask
    chosen = 0
    for j in range(window):
        if best_mask >> j & 1:
            rule.picks[chosen] = rule.picks[j]
            chosen += 1
    return chosen


@kernel
def _bits(mask):  # type: ignore[no-untyped-def]
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@kernel
def _earlier(a, b):  # type: ignore[no-untyped-def]
    """Of two sets of equal size, whether ``a`` names the earlier requests (lexicographic order)."""
    return a != b and ((a ^ b) & -(a ^ b)) & a != 0
