"""LEVEL-X, compiled: first-come admission, improved by exchanges. Oracle: ``policies/level_x.py``."""

from typing import NamedTuple

import numpy as np

from lbtheory.core.jit import kernel
from lbtheory.decode.kernels import step
from lbtheory.decode.kernels.state import ACTIVE, ADMITTED, HEAD, ITERATION, RUNNING, WAITING, WAITING_SUM
from lbtheory.decode.policies.level_x import LEAST


class ExchangeRule(NamedTuple):
    """Parameters of LEVEL-X and its work arrays.

    Of the ``n`` candidates the first ``U`` places hold those to be admitted, the others those that are left.
    """

    lam: float  # λ: how far the target is pulled up to the least largest load
    phi: float  # φ: how much of the age is left out of the load
    kappa: float  # weight of today's imbalance
    alpha: float  # price of overtaking
    zeta: float  # worth of taking a size far from the mean
    spare: int  # waiting requests that are looked at beside the U oldest
    limit: int  # largest number that is admitted by exchanges in one iteration
    sweeps: int
    request: np.ndarray  # (limit + spare,)
    rank: np.ndarray  # (limit + spare,) position in the queue
    worker: np.ndarray  # (limit,)
    top: np.ndarray  # (3,) workers with the largest levels, −1 for none


@kernel
def run(stream, limits, rule, state, records, rows):  # type: ignore[no-untyped-def]
    """Run up to ``rows`` iterations; returns (rows written, why it stopped)."""
    for row in range(rows):
        stop, admissions = step.begin(stream, limits, state)
        if stop != RUNNING:
            return row, stop
        if admissions > 0:
            _admit(stream, limits, rule, state, admissions)
        step.finish(limits, state, records, row, admissions)
    return rows, RUNNING


@kernel
def _admit(stream, limits, rule, state, admissions):  # type: ignore[no-untyped-def]
    """Admit the oldest, or what exchanges make of them."""
    k = state.ints[ITERATION]
    for g in range(limits.workers):
        state.worker[g].level = state.worker[g].load - rule.phi * (k * state.worker[g].count - state.worker[g].entered)
        state.worker[g].quota = limits.slots - state.worker[g].count
    full = admissions == limits.workers * limits.slots - state.ints[ACTIVE]
    mean = state.ints[WAITING_SUM] / state.ints[WAITING]
    target = _target(limits, rule, state, admissions, mean)
    while admissions > rule.limit:  # too many for exchanges (an empty system): the oldest go where most slots are free
        i = state.ints[HEAD]
        g = _emptiest(limits, state)
        _put(state, i, g)
        step.admit(stream, limits, state, i, g)
        admissions -= 1
    candidates, forced, variance = _candidates(limits, rule, state, admissions, mean)
    _largest_first(rule, state, admissions)
    for j in range(admissions):
        g = _neediest(limits, state, target, full)
        rule.worker[j] = g
        _put(state, rule.request[j], g)
    _exchange(limits, rule, state, admissions, candidates, forced, target, mean, variance)
    for j in range(admissions):
        step.admit(stream, limits, state, rule.request[j], rule.worker[j])


@kernel
def _target(limits, rule, state, admissions, mean):  # type: ignore[no-untyped-def]
    """``T``: the mean load after admission, pulled up to the least load that the largest can have."""
    smallest = _smallest(rule, state, admissions)
    total, peak = 0.0, -np.inf
    for g in range(limits.workers):
        total += state.worker[g].level
        peak = max(peak, state.worker[g].level + state.worker[g].quota * smallest)
    target = (total + admissions * mean) / limits.workers
    return target + rule.lam * max(0.0, peak - target)


@kernel
def _smallest(rule, state, admissions):  # type: ignore[no-untyped-def]
    """Smallest size among the candidates."""
    i = state.ints[HEAD]
    smallest = state.request[i].prompt
    for _ in range(1, min(state.ints[WAITING], admissions + rule.spare)):
        i = state.request[i].after
        smallest = min(smallest, state.request[i].prompt)
    return smallest


@kernel
def _neediest(limits, state, target, full):  # type: ignore[no-untyped-def]
    """Worker with the largest mean need, or below saturation with the least level; ties: lowest index."""
    best, best_value = -1, -np.inf
    for g in range(limits.workers):
        if state.worker[g].quota > 0:
            value = target - state.worker[g].level
            if full:
                value /= state.worker[g].quota
            if value > best_value:
                best, best_value = g, value
    return best


@kernel
def _emptiest(limits, state):  # type: ignore[no-untyped-def]
    """Worker with the most free slots; ties: lowest index."""
    best = 0
    for g in range(1, limits.workers):
        if state.worker[g].quota > state.worker[best].quota:
            best = g
    return best


@kernel
def _put(state, i, g):  # type: ignore[no-untyped-def]
    state.worker[g].level += state.request[i].prompt
    state.worker[g].quota -= 1


@kernel
def _candidates(limits, rule, state, admissions, mean):  # type: ignore[no-untyped-def]
    """List the oldest requests; returns how many, how many are forced, and the mean square of size less ``mean``."""
    candidates = min(state.ints[WAITING], admissions + rule.spare)
    last = state.ints[ADMITTED] + admissions - 1 - limits.overtake
    forced, square = 0, 0.0
    i = state.ints[HEAD]
    for j in range(candidates):
        rule.request[j], rule.rank[j] = i, j
        late = limits.overtake >= 0 and i <= last
        late = late or (limits.patience >= 0 and state.ints[ITERATION] - state.request[i].released >= limits.patience)
        if late and j < admissions:
            forced = j + 1
        square += (state.request[i].prompt - mean) * (state.request[i].prompt - mean)
        i = state.request[i].after
    return candidates, forced, max(1.0, square / candidates)


