"""Simulated rich supply: the rules do what they say, and their means are the stated ones."""

from fractions import Fraction

import numpy as np
import pytest

from lbtheory.core import ParameterError
from lbtheory.theory import from_weights, uniform
from lbtheory.theory.levelling import LevelSystem, supply_bound
from lbtheory.verify.level_chain import rich_loads, supply_loads


def imbalance(loads: np.ndarray) -> float:
    """Mean ``I``."""
    return float((loads.shape[1] * loads.max(axis=1) - loads.sum(axis=1)).mean())


def test_without_control_it_is_size_blind() -> None:
    """With sizes 1 and 2, long outputs and few slots control hardly matters: the load varies like ages alone."""
    of = LevelSystem(p=Fraction(1, 50), low=1, high=2, workers=4000, slots=1)
    loads = rich_loads(of, 1, 600, np.random.default_rng(0))[0]
    assert loads.mean() == pytest.approx(1 + 49 + 0.5, abs=2.5)
    assert loads.std() == pytest.approx(np.sqrt(0.98) * 50, rel=0.05)


def test_with_full_control_every_load_is_the_target() -> None:
    """Many completions a step and a wide range: LEVEL is at its target nearly always, IO_0 has equal loads."""
    of = LevelSystem(p=Fraction(1, 2), low=1, high=40, workers=5, slots=200)
    level = rich_loads(of, 200, 50, np.random.default_rng(1))
    assert (level == of.target()).all()
    io = rich_loads(of, 200, 50, np.random.default_rng(1), rule="io")
    assert imbalance(io) == 0


def test_stated_means() -> None:
    """LEVEL in rich supply at two of the stated systems, within 5 %: 308 and 3,307."""
    for a, s, stated in ((20, 50, 308), (100, 100, 3307)):
        of = LevelSystem(p=Fraction(1, a), low=1, high=s, workers=8, slots=64)
        assert imbalance(rich_loads(of, 40_000, 20 * a, np.random.default_rng(2))) == pytest.approx(stated, rel=0.05)


def test_a_shifted_interval_is_the_same_system() -> None:
    """Sizes 11 … 60 and 1 … 50: the same deviations on the same coins."""
    first, second = (LevelSystem(p=Fraction(1, 20), low=low, high=low + 49, workers=3, slots=16) for low in (1, 11))
    loads = [rich_loads(of, 50, 10, np.random.default_rng(3)) for of in (first, second)]
    assert (loads[0] - first.target() == loads[1] - second.shifted(second.target())).all()


def test_supply_as_it_comes() -> None:
    """The rule keeps the mean load at its target, below the bound, for a lumpy law too."""
    for law in (uniform(50), from_weights([1, 7, 30, 90], [4, 3, 1, 4])):
        bound = supply_bound(Fraction(1, 20), law, Fraction(1, 4), 4, 64)
        loads = supply_loads(bound, law, 4, 64, 2000, 400, np.random.default_rng(4))
        target = 64 * float(bound.centre + 19)
        assert loads.mean() == pytest.approx(target, rel=0.02)
        assert imbalance(loads) <= bound.value


def test_bad_input() -> None:
    """Named."""
    of = LevelSystem(p=Fraction(1, 2), low=1, high=4, workers=2, slots=2)
    with pytest.raises(ParameterError, match="`iterations`"):
        rich_loads(of, 0, 0, np.random.default_rng(0))
    with pytest.raises(ParameterError, match="`rule`"):
        rich_loads(of, 1, 0, np.random.default_rng(0), rule="jsq")
