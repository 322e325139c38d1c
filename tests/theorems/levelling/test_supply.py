"""Theorem S: the supply as it comes."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from lbtheory.core import ParameterError
from lbtheory.theory.law import from_weights, uniform
from lbtheory.theory.levelling import smallest_slots, supply_bound
from lbtheory.theory.levelling.supply import quantiles
from tests.theorems.levelling.oracles import fcfs_mean, group_chain

# p, s, G, α and the smallest B for FCFS/bound ≥ 1, 2 (level_bound.md)
SMALLEST = [
    (Fraction(1, 20), 50, 8, Fraction(1, 10), (61, 148)),
    (Fraction(1, 20), 50, 8, Fraction(1, 4), (146, 356)),
    (Fraction(1, 20), 50, 8, Fraction(2, 5), (698, 1625)),
    (Fraction(1, 100), 100, 8, Fraction(1, 10), (241, 833)),
    (Fraction(1, 100), 100, 8, Fraction(1, 4), (585, 2008)),
    (Fraction(1, 1000), 4000, 32, Fraction(1, 10), (40, 197)),
    (Fraction(1, 1000), 4000, 32, Fraction(1, 4), (107, 545)),
    (Fraction(1, 1000), 4000, 32, Fraction(2, 5), (776, 3653)),
]


def value(p: Fraction, s: int, alpha: Fraction, workers: int, slots: int) -> float:
    """The bound for ``U{1..s}``."""
    return supply_bound(p, uniform(s), alpha, workers, slots).value


@pytest.mark.parametrize(("p", "s", "workers", "alpha", "published"), SMALLEST[:1])
def test_published_slots(p: Fraction, s: int, workers: int, alpha: Fraction, published: tuple[int, int]) -> None:
    """At the published ``B`` and 2 % the bound passes the ratio; well below it the ratio is not reached."""
    for ratio, slots in zip((1, 2), published, strict=True):
        after = round(1.02 * slots)
        assert fcfs_mean(float(p), s, after, workers) / value(p, s, alpha, workers, after) >= ratio
    before = published[0] // 2
    assert fcfs_mean(float(p), s, before, workers) / value(p, s, alpha, workers, before) < 1


@pytest.mark.slow
@pytest.mark.parametrize(("p", "s", "workers", "alpha", "published"), SMALLEST)
def test_published_slots_of_every_row(p: Fraction, s: int, workers: int, alpha: Fraction, published: tuple[int, int]) -> None:
    """The same for the whole table."""
    test_published_slots(p, s, workers, alpha, published)


@pytest.mark.slow
def test_smallest_slots_takes_this_bound_too() -> None:
    """The search with Theorem S in place of Theorem A."""
    p, s, workers, alpha, published = SMALLEST[0]
    found = smallest_slots(
        p,
        1,
        s,
        workers,
        1,
        lambda slots: fcfs_mean(float(p), s, slots, workers),
        bound=lambda system: value(system.p, system.s, alpha, system.workers, system.slots),
    )
    assert 0.9 * published[0] <= found.slots <= 1.02 * published[0]


@pytest.mark.statistical
@pytest.mark.parametrize(("p", "s", "slots", "alpha"), [(0.25, 8, 6, Fraction(1, 4)), (0.1, 12, 5, Fraction(1, 3))])
def test_simulated_rule_stays_below(p: float, s: int, slots: int, alpha: Fraction) -> None:
    """300 workers, warm-up 6/p, 600 iterations of the rule itself; 5 % for the noise of the means."""
    bound = supply_bound(p, uniform(s), alpha, 4, slots)
    z, level = (s - 1) / 2, slots * (float(bound.centre) + (1 - p) / p)
    run = group_chain(np.random.default_rng(3), p, s, bound.bottom, bound.top, slots, level, 300, 600)[int(6 / p) :]
    for side, e in ((bound.above, run - z), (bound.below, -run - z)):
        for k in range(0, len(side.points), 9):
            x = side.points[k]
            assert 0.95 * (e > x).mean() <= side.tail[k] and 0.95 * np.maximum(e - x, 0).mean() <= side.excess[k]
        assert 0.95 * np.maximum(e, 0).mean() <= side.mean
    teams = run[:, :300].reshape(len(run), -1, 4)
    assert 0.95 * (4 * teams.max(axis=2) - teams.sum(axis=2)).mean() <= bound.value


def test_groups_supply_and_overload() -> None:
    """Quantiles, ``n p/α``, ``1/α``, and the sketched overload with FCFS inside the groups, ``1/(2α)`` if ``E e`` is 0."""
    bound = supply_bound(Fraction(1, 20), uniform(50), Fraction(1, 10), 8, 64)
    assert (bound.bottom, bound.top, bound.centre) == (5, 46, Fraction(51, 2))
    assert bound.releases == 256 and bound.overload == 10
    assert 5 < bound.fcfs_overload < 6
    law = from_weights([2, 3, 7, 20], [1, 5, 3, 1])
    assert quantiles(law, Fraction(1, 10)) == (2, 20) and quantiles(law, Fraction(11, 100)) == (3, 7)
    assert quantiles(law, Fraction(4, 10)) == (3, 7)


def test_prompts_from_the_smallest_on() -> None:
    """``U{301..350}`` is ``U{1..50}`` moved: slots are always full."""
    moved = supply_bound(Fraction(1, 20), uniform(350, 301), Fraction(1, 10), 8, 64)
    assert moved.value == value(Fraction(1, 20), 50, Fraction(1, 10), 8, 64) and moved.bottom == 305


@pytest.mark.parametrize("alpha", [0, 0.6, float("nan"), -1, "x"])
def test_bad_shares(alpha: Any) -> None:
    """``α`` in ``(0, 1/2]``."""
    with pytest.raises(ParameterError, match="alpha"):
        supply_bound(Fraction(1, 4), uniform(8), alpha, 4, 8)


def test_groups_must_differ() -> None:
    """One size has most of the mass: both ends are it, and a swap changes nothing."""
    with pytest.raises(ParameterError, match="smaller share"):
        supply_bound(Fraction(1, 4), from_weights([1, 5, 9], [1, 8, 1]), Fraction(1, 4), 4, 8)
