"""Exact laws of blocks of slots: the published table, a chain stepped coin by coin as an oracle, limits and refusals."""

from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lbtheory.core import ParameterError
from lbtheory.theory import from_weights, uniform
from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.theory.blocks import (
    BlockLaw,
    best_pairs,
    best_triples,
    block_imbalance,
    block_law,
    constant_block,
    constant_ratio,
    pair_block,
    triple_block,
)


def refill(survivors: list[int], b: int, low: int, high: int, target: int) -> tuple[int, ...]:
    """Fill up a block: equal shares of what is missing, rounded down, and the last size what is then missing."""
    full = list(survivors)
    while len(full) < b:
        full.append(min(max((target - sum(full)) // (b - len(full)), low), high))
    return tuple(sorted(full))


def stepped(p: float, b: int, low: int, high: int, target: int, steps: int) -> tuple[dict[int, float], dict[int, float]]:
    """Laws of the block's load and of admitted sizes after many iterations, every slot tossing its coin in each."""
    states, admitted = {refill([], b, low, high, target): 1.0}, dict[int, float]()
    for _ in range(steps):
        after: defaultdict[tuple[int, ...], float] = defaultdict(float)
        admitted = defaultdict(float)
        for state, mass in states.items():
            for coins in product((0, 1), repeat=b):
                kept = [w + 1 for w, done in zip(state, coins, strict=True) if not done]
                weight = mass * p ** sum(coins) * (1 - p) ** (b - sum(coins))
                if weight > 1e-14:
                    new = refill(kept, b, low, high, target)
                    after[new] += weight
                    for size, count in (Counter(new) - Counter(kept)).items():
                        admitted[size] += weight * count
        states = after
    loads: defaultdict[int, float] = defaultdict(float)
    for state, mass in states.items():
        loads[sum(state)] += mass
    total = sum(admitted.values())
    return loads, {size: mass / total for size, mass in admitted.items()}


@pytest.mark.parametrize(
    ("make", "b", "low", "high", "target"),
    [
        (pair_block, 2, 1, 3, 5),
        (pair_block, 2, 2, 6, 9),
        (pair_block, 2, 1, 4, 1),
        (pair_block, 2, 1, 2, 30),
        (triple_block, 3, 1, 3, 8),
        (triple_block, 3, 2, 5, 12),
    ],
)
def test_blocks_against_steps(make: Callable[..., BlockLaw], b: int, low: int, high: int, target: int) -> None:
    """The embedded chain with geometric sojourns has the law that tossing every coin gives (branches below 1e-14 left out)."""
    p = 0.85
    block = make(p, low, high, target) if b == 2 else make(p, low, high, target, 1e-14)
    loads, admitted = stepped(p, b, low, high, target, 24)
    for x, mass in loads.items():
        assert (block.pmf[x - block.offset] if x - block.offset < len(block.pmf) else 0) == pytest.approx(mass, abs=1e-10)
    for size, mass in admitted.items():
        assert block.admitted[size] == pytest.approx(mass, abs=1e-10)
    assert block.pmf.sum() == pytest.approx(1, abs=1e-13) and block.admitted.sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize(
    ("p", "s", "workers", "slots", "fcfs", "constant", "pairs", "target"),
    [
        (20, 50, 8, 64, 2256, 1846, 1521, 81),
        (100, 100, 64, 64, 133551, 129306, 115673, 258),
        (1000, 4000, 8, 64, 140721, 94641, 75585, 5691),
        (1000, 4000, 32, 256, 1634523, 1096484, 875821, 5691),
        (100, 400, 128, 64, 415966, 289421, 232992, 608),
    ],
)
def test_right_values(p: int, s: int, workers: int, slots: int, fcfs: int, constant: int, pairs: int, target: int) -> None:
    """FCFS, constant sizes and pairs at five real systems, to the token."""
    exact = Fraction(1, p)
    assert round(benchmark_law(exact, uniform(s), slots).imbalance(workers)[0]) == fcfs
    value, error = block_imbalance(constant_block(exact, s), slots, workers)
    assert round(value) == constant and error < 1e-10 * value
    value, error = block_imbalance(pair_block(exact, 1, s, target), slots, workers)
    assert round(value) == pairs and error < 1e-6 * value


@given(
    p=st.floats(0.05, 0.95),
    low=st.integers(1, 5),
    width=st.integers(0, 20),
    target=st.integers(1, 90),
    triple=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_mean_load_is_that_of_the_admitted_law(p: float, low: int, width: int, target: int, triple: bool) -> None:
    """Lives do not depend on sizes: a slot's prompt has the admitted law in time average, and its age has mean ``q/p``."""
    make = triple_block if triple else pair_block
    block = make(p, low, low + width, target)
    assert block.mean == pytest.approx(block.slots * (block.mean_admitted + (1 - p) / p), abs=2 * block.error + 1e-9)
    assert not block.admitted[:low].any() and block.overload(uniform(low + width)) >= 1 - 1e-12


@given(p=st.floats(0.05, 0.9), t=st.integers(1, 9), target=st.integers(1, 40))
@settings(max_examples=12, deadline=None)
def test_one_size_leaves_nothing_to_control(p: float, t: int, target: int) -> None:
    """With ``low = high`` pairs and triples are constant blocks: one law of the worker, whatever the target."""
    law = block_law(constant_block(p, t), 6)
    for block in (pair_block(p, t, t, target), triple_block(p, t, t, target)):
        other = block_law(block, 6)
        x = np.arange(6 * t, 6 * t + 40)
        assert np.allclose(law.cdf(x), other.cdf(x), atol=1e-10)
        assert other.mean == pytest.approx(float(law.mean), rel=1e-9)
        assert other.variance == pytest.approx(float(law.variance), rel=1e-7)


def test_constant_blocks_and_the_limit_of_their_ratio() -> None:
    """``Ī`` does not depend on the size; FCFS over it tends to ``sqrt(1 + p² Var S/q)``."""
    p, law = Fraction(1, 100), uniform(400)
    assert constant_ratio(p, law) == pytest.approx(sqrt(1 + 1e-4 * (160000 - 1) / 12 / 0.99), rel=1e-15)
    one, other = constant_block(p, 1), constant_block(p, 321)
    assert block_imbalance(one, 64, 8)[0] == pytest.approx(block_imbalance(other, 64, 8)[0], rel=1e-12)
    gaps = [
        benchmark_law(p, law, b).imbalance(8)[0] / block_imbalance(one, b, 8)[0] / constant_ratio(p, law) - 1
        for b in (256, 4096, 65536)
    ]
    assert abs(gaps[0]) > abs(gaps[1]) > abs(gaps[2]) and abs(gaps[2]) < 1e-3
    assert one.mean == pytest.approx(100, rel=1e-12) and one.variance == pytest.approx(9900, rel=1e-10)


def test_left_over_slots_run_a_constant_size() -> None:
    """``B = 5``: two pairs and one slot of the constant size; ``B = 2`` in triples: no block at all."""
    p = Fraction(1, 3)
    block = pair_block(p, 1, 4, 7)
    law = block_law(block, 5)
    age = float(p) * (2 / 3) ** np.arange(120)
    direct = np.convolve(np.convolve(block.pmf, block.pmf), age)
    start = law.offset - 2 * block.offset - block.leftover
    assert block.leftover == 3 and np.allclose(direct[start : start + 80], law.pmf[:80], rtol=1e-9)
    assert float(law.mean) == pytest.approx(2 * block.mean + 3 + 2, rel=1e-14)
    few, alone = block_law(triple_block(p, 1, 4, 7), 2), block_law(constant_block(p, 2), 2)
    assert np.allclose(few.pmf, alone.pmf, rtol=1e-12)


def test_larger_blocks_are_better() -> None:
    """``p = 1/20``, sizes 1 … 50, ``G = 8``, ``B = 64``: FCFS 2256, constant 1846, best pairs 1521.2, triples 1359.3."""
    pairs = best_pairs(Fraction(1, 20), 50, 8, 64)
    assert pairs.block.target == 82 and pairs.imbalance == pytest.approx(1521.236446, abs=1e-3)
    assert pairs.imbalance == pairs.imbalances.min() and pairs.error < 1e-6 * pairs.imbalance
    assert (np.diff(pairs.targets) > 0).all()
    assert block_imbalance(triple_block(Fraction(1, 20), 1, 50, 134), 64, 8)[0] == pytest.approx(1359.3124, abs=1e-3)


@pytest.mark.slow
def test_best_triples() -> None:
    """The search finds the targets 134 or 135, nearly tied; in a system of real size triples gain 6 % over pairs."""
    found = best_triples(Fraction(1, 20), 50, 8, 64)
    assert found.block.target in (134, 135) and found.imbalance == found.imbalances.min()
    value, error = block_imbalance(triple_block(Fraction(1, 100), 1, 100, 390), 64, 64)
    assert value == pytest.approx(108874.25, abs=0.3) and error < 1e-5 * value


@pytest.mark.slow
def test_best_pairs_beat_the_targets_of_the_table() -> None:
    """The coarse grid's targets (258, 608, 5691) are within 0.1 % of the best."""
    for p, s, workers, slots, coarse in ((100, 100, 64, 64, 115673), (100, 400, 128, 64, 232992), (1000, 4000, 8, 64, 75585)):
        found = best_pairs(Fraction(1, p), s, workers, slots)
        assert 0.999 * coarse < found.imbalance <= coarse + 0.5
        every = [block_imbalance(pair_block(Fraction(1, p), 1, s, found.block.target + d), slots, workers)[0] for d in (-7, 7)]
        assert min(every) > found.imbalance


def test_truncation_of_triples_is_within_its_bound() -> None:
    """A coarser cap moves the law by less than the stated error, and the stated error grows with the tolerance."""
    fine, coarse = (triple_block(Fraction(1, 5), 1, 6, 20, tolerance) for tolerance in (1e-12, 1e-3))
    size = max(fine.offset + len(fine.pmf), coarse.offset + len(coarse.pmf))
    laws = [np.zeros(size), np.zeros(size)]
    for law, block in zip(laws, (fine, coarse), strict=True):
        law[block.offset : block.offset + len(block.pmf)] = block.pmf
    distance = np.abs(np.cumsum(laws[0] - laws[1])).sum()
    assert 1e-4 < distance <= coarse.error + fine.error and fine.error < 1e-6 < coarse.error


def test_overload() -> None:
    """A size that the law lacks makes it infinite; a law that is the admitted one makes it 1."""
    block = pair_block(0.5, 1, 2, 4)
    assert block.overload(from_weights([1], [1])) == np.inf
    assert constant_block(0.5, 3).overload(uniform(4)) == 4
    counts = np.round(block.admitted[1:] * 10**12).astype(np.int64)
    assert block.overload(from_weights([1, 2], counts)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: pair_block(0.0, 1, 2, 3), "p"),
        (lambda: pair_block(float("nan"), 1, 2, 3), "p"),
        (lambda: pair_block(0.5, 0, 2, 3), "low"),
        (lambda: pair_block(0.5, 3, 2, 3), "high"),
        (lambda: pair_block(0.5, 1, 2, 0), "target"),
        (lambda: triple_block(0.5, 1, 2, 3, tolerance=0.5), "tolerance"),
        (lambda: triple_block(0.001, 1, 4000, 8000), "p"),
        (lambda: constant_block(0.5, 0), "t"),
        (lambda: block_law(constant_block(0.5, 1), 0), "slots"),
        (lambda: block_imbalance(constant_block(0.5, 1), 2, 0), "workers"),
        (lambda: best_pairs(0.5, 0, 2, 2), "s"),
        (lambda: best_triples(1.0, 2, 2, 2), "p"),
        (lambda: constant_block(0.5, 1).overload({1: 1.0}), "law"),  # type: ignore[arg-type]
    ],
)
def test_what_is_refused(call: Callable[[], object], name: str) -> None:
    """Bad input names its argument."""
    with pytest.raises(ParameterError, match=f"`{name}`"):
        call()
