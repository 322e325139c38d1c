"""The tilted slot law, ``λ₀``, Berry–Esseen constants, the computed excess, and the frontier."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lbtheory.core import ParameterError
from lbtheory.theory import from_weights, uniform
from lbtheory.theory.excess import computed_excess
from lbtheory.theory.frontier import (
    fcfs_bracket,
    frontier,
    normal_maximum,
    slots_below_fcfs,
    slots_for_epsilon,
    theorem1_upper,
)
from lbtheory.theory.law import PromptLaw
from lbtheory.theory.theorem1 import constants, sharper, system
from lbtheory.theory.tilting import lambda_limit, largest_berry_esseen, lower_bound_constants, tilted_slot

laws = st.builds(
    lambda sizes: from_weights(*zip(*sizes.items(), strict=True)),
    st.dictionaries(st.integers(1, 40), st.integers(1, 9), min_size=2, max_size=6),
)


def moments(p: float, law: PromptLaw, tilt: float) -> tuple[float, float, float]:
    """Mean, variance and third absolute central moment of the tilted slot law, by summing its probabilities."""
    q = (1 - p) * math.exp(tilt)
    ages = np.arange(int(45 / -math.log(q)) + 10)
    sizes = law.pmf * np.exp(tilt * (np.arange(law.s + 1) - law.s))
    pmf = np.convolve(sizes / sizes.sum(), (1 - q) * q**ages)
    x = np.arange(len(pmf))
    mean = pmf @ x
    return mean, pmf @ (x - mean) ** 2, pmf @ np.abs(x - mean) ** 3


@settings(max_examples=40)
@given(laws, st.integers(3, 90), st.floats(0, 1))
def test_tilted_moments(law: PromptLaw, percent: int, share: float) -> None:
    """Closed forms against sums; the steps of the row ``tilt``."""
    p = Fraction(percent, 100)
    limit = lambda_limit(p, law.s)
    slot = tilted_slot(p, law, share * limit)
    mean, variance, third = moments(float(p), law, share * limit)
    base = moments(float(p), law, 0.0)
    assert slot.variance == pytest.approx(variance, rel=1e-8) and slot.third == pytest.approx(third, rel=1e-8)
    assert slot.shift == pytest.approx(mean - base[0], abs=1e-7 * mean)
    sigma2 = float(law.variance + (1 - p) / p**2)
    assert sigma2 / 2 <= slot.variance * (1 + 1e-9) and slot.variance <= 8 * sigma2 * (1 + 1e-9)
    assert sigma2 * slot.tilt / 2 <= slot.shift + 1e-9 * mean and slot.shift <= 8 * sigma2 * slot.tilt + 1e-9 * mean
    q, tilted = float(1 - p), float(1 - p) * math.exp(slot.tilt)
    assert q <= tilted * (1 + 1e-12) and tilted <= 2 * q and 1 - tilted >= float(p) / 2 - 1e-12
    assert slot.age_third <= 6 * tilted / (1 - tilted) ** 3 * (1 + 1e-12)


def test_tilt_outside_its_range() -> None:
    """Negative, or so large that the ages have no law."""
    for tilt in (-0.1, math.log(2), float("nan")):
        with pytest.raises(ParameterError, match="`tilt`"):
            tilted_slot(Fraction(1, 2), uniform(4), tilt)


def test_lower_bound_constants() -> None:
    """``B₀``: explicit in the tens to hundreds of millions, computed a few hundred."""
    for p, s, explicit, computed in (("1/4", 4, 271.3e6, 338), ("1/10", 10, 234.5e6, 332), ("1/100", 100, 218.1e6, 331)):
        found = lower_bound_constants(system(Fraction(p), uniform(s), 8, 64))
        assert pytest.approx(explicit, rel=1e-3) == found.B0
        assert found.B0_computed == pytest.approx(computed, rel=0.03)
    assert found.lambda0 == min(math.log(2) / 2, math.log1p(0.01 / 1.98), math.log(2) / 198)


@settings(max_examples=15, deadline=None)
@given(laws, st.integers(5, 90))
def test_the_supremum_bounds_every_tilt(law: PromptLaw, percent: int) -> None:
    """No tilt in the range exceeds it, and it is not far above the largest found."""
    of = system(Fraction(percent, 100), law, 2, 2)
    limit = lambda_limit(of.p, of.s)
    bound = largest_berry_esseen(of, limit)
    found = max(tilted_slot(of.p, law, float(t)).berry_esseen for t in np.linspace(0, limit, 23))
    assert found <= bound * (1 + 1e-12)


@pytest.mark.statistical
def test_computed_excess_bounds_the_true_one() -> None:
    """Mean of ``(u* − Bp)₊``, ages from their law: 4,000 draws, 5 errors below the bound, which beats ``ε`` far out."""
    rng, p, s, workers = np.random.default_rng(5), 0.25, 4, 3
    for slots in (20, 200, 1000):
        found = []
        for _ in range(4000 if slots < 1000 else 1000):
            w = rng.integers(1, s + 1, (workers, slots)) + rng.geometric(p, (workers, slots)) - 1
            coins = (rng.random((workers, slots)) < p) - p
            noise = np.concatenate([(coins * (t - w - 1)).sum(axis=1) for t in (0, s + 1)])
            found.append(max(noise.max() - noise.min() - slots * p, 0.0))
        bound = computed_excess(system(Fraction(1, 4), uniform(s), workers, slots))
        assert np.mean(found) + 5 * np.std(found) / len(found) ** 0.5 <= bound
    of = system(Fraction(1, 4), uniform(4), 8, 10_000)
    assert computed_excess(of) < sharper(of).epsilon / 100


def test_normal_maximum() -> None:
    """``e_2 = 1/√π``, ``e_3 = 3/(2√π)``; for large ``G`` it grows like ``sqrt(2 log G)``."""
    assert normal_maximum(1) == pytest.approx(0, abs=1e-12)
    assert normal_maximum(2) == pytest.approx(1 / math.sqrt(math.pi), rel=1e-10)
    assert normal_maximum(3) == pytest.approx(1.5 / math.sqrt(math.pi), rel=1e-10)
    assert normal_maximum(10**6) == pytest.approx(4.8635, abs=2e-3)


@pytest.mark.parametrize(
    ("p", "s", "workers", "slots"),
    [("1/4", 4, 8, 334_131), ("1/10", 10, 16, 7_394_547), ("1/100", 100, 64, 1.08e10), ("1/1000", 4000, 32, 3.06e13)],
)
def test_where_epsilon_falls_below_s(p: str, s: int, workers: int, slots: float) -> None:
    """The stated frontier; one slot fewer is not enough."""
    of = system(Fraction(p), uniform(s), workers, 1)
    found = slots_for_epsilon(of, s)
    assert found == (slots if isinstance(slots, int) else pytest.approx(slots, rel=0.005))
    assert constants(replace(of, slots=found)).epsilon <= s < constants(replace(of, slots=found - 1)).epsilon


def test_epsilon_is_not_monotone() -> None:
    """In the last case of the frontier ``ε ≤ s`` also at ``B = 1, 2``, not at 3."""
    of = system(Fraction(1, 1000), uniform(4000), 32, 1)
    assert [constants(replace(of, slots=b)).epsilon <= 4000 for b in (1, 2, 3)] == [True, True, False]


def test_frontier_is_ordered() -> None:
    """Sharper certificates bite earlier; just below its value a certificate is above the law's bracket."""
    of = system(Fraction(1, 4), uniform(4), 8, 1)
    found = frontier(of)
    assert found.spread_lex <= found.computed < found.sharper < found.theorem1 < found.epsilon_below_s
    below, here = (replace(of, slots=found.theorem1 - d) for d in (1, 0))
    assert fcfs_bracket(below)[0] < theorem1_upper(below) and fcfs_bracket(here)[0] >= theorem1_upper(here)
    assert slots_below_fcfs(of, theorem1_upper, target=2.0) > found.theorem1
    with pytest.raises(ParameterError, match="`workers`"):
        frontier(system(Fraction(1, 4), uniform(4), 1, 1))
