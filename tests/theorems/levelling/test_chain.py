"""The bounds against the clamp chain itself: simulated with actual prompts, and its exact law for one and two slots."""

from fractions import Fraction

import numpy as np
import pytest

from lbtheory.theory.levelling import LevelBound, LevelSystem, chernoff_bound, second_moment
from tests.theorems.levelling.oracles import clamp_chain, exact_pair_law, largest_less_mean

SMALL = [(Fraction(1, 4), 4, 8), (Fraction(1, 2), 2, 3), (Fraction(1, 10), 12, 6), (Fraction(1, 20), 50, 12)]


def bound_of(p: Fraction, s: int, slots: int, workers: int = 4, target: int | None = None) -> LevelBound:
    """The bound at sizes ``1 … s``."""
    return chernoff_bound(LevelSystem(p=p, low=1, high=s, workers=workers, slots=slots), target=target)


def assert_dominates(bound: LevelBound, values: np.ndarray, law: np.ndarray, slack: float = 0.0) -> None:
    """Every bound is at least what the law of ``e`` gives, up to ``slack`` relative for a simulated law."""
    for side, e in ((bound.above, values), (bound.below, -values)):
        for k in range(0, len(side.points), 7):
            x = side.points[k]
            tail, excess = float(law @ (e > x)), float(law @ np.maximum(e - x, 0))
            assert tail * (1 - slack) <= side.tail[k] + 1e-12 and excess * (1 - slack) <= side.excess[k] + 1e-12
        assert float(law @ np.maximum(e, 0)) * (1 - slack) <= side.mean
        assert float(law @ np.maximum(e, 0)) * (1 - slack) <= side.moment.value
    truth = bound.system.workers * largest_less_mean(values, law, bound.system.workers)
    assert 0 < truth * (1 - slack) <= bound.value <= bound.system.workers * (bound.upper + bound.lower) + 1e-9


@pytest.mark.statistical
@pytest.mark.parametrize(("p", "s", "slots"), SMALL)
@pytest.mark.parametrize("even", [False, True])
def test_simulated_chain_stays_below(p: Fraction, s: int, slots: int, even: bool) -> None:
    """200 workers, warm-up 6/p, 1200 iterations, prompts as unequal or as equal as can be; 5 % for the noise of the means.

    The bound is 2.5 to 9 times what is simulated, so a factor lost in the theorem shows.
    """
    rng = np.random.default_rng(5)
    run = clamp_chain(rng, float(p), s, slots, bound_of(p, s, slots).target, 200, 1200, even)[int(6 / p) :].ravel()
    values, counts = np.unique(run, return_counts=True)
    grid = np.arange(values[0], values[-1] + 1)
    law = np.zeros(len(grid))
    law[values - values[0]] = counts / counts.sum()
    assert_dominates(bound_of(p, s, slots), grid, law, slack=0.05)


@pytest.mark.parametrize("target", [None, 3, 5, 8, 12])
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 3)])
def test_exact_law_of_two_slots_stays_below(p: Fraction, target: int | None) -> None:
    """``B = 2, s = 3``, any integer target: every bound holds for the exact stationary law."""
    bound = bound_of(p, 3, 2, target=target)
    assert_dominates(bound, *exact_pair_law(float(p), 3, bound.target, 90))


@pytest.mark.parametrize("target", [1, 2, 4, 7])
def test_exact_law_of_one_slot_stays_below(target: int) -> None:
    """``B = 1``: the load is ``clamp(T, [1, s]) + X``, ``X`` geometric."""
    p, s = Fraction(1, 3), 4
    ages = np.arange(120)
    law = float(p) * float(1 - p) ** ages
    assert_dominates(bound_of(p, s, 1, target=target), ages + min(max(target, 1), s) - target, law)


def test_pair_law_is_what_the_chain_does() -> None:
    """The exact law of two slots agrees with the simulated chain (means within five standard errors of batch means)."""
    run = clamp_chain(np.random.default_rng(8), 0.5, 3, 2, 6, 400, 2000)[20:]
    values, law = exact_pair_law(0.5, 3, 6, 60)
    assert law.sum() == pytest.approx(1, abs=1e-12)
    for x in (-3, -1, 0, 2, 4):
        seen, error = (run > x).mean(), (run > x).mean(axis=0).std() / 20
        assert abs(seen - float(law @ (values > x))) <= 5 * error + 1e-12


def test_an_integer_target_is_needed() -> None:
    """``T = 3.5``, one free slot, survivor 2, s = 3: prompt 2 gives ``e = +.5`` and is not the smallest."""
    loads = [2 + size for size in (1, 2, 3)]
    nearest = min(loads, key=lambda load: (abs(load - 3.5), -load))
    assert nearest - 3.5 > 0 and nearest != min(loads)
    for target in (3, 4, 5):
        nearest = min(loads, key=lambda load: abs(load - target))
        assert (nearest <= target or nearest == min(loads)) and (nearest >= target or nearest == max(loads))


def test_second_moment_at_its_multipliers() -> None:
    """A bound of ``E e⁺`` lets ``λ`` be positive below; drifts as in the theorem; a wrong sign gives infinity."""
    system = LevelSystem(p=Fraction(1, 100), low=1, high=100, workers=8, slots=64)
    assert second_moment(system).drift == system.p * 9568 - 64 == Fraction(3168, 100)
    assert second_moment(system, upper=False).drift == Fraction(3168, 100)
    free, helped = second_moment(system, upper=False), second_moment(system, upper=False, above=400.0)
    assert free.weight <= 0 and helped.value <= free.value
    assert second_moment(system, target=6000).value == float("inf")
    assert second_moment(system, target=13000, upper=False).value == float("inf")
