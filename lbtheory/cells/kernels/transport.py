"""The program of MNLB: send the arrivals to cells at least network latency, within capacities where that is possible.

``min Σ_ij p_ij f_ij + M Σ_j s_j`` over ``f ≥ 0``, ``Σ_j f_ij = supply_i``, ``Σ_i f_ij ≤ capacity_j + s_j``, by successive
shortest augmenting paths; then flow is moved along cycles of cost 0 until ``f`` is lexicographically smallest.
"""

import numpy as np

from lbtheory.core.jit import kernel

NEAR = 1e-12


@kernel
def _paths(plan, allowed, source, price, after):  # type: ignore[no-untyped-def]
    """Least cost from a source to every node of the residual network; arcs up to and including number ``after`` are left out.

    Sources are nodes 0 … s − 1, cells s … s + n − 1. Bellman's passes: the network has no cycle of negative cost.
    """
    s, n = plan.flow.shape
    for node in range(s + n):
        plan.distance[node] = np.inf
        plan.parent[node] = -1
    plan.distance[source] = 0.0
    for _ in range(s + n):
        changed = False
        for i in range(s):
            for j in range(n):
                if allowed[i, j] == 0 or i * n + j <= after:
                    continue
                forth = plan.distance[i] + plan.price[i, j]
                if forth < plan.distance[s + j] - NEAR * price:
                    plan.distance[s + j], plan.parent[s + j], changed = forth, i, True
                if plan.flow[i, j] > 0:
                    back = plan.distance[s + j] - plan.price[i, j]
                    if back < plan.distance[i] - NEAR * price:
                        plan.distance[i], plan.parent[i], changed = back, s + j, True
        if not changed:
            return


@kernel
def _width(plan, source, at, most):  # type: ignore[no-untyped-def]
    """Flow that the path to cell ``at`` can carry, at most ``most``."""
    s = plan.flow.shape[0]
    node = s + at
    while node != source:
        before = plan.parent[node]
        if node < s:
            most = min(most, plan.flow[node, before - s])
        node = before
    return most


@kernel
def _push(plan, source, at, amount):  # type: ignore[no-untyped-def]
    s = plan.flow.shape[0]
    node = s + at
    while node != source:
        before = plan.parent[node]
        if node >= s:
            plan.flow[before, node - s] += amount
        else:
            plan.flow[node, before - s] -= amount
            if plan.flow[node, before - s] < NEAR:
                plan.flow[node, before - s] = 0.0
        node = before


@kernel
def solve(plan, allowed, overflow):  # type: ignore[no-untyped-def]
    """Fill ``plan.flow`` from supplies, capacities and prices; returns ``Σ_j s_j``."""
    s, n = plan.flow.shape
    largest = overflow
    for i in range(s):
        for j in range(n):
            plan.flow[i, j] = 0.0
            if allowed[i, j] == 1:
                largest = max(largest, plan.price[i, j])
    scale = 0.0
    for j in range(n):
        plan.room[j], plan.excess[j] = plan.capacity[j], 0.0
    for i in range(s):
        left = plan.supply[i]
        scale = max(scale, left)
        while left > NEAR * scale:
            _paths(plan, allowed, i, largest, -1)
            best, cheapest = -1, np.inf
            for j in range(n):
                full = plan.room[j] <= NEAR * scale
                cost = plan.distance[s + j] + (overflow if full else 0.0)
                if cost < cheapest:
                    best, cheapest = j, cost
            if best < 0:
                return np.nan
            full = plan.room[best] <= NEAR * scale
            amount = _width(plan, i, best, left if full else min(left, plan.room[best]))
            _push(plan, i, best, amount)
            if full:
                plan.excess[best] += amount
            else:
                plan.room[best] -= amount
            left -= amount
    _smallest(plan, allowed, overflow, largest, scale)
    total = 0.0
    for j in range(n):
        total += plan.excess[j]
    return total


@kernel
def _smallest(plan, allowed, overflow, largest, scale):  # type: ignore[no-untyped-def]
    """Lower each arc in turn as far as cycles of cost 0 through later arcs allow."""
    s, n = plan.flow.shape
    for i in range(s):
        for j in range(n):
            while plan.flow[i, j] > NEAR * scale:
                _paths(plan, allowed, i, largest, i * n + j)
                refund = overflow if plan.excess[j] > NEAR * scale else 0.0
                to = -1
                for k in range(n):
                    full = plan.room[k] <= NEAR * scale
                    extra = 0.0 if k == j else (overflow if full else 0.0) - refund
                    if plan.distance[s + k] + extra - plan.price[i, j] <= 10 * NEAR * largest:
                        to = k
                        break
                if to < 0:
                    break
                amount = _width(plan, i, to, plan.flow[i, j])
                if to != j:
                    if refund > 0:
                        amount = min(amount, plan.excess[j])
                    if plan.room[to] > NEAR * scale:
                        amount = min(amount, plan.room[to])
                if amount <= NEAR * scale:
                    break
                _push(plan, i, to, amount)
                plan.flow[i, j] -= amount
                if to != j:
                    _shift(plan, j, to, amount, refund > 0, scale)
            if plan.flow[i, j] <= NEAR * scale and plan.flow[i, j] > 0:
                plan.flow[i, j] = 0.0


@kernel
def _shift(plan, j, to, amount, refunded, scale):  # type: ignore[no-untyped-def]
    """``amount`` leaves cell ``j`` and enters cell ``to``."""
    if refunded:
        plan.excess[j] -= amount
    else:
        plan.room[j] += amount
    if plan.room[to] > NEAR * scale:
        plan.room[to] -= amount
    else:
        plan.excess[to] += amount
