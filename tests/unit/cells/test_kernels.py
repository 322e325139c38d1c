"""Pieces of the engine: the program of MNLB, the projection, the calendar."""

import heapq
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import linprog

from lbtheory.cells.kernels import layout
from lbtheory.cells.kernels.calendar import cancel, head, schedule, take
from lbtheory.cells.kernels.control import project
from lbtheory.cells.kernels.transport import solve
from lbtheory.fluid.mnlb import mnlb_weights
from tests.reference.cell_parts import project as sorted_projection


class State(NamedTuple):
    """What the calendar touches."""

    request: np.ndarray
    bucket: np.ndarray
    ints: np.ndarray


class Lim(NamedTuple):
    per_second: float
    mask: int


def transport(supply, capacity, price, allowed=None, overflow=1000.0):
    """Flow and excess."""
    s, n = price.shape
    plan = layout.Planner(
        supply=np.array(supply, float),
        capacity=np.array(capacity, float),
        price=np.array(price, float),
        flow=np.zeros((s, n)),
        room=np.zeros(n),
        excess=np.zeros(n),
        distance=np.zeros(s + n),
        parent=np.zeros(s + n, np.int64),
    )
    excess = solve(plan, np.ones((s, n), np.uint8) if allowed is None else np.array(allowed, np.uint8), overflow)
    return plan.flow, excess


def test_unique_optimum():
    """λ = (7, 3, 1), capacity (4, 4, 3.2), round trips 20, 60, 30: ``w_12 = 3/7``, ``w_23 = 2/3``, cost 120 (by hand)."""
    trips = np.array([[0.0, 20, 60], [20, 0, 30], [60, 30, 0]])
    flow, excess = transport([7, 3, 1], [4, 4, 3.2], trips)
    np.testing.assert_allclose(flow, [[4, 3, 0], [0, 1, 2], [0, 0, 1]], atol=1e-12)
    assert excess == 0 and abs((flow * trips).sum() - 120) < 1e-10


@pytest.mark.parametrize("seed", range(30))
def test_against_highs(seed):
    """Cost, balance and capacities on random programs: ties, forbidden arcs, zero capacities, too little capacity."""
    rng = np.random.default_rng([7, seed])
    s, n = int(rng.integers(1, 7)), int(rng.integers(1, 7))
    price = rng.integers(0, 4, (s, n)).astype(float) if seed % 2 else rng.random((s, n))
    allowed = rng.random((s, n)) < 0.7
    allowed[np.arange(s), rng.integers(0, n, s)] = True
    supply, capacity = rng.exponential(1, s), rng.exponential(1, n) * (rng.random(n) < 0.8)
    flow, excess = transport(supply, capacity, price, allowed)
    at, to = np.nonzero(allowed)
    into, out = np.zeros((n, len(at) + n)), np.zeros((s, len(at) + n))
    into[to, range(len(at))] = out[at, range(len(at))] = 1
    into[range(n), range(len(at), len(at) + n)] = -1
    best = linprog(np.r_[price[at, to], np.full(n, 1000.0)], A_ub=into, b_ub=capacity, A_eq=out, b_eq=supply, method="highs")
    np.testing.assert_allclose(flow.sum(axis=1), supply, atol=1e-9)
    over = np.maximum(flow.sum(axis=0) - capacity, 0)
    assert (flow >= 0).all() and not flow[~allowed].any()
    assert abs(over.sum() - excess) < 1e-8
    assert abs((flow * price).sum() + 1000 * over.sum() - best.fun) < 1e-7 * (1 + best.fun)


@pytest.mark.parametrize("seed", range(12))
def test_lexicographically_smallest(seed):
    """Against the solver that lowers one weight after the other by linear programs."""
    rng = np.random.default_rng([8, seed])
    n = int(rng.integers(2, 4))
    price = rng.integers(0, 3, (n, n)).astype(float)
    supply = rng.integers(1, 4, n).astype(float)
    capacity = supply.sum() * rng.dirichlet(np.ones(n)) * 1.3
    flow, excess = transport(supply, capacity, price)
    wanted = mnlb_weights(supply, capacity, price).weights
    assert excess == 0
    np.testing.assert_allclose(flow / supply[:, None], wanted, atol=1e-6)


def test_projection():
    rng = np.random.default_rng(3)
    for _ in range(300):
        n = int(rng.integers(1, 9))
        z = rng.normal(0, rng.choice([0.1, 1, 1e6]), n) if rng.random() < 0.7 else np.round(rng.normal(0, 1, n))
        x = np.zeros(n)
        project(x, np.ones(n, np.uint8), z, np.zeros(n, np.uint8))
        np.testing.assert_allclose(x, sorted_projection(z), atol=1e-9)
        assert abs(x.sum() - 1) < 1e-9 and x.min() >= 0


@pytest.mark.parametrize("buckets, rate", [(8, 1.0), (64, 30.0), (256, 1000.0)])
def test_calendar_is_a_priority_queue(buckets, rate):
    """Whatever the width of a bucket: the order of a heap on (time, kind, entry), with cancellations."""
    rng = np.random.default_rng(5)
    st = State(np.zeros(400, layout.REQUEST), np.full(buckets, -1, np.int32), np.zeros(layout.INTS, np.int64))
    lim = Lim(rate, buckets - 1)
    heap, now, entered, free = [], 0.0, 0, list(range(400))
    for _ in range(3000):
        if free and (not heap or rng.random() < 0.52):
            r = free.pop(int(rng.integers(len(free))))
            time = now + float(rng.choice([0.0, 0.25, rng.exponential(1), rng.exponential(40)]))
            kind = int(rng.integers(4))
            schedule(st, lim, r, kind, time)
            entered += 1
            heapq.heappush(heap, (time, kind, entered, r))
        elif rng.random() < 0.1:
            entry = heap.pop(int(rng.integers(len(heap))))
            heapq.heapify(heap)
            cancel(st, lim, entry[3])
            free.append(entry[3])
        else:
            now, _, _, r = heapq.heappop(heap)
            assert head(st, lim) == r
            take(st, lim, r)
            free.append(r)
        assert st.ints[layout.PENDING] == len(heap)
    assert (head(st, lim) == -1) == (not heap)
