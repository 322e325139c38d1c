"""Rich supply: the one-step inequality by enumeration, the moments by summation, the bounds against runs and the exact law."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp, log

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.theory import from_weights, uniform
from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.theory.rich_supply import (
    drift_root,
    log_moment_down,
    log_moment_up,
    one_step,
    rich_bound,
    rich_bound_at,
    smallest_slots,
    supply_rate,
)

cases = st.tuples(st.integers(2, 4), st.integers(1, 3), st.integers(2, 4)).flatmap(
    lambda size: st.tuples(
        st.lists(st.lists(st.integers(1, 9), min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]),
        st.lists(st.lists(st.integers(0, 1), min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]),
        st.just(size[2]),
    )
)


@given(case=cases, p=st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20))
@settings(max_examples=60, deadline=None)
def test_one_step(case: tuple[list[list[int]], list[list[int]], int], p: Fraction) -> None:
    """All reachable loads enumerated: IO_0's value, the least range, uniqueness where it is positive, ``D' ≤ (q D + v)⁺``."""
    workloads, coins, s = case
    step = one_step(p, s, workloads, coins)
    ways = []
    for w, xi in zip(workloads, coins, strict=True):
        survivors = sum(x + 1 for x, done in zip(w, xi, strict=True) if not done)
        ways.append({survivors + sum(sizes) for sizes in combinations_with_replacement(range(1, s + 1), sum(xi))})
    reached = list(product(*ways))
    values = [len(loads) * max(loads) - sum(loads) for loads in reached]
    best = [loads for loads, value in zip(reached, values, strict=True) if value == min(values)]
    assert step.loads in best and step.range_after == min(max(loads) - min(loads) for loads in reached)
    assert {max(loads) - min(loads) for loads in best} == {step.range_after}
    assert step.range_after == 0 or best == [step.loads]
    assert step.range_after <= step.bound and isinstance(step.bound, Fraction)


@given(case=cases, p=st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20), shift=st.integers(-9, 9))
@settings(max_examples=60, deadline=None)
def test_level_step(case: tuple[list[list[int]], list[list[int]], int], p: Fraction, shift: int) -> None:
    """LEVEL with any integer target: ``x'⁺ ≤ (q x⁺ + E(1) − β₊)⁺`` and ``x'⁻ ≤ (q x⁻ − E(s) − β₋)⁺``."""
    workloads, coins, s = case
    slots, q = len(workloads[0]), 1 - p
    target = int(slots * (Fraction(s + 1, 2) + q / p)) + shift
    for w, xi in zip(workloads, coins, strict=True):
        survivors, free = sum(x + 1 for x, done in zip(w, xi, strict=True) if not done), sum(xi)
        before = sum(w) - target
        after = min(max(target, survivors + free), survivors + s * free) - target
        low, high = (sum(((done - p) * (t - x - 1) for x, done in zip(w, xi, strict=True)), Fraction(0)) for t in (1, s))
        assert max(after, 0) <= max(Fraction(0), q * max(before, 0) + low - (p * target - slots))
        assert max(-after, 0) <= max(Fraction(0), q * max(-before, 0) - high - (slots + p * slots * (s - 1) - p * target))


@pytest.mark.parametrize(("p", "s"), [(0.25, 4), (0.6, 2), (0.05, 50), (0.9, 30)])
def test_moments_by_summation(p: float, s: int) -> None:
    """``M₁``, ``M₂`` are the sums over ages of the largest moment over all sizes ``1 … s``; both are at most ``e^{V'θ²/2}``."""
    q, tau = 1 - p, drift_root(p, s)
    with mpmath.workdps(30):
        exact_q = 1 - mpmath.mpf(p)
        root = mpmath.mpf(tau)
        square = (
            p * exact_q * mpmath.nsum(lambda a: p * exact_q**a * (s + a) ** 2 * mpmath.exp(root * (s + a)), [0, mpmath.inf])
        )
        assert abs(square * root / (p * (s - 1)) - 1) < 1e-9 and square * root <= p * (s - 1)
    x, sizes = np.arange(int(400 / p))[:, None] if p < 0.2 else np.arange(200)[:, None], np.arange(1, s + 1)
    age = np.exp(np.log(p) + x[:, 0] * np.log(q))
    for theta in (tau / 3, tau, min(2 * tau, -0.5 * log(q))):
        up, down = -(sizes + x), sizes + x + 1 - s
        for a, ours in ((up, log_moment_up(p, s, theta)), (down, log_moment_down(p, s, theta))):
            direct = age @ np.max(p * np.exp(theta * q * a) + q * np.exp(-theta * p * a), axis=1)
            assert exp(ours) == pytest.approx(direct, rel=1e-11)
            if theta <= tau:
                assert ours <= float(square) * theta**2 / 2


@given(
    p=st.floats(0.002, 0.95),
    s=st.integers(2, 300),
    workers=st.integers(2, 200),
    slots=st.integers(1, 3000),
    rule=st.sampled_from(["io", "level"]),
)
@settings(max_examples=40, deadline=None)
def test_exact_moments_sharpen_the_bound(p: float, s: int, workers: int, slots: int, rule: str) -> None:
    """At every ``B`` exact moments give at most the bound free of ``B``; LEVEL's bound at one ``B`` is at most that for all."""
    free = rich_bound(p, s, workers, rule=rule)
    assert 0 <= rich_bound_at(p, s, workers, slots, rule=rule) <= free * (1 + 1e-9)
    assert rich_bound(p, s, workers, rule=rule, slots=slots) <= free * (1 + 1e-12)


def test_formulas() -> None:
    """``2(G−1) log(1+G)/(pτ)``, and ``G[log(1+G) + log 2]/(pτ)`` where ``T₀`` is an integer."""
    p, s = Fraction(1, 20), 50
    tau = drift_root(p, s)
    assert tau == pytest.approx(0.00602019586, rel=1e-8)
    assert rich_bound(p, s, 8) == pytest.approx(14 * log(9) * 20 / tau, rel=1e-12)
    assert rich_bound(p, s, 8, rule="level", slots=64) == pytest.approx(8 * log(18) * 20 / tau, rel=1e-12)
    assert rich_bound(p, s, 1) == rich_bound_at(p, s, 1, 5) == rich_bound(p, s, 1, rule="level") == 0
    assert supply_rate(p, from_weights([1, 2, 3], [1, 2, 2]), 8, 64) == 8 * 64 * p * 5


def test_bounds_hold_in_a_run() -> None:
    """``p = 1/4``, sizes 1 … 4, ``G = 4``, ``B = 16``: the mean over 5,000 steps is below every bound, for IO_0 and LEVEL.

    Warm-up 200 steps; the run's means are an order below the bounds, so no level is stated.
    """
    rng, p, s, workers, slots = np.random.default_rng(5), 0.25, 4, 4, 16
    target = int(slots * ((s + 1) / 2 + 3))
    means = {}
    for rule in ("io", "level"):
        w, total = rng.integers(1, 12, (workers, slots)), 0
        for k in range(5_200):
            coins = rng.random((workers, slots)) < p
            free = coins.sum(axis=1)
            w = np.where(coins, 0, w + 1)
            survivors = w.sum(axis=1)
            aim = (survivors + free).max() if rule == "io" else target
            loads = np.clip(aim, survivors + free, survivors + s * free)
            for g in range(workers):
                extra = loads[g] - survivors[g] - free[g]
                sizes = np.ones(free[g], dtype=int)
                sizes[: extra // (s - 1)] = s
                if extra % (s - 1):
                    sizes[extra // (s - 1)] += extra % (s - 1)
                w[g, coins[g]] = sizes
            assert (w.sum(axis=1) == loads).all()
            total += (workers * loads.max() - loads.sum()) if k >= 200 else 0
        means[rule] = total / 5_000
        assert means[rule] > 1
        assert means[rule] < rich_bound_at(p, s, workers, slots, rule=rule) <= rich_bound(p, s, workers, rule=rule)


def test_where_the_bound_passes_the_benchmark() -> None:
    """``p = 1/4``, sizes 1 … 4, ``G = 8``: from ``B = 177`` on; ``1/20``, 1 … 50: from 379 on (paper's theorem: 10⁵ to 10⁹)."""
    for p, s, slots, limit in ((4, 4, 177, 203), (20, 50, 379, 562)):
        found = smallest_slots(Fraction(1, p), uniform(s), 8)
        assert found.slots == slots <= limit and found.bound <= found.benchmark
        before = benchmark_law(Fraction(1, p), uniform(s), slots - 1).imbalance(8)[0]
        assert rich_bound_at(Fraction(1, p), s, 8, slots - 1) > before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "s", "workers", "slots", "limit"),
    [(100, 100, 8, 6303, 9024), (100, 100, 64, 11285, 13360), (1000, 4000, 32, 31839, 48448)],
)
def test_where_the_bound_passes_the_benchmark_in_larger_systems(p: int, s: int, workers: int, slots: int, limit: int) -> None:
    """The bound is below the exact FCFS law at ``slots`` and at the larger ``limit``, and above it just before."""
    exact = Fraction(1, p)
    for b, below in ((slots - 1, False), (slots, True), (limit, True)):
        value = benchmark_law(exact, uniform(s), b).imbalance(workers)[0]
        assert (rich_bound_at(exact, s, workers, b) <= value) == below


def test_supply_is_needed() -> None:
    """Without every size in supply a step can break the inequality: ``a = 5, 9``, one slot, only size 1: ``D' = 3 > 1``."""
    workloads, coins = [[1, 4], [4, 3]], [[1, 0], [0, 0]]
    step = one_step(Fraction(1, 2), 4, workloads, coins)
    assert step.loads == (9, 9) and step.range_after == 0 and step.bound == 1
    assert step.bound < 9 - (5 + 1)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: drift_root(0.0, 4), "p"),
        (lambda: drift_root(0.5, 1), "s"),
        (lambda: rich_bound(0.5, 4, 0), "workers"),
        (lambda: rich_bound(0.5, 4, 2, rule="level", slots=0), "slots"),
        (lambda: rich_bound_at(0.5, 4, 2, 0), "slots"),
        (lambda: one_step(Fraction(1, 2), 4, [[1, 2]], [[1]]), "workloads"),
        (lambda: one_step(Fraction(1, 2), 4, [[1.5, 2]], [[1, 0]]), "workloads"),  # type: ignore[list-item]
        (lambda: one_step(Fraction(1, 2), 4, [[0, 2]], [[1, 0]]), "workloads"),
        (lambda: one_step(Fraction(1, 2), 4, [[1, 2]], [[2, 0]]), "coins"),
        (lambda: supply_rate(0.5, from_weights([1, 3], [1, 1]), 2, 2), "law"),
        (lambda: smallest_slots(0.25, uniform(4), 1), "workers"),
        (lambda: smallest_slots(0.25, uniform(4), 8, limit=64), "limit"),
    ],
)
def test_what_is_refused(call: Callable[[], object], name: str) -> None:
    """Bad input names its argument."""
    with pytest.raises(ParameterError, match=f"`{name}`"):
        call()
    with pytest.raises(UnknownNameError, match="rule"):
        rich_bound(0.5, 4, 2, rule="levels")