@kernel
def _largest_first(rule, state, admissions):  # type: ignore[no-untyped-def]
    """Sort those to be admitted by decreasing size; ties: oldest."""
    for j in range(1, admissions):
        i, rank = rule.request[j], rule.rank[j]
        at = j
        while at > 0 and state.request[rule.request[at - 1]].prompt < state.request[i].prompt:
            rule.request[at], rule.rank[at] = rule.request[at - 1], rule.rank[at - 1]
            at -= 1
        rule.request[at], rule.rank[at] = i, rank


@kernel
def _exchange(limits, rule, state, admissions, candidates, forced, target, mean, variance):  # type: ignore[no-untyped-def]
    """Exchange requests as long as it lowers ``J``: with one that is left, and between workers."""
    _tops(limits, rule, state)
    weight = rule.kappa * np.sqrt(variance) * admissions / limits.workers if limits.workers > 1 else 0.0
    price = rule.alpha * variance / candidates
    for _ in range(rule.sweeps):
        changed = False
        for j in range(admissions):
            if rule.rank[j] >= forced and admissions < candidates:
                k = _best_left(limits, rule, state, admissions, candidates, j, target, mean, weight, price, variance)
                if k >= 0:
                    g = rule.worker[j]
                    state.worker[g].level += state.request[rule.request[k]].prompt - state.request[rule.request[j]].prompt
                    _swap(rule, j, k)
                    _tops(limits, rule, state)
                    changed = True
            for k in range(j):
                if _swap_gains(limits, rule, state, j, k, target, weight, variance):
                    g, h = rule.worker[j], rule.worker[k]
                    more = state.request[rule.request[k]].prompt - state.request[rule.request[j]].prompt
                    state.worker[g].level += more
                    state.worker[h].level -= more
                    _swap(rule, j, k)
                    _tops(limits, rule, state)
                    changed = True
        if not changed:
            break


@kernel
def _best_left(limits, rule, state, admissions, candidates, j, target, mean, weight, price, variance):  # type: ignore[no-untyped-def]
    """The request that is left whose exchange with the ``j``-th lowers ``J`` most, −1 when none does; ties: first listed."""
    g, size = rule.worker[j], state.request[rule.request[j]].prompt
    peak = _peak_without(rule, state, g, g)
    level = state.worker[g].level
    now = _cost(limits, level, target, peak, weight) + _taking(rule, size, rule.rank[j], mean, price)
    best, best_value = -1, now - LEAST * variance
    for k in range(admissions, candidates):
        other = state.request[rule.request[k]].prompt
        value = _cost(limits, level - size + other, target, peak, weight) + _taking(rule, other, rule.rank[k], mean, price)
        if value < best_value:
            best, best_value = k, value
    return best


@kernel
def _swap_gains(limits, rule, state, j, k, target, weight, variance):  # type: ignore[no-untyped-def]
    """Whether the ``j``-th and the ``k``-th admitted should change workers."""
    g, h = rule.worker[j], rule.worker[k]
    more = state.request[rule.request[k]].prompt - state.request[rule.request[j]].prompt
    if g == h or more == 0:
        return False
    a, b = state.worker[g].level, state.worker[h].level
    gain = _square(a - target) + _square(b - target) - _square(a + more - target) - _square(b - more - target)
    if weight > 0.0:
        peak = _peak_without(rule, state, g, h)
        gain += weight * limits.workers * (max(peak, max(a, b)) - max(peak, max(a + more, b - more)))
    return gain > LEAST * variance


@kernel
def _cost(limits, level, target, peak, weight):  # type: ignore[no-untyped-def]
    """What depends on one level: ``(L − T)² + κσ (G max(peak, L) − L)``, ``peak`` the largest other level."""
    value = _square(level - target)
    if weight > 0.0:
        value += weight * (limits.workers * max(0.0, level - peak) - (level - peak))
    return value


@kernel
def _taking(rule, size, rank, mean, price):  # type: ignore[no-untyped-def]
    """What it costs to take a request: its place in the queue less ``ζ (S − S̄)²``."""
    return price * rank - rule.zeta * _square(size - mean)


@kernel
def _square(value):  # type: ignore[no-untyped-def]
    return value * value


@kernel
def _swap(rule, j, k):  # type: ignore[no-untyped-def]
    rule.request[j], rule.request[k] = rule.request[k], rule.request[j]
    rule.rank[j], rule.rank[k] = rule.rank[k], rule.rank[j]


@kernel
def _tops(limits, rule, state):  # type: ignore[no-untyped-def]
    """The three workers with the largest levels (ties: lowest index)."""
    rule.top[0] = rule.top[1] = rule.top[2] = -1
    for g in range(limits.workers):
        level, at = state.worker[g].level, 3
        while at > 0 and (rule.top[at - 1] < 0 or level > state.worker[rule.top[at - 1]].level):
            at -= 1
        for x in range(2, at, -1):
            rule.top[x] = rule.top[x - 1]
        if at < 3:
            rule.top[at] = g


@kernel
def _peak_without(rule, state, g, h):  # type: ignore[no-untyped-def]
    """Largest level of the other workers, −∞ when there are none."""
    for x in range(3):
        t = rule.top[x]
        if t >= 0 and t != g and t != h:
            return state.worker[t].level
    return -np.inf
