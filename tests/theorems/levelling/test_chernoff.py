"""Theorem A's bound: right values, invariance, input; the smallest ``B`` at which it certifies a factor."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from lbtheory.core import ParameterError
from lbtheory.theory.levelling import LevelSystem, chernoff_bound, second_moment, smallest_slots
from lbtheory.theory.levelling._envelope import convex_minorant, largest_mean
from tests.theorems.levelling.oracles import fcfs_mean

# p, s, G, B, FCFS's exact law, the bound G(E max e⁺ + E e⁻) as first published (level_bound.md)
ROWS = [
    (Fraction(1, 20), 50, 8, 64, 2256, 1234),
    (Fraction(1, 20), 50, 8, 256, 4466, 473),
    (Fraction(1, 100), 100, 8, 256, 19215, 13496),
    (Fraction(1, 100), 100, 8, 1024, 38096, 10377),
    (Fraction(1, 1000), 4000, 32, 64, 825451, 408800),
    (Fraction(1, 1000), 4000, 32, 1024, 3252800, 424745),
    (Fraction(1, 100), 400, 128, 64, 415966, 195285),
    (Fraction(1, 100), 100, 64, 256, 257861, 148079),
]
# p, s, G and the smallest B for FCFS/bound ≥ 1, 2, 10: first published
SMALLEST = [
    (Fraction(1, 4), 4, 8, (48, 104, 256)),
    (Fraction(1, 20), 50, 8, (32, 71, 264)),
    (Fraction(1, 100), 100, 8, (124, 472, 2592)),
    (Fraction(1, 1000), 4000, 32, (13, 63, 1472)),
    (Fraction(1, 100), 400, 128, (11, 56, 616)),
    (Fraction(1, 100), 100, 64, (66, 340, 3168)),
]


def system_of(p: Fraction, s: int, workers: int, slots: int) -> LevelSystem:
    """Sizes ``1 … s``."""
    return LevelSystem(p=p, low=1, high=s, workers=workers, slots=slots)


@pytest.mark.parametrize(
    ("p", "s", "workers", "slots", "fcfs", "published"),
    [row if k < 5 else pytest.param(*row, marks=pytest.mark.slow) for k, row in enumerate(ROWS)],
)
def test_published_values(p: Fraction, s: int, workers: int, slots: int, fcfs: int, published: int) -> None:
    """The coarse bound is the published one within 2 % or better; the bound with ``−e⁺`` kept is better still."""
    bound = chernoff_bound(system_of(p, s, workers, slots))
    coarse = workers * (bound.upper + bound.lower)
    assert 0.95 * published <= coarse <= 1.02 * published
    assert bound.value < coarse
    assert bound.value == pytest.approx(workers * (bound.spread + bound.lower))
    if workers < 128:
        assert fcfs_mean(float(p), s, slots, workers) == pytest.approx(fcfs, rel=1e-3)


def test_a_bound_below_fcfs_at_sixty_four_slots() -> None:
    """``p = 1/100, U{1..100}, G = 8, B = 64``: 9,333 against FCFS's 9,769; as first published the bound passed from 124 on."""
    value = chernoff_bound(system_of(Fraction(1, 100), 100, 8, 64)).value
    assert value == pytest.approx(9333, abs=2) and value < fcfs_mean(0.01, 100, 64, 8)


def test_the_shift_is_the_same_system() -> None:
    """``low … high`` is sizes ``1 … high − low + 1``; the target moves by ``B(low − 1)``."""
    plain = chernoff_bound(system_of(Fraction(1, 20), 50, 8, 20))
    moved = chernoff_bound(LevelSystem(p=Fraction(1, 20), low=301, high=350, workers=8, slots=20))
    assert moved.value == plain.value and moved.target == plain.target + 20 * 300
    assert moved.system.s == 50 and moved.system.mu3 == plain.system.mu3


def test_targets_off_the_centre_are_bounded_too() -> None:
    """Any integer target: the bound of ``E e⁺`` falls and that of ``E e⁻`` rises with it."""
    system = system_of(Fraction(1, 20), 50, 8, 64)
    bounds = [chernoff_bound(system, target=system.target() + off) for off in (-100, 0, 100)]
    assert bounds[0].above.mean > bounds[1].above.mean > bounds[2].above.mean
    assert bounds[0].below.mean < bounds[1].below.mean < bounds[2].below.mean


@pytest.mark.parametrize("target", [2840.5, True, float("nan"), "2840"])
def test_only_integer_targets(target: Any) -> None:
    """The proof fails between integers."""
    system = system_of(Fraction(1, 20), 50, 8, 64)
    for function in (chernoff_bound, second_moment):
        with pytest.raises(ParameterError, match="integer"):
            function(system, target=target)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"p": 0.0}, "p"),
        ({"p": float("nan")}, "p"),
        ({"p": 1}, "p"),
        ({"high": 1}, "high"),
        ({"low": 0}, "low"),
        ({"workers": 1}, "workers"),
        ({"slots": 0}, "slots"),
        ({"slots": 2.5}, "slots"),
    ],
)
def test_bad_systems(change: dict[str, Any], word: str) -> None:
    """The message names the argument."""
    good: dict[str, Any] = {"p": Fraction(1, 4), "low": 1, "high": 4, "workers": 8, "slots": 8}
    with pytest.raises(ParameterError, match=f"`{word}`"):
        LevelSystem(**(good | change))


def test_second_moment_refuses_a_bad_mean() -> None:
    """``above`` must be a number."""
    with pytest.raises(ParameterError, match="above"):
        second_moment(system_of(Fraction(1, 4), 4, 8, 8), upper=False, above=float("nan"))


def test_minorant_and_order() -> None:
    """The minorant is convex with slope ≥ −1 and below the points; means match a law whose ``E(e − x)⁺`` is given exactly."""
    x = np.array([0.0, 1.0, 2.0, 4.0, 7.0])
    h = np.array([9.0, 5.0, 4.9, 1.0, 0.5])
    assert convex_minorant(x, h) == [3, 4]
    points = np.arange(0.0, 40.0)
    values = 0.7 ** (points + 1) / 0.3  # P(e > x) = .7^(x+1) on integers
    largest, spread = largest_mean(points, values, 3)
    tails = 0.7 ** np.arange(1, 400)
    assert largest == pytest.approx(np.sum(1 - (1 - tails) ** 3), rel=1e-5)
    peak = 1 - 3**-0.5
    capped = np.minimum(tails, peak)
    assert spread == pytest.approx(np.sum(1 - (1 - capped) ** 3 - capped), rel=1e-4)


def check_smallest(p: Fraction, s: int, workers: int, ratio: int, published: int, fcfs: Callable[[int], float]) -> None:
    """At most the published ``B`` and 2 %, and the ratio passes there."""
    found = smallest_slots(p, 1, s, workers, ratio, fcfs)
    assert found.before < ratio <= found.ratio
    assert found.slots <= 1.02 * published


@pytest.mark.parametrize(("p", "s", "workers", "published"), SMALLEST[:1])
def test_smallest_slots(p: Fraction, s: int, workers: int, published: tuple[int, int, int]) -> None:
    """The smallest ``B`` at which the bound is below FCFS, half of it, a tenth of it."""
    for ratio, slots in zip((1, 2, 10), published, strict=True):
        check_smallest(p, s, workers, ratio, slots, lambda b: fcfs_mean(float(p), s, b, workers))


@pytest.mark.slow
@pytest.mark.parametrize(("p", "s", "workers", "published"), SMALLEST[1:])
def test_smallest_slots_of_the_larger_systems(p: Fraction, s: int, workers: int, published: tuple[int, int, int]) -> None:
    """The same where one bound takes longer."""
    for ratio, slots in zip((1, 2, 10), published, strict=True):
        check_smallest(p, s, workers, ratio, slots, lambda b: fcfs_mean(float(p), s, b, workers))


def test_smallest_slots_of_a_known_ratio() -> None:
    """With ``fcfs/bound = √B`` the answer is exact; a ratio out of reach, or not a number, raises."""

    def root(slots: int) -> float:
        return float(np.sqrt(slots))

    def one(_: LevelSystem) -> float:
        return 1.0

    found = smallest_slots(Fraction(1, 4), 1, 4, 8, 7.0, root, bound=one)
    assert (found.slots, found.ratio, found.before) == (49, 7.0, pytest.approx(48**0.5))
    assert smallest_slots(Fraction(1, 4), 1, 4, 8, 0.5, root, bound=one).slots == 1
    with pytest.raises(ParameterError, match="reached"):
        smallest_slots(Fraction(1, 4), 1, 4, 8, 7.0, root, bound=one, limit=40)
    with pytest.raises(ParameterError, match="ratio"):
        smallest_slots(Fraction(1, 4), 1, 4, 8, float("nan"), root, bound=one)
