"""Constants and bounds of Theorem 1 against right values computed elsewhere in 30-digit arithmetic."""

import math
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lbtheory.core import ParameterError
from lbtheory.theory import from_probabilities, from_weights, uniform
from lbtheory.theory.arithmetic import balls, digits
from lbtheory.theory.theorem1 import H, System, constants, second_moment, sharper, system

RIGHT = {  # (p, s, B, G): sigma, V, kappa, epsilon, upper, lower, ratio bound
    ("1/4", 4, 64, 8): "3.64005494464 129.048130329 6.05394280421e-5 241.594701929 6876.651654 0.32806606868 0.00146458066375",
    ("1/10", 10, 1000, 16): "9.9121138008 384.996975556 3.24677875247e-6 2375.87878479 357881.817718 8.15509513436 "
    "0.00271836504479",
    ("1/100", 100, 256, 64): "103.601399604 4242.24463712 2.94655331534e-9 8046.79307053 51324796.3444 211.277854624 "
    "0.000167680837003",
    ("1/1000", 4000, 128, 32): "1527.19784246 109357.198831 1.14304317718e-12 29173.3319449 1028373290.29 1005.18972599 "
    "4.05318437897e-6",
}

systems = st.builds(
    lambda p, sizes, g, b: system(Fraction(p, 100), from_weights(*zip(*sizes.items(), strict=True)), g, b),
    st.integers(1, 99),
    st.dictionaries(st.integers(1, 60), st.integers(1, 9), min_size=2, max_size=6),
    st.integers(1, 40),
    st.integers(1, 3000),
)


@pytest.mark.parametrize("place", RIGHT, ids=lambda place: place[0])
def test_right_values(place: tuple[str, int, int, int]) -> None:
    """Ten digits and more, in doubles and in fifty digits."""
    p, s, slots, workers = place
    of = system(Fraction(p), uniform(s), workers, slots)
    for found in (constants(of), constants(of, digits(50))):
        made = (found.sigma, found.V, found.kappa, found.epsilon, found.io_upper, found.jsq_lower, found.ratio_lower)
        assert [float(x) for x in made] == pytest.approx([float(x) for x in RIGHT[place].split()], rel=3e-11)


@given(systems)
def test_doubles_lie_in_the_balls(of: System) -> None:
    """Every constant in doubles is within 1e-12 of the ball that encloses it."""
    plain = constants(of)
    with balls(160) as arithmetic:
        exact = constants(of, arithmetic)
    for field in fields(plain):
        value, ball = getattr(plain, field.name), getattr(exact, field.name)
        if value is not None:
            assert math.isclose(value, float(ball.mid()), rel_tol=1e-11, abs_tol=1e-300), field.name
            assert float(ball.rad()) <= 1e-25 * max(1.0, abs(value))


@given(systems)
def test_closed_forms_are_the_series(of: System) -> None:
    """``V`` and ``μ₂`` against their defining sums."""
    found, p, q, s = constants(of), float(of.p), float(of.q), of.s
    ages = np.arange(int(40 / -math.log(found.r)) + 40)
    wide = s + 1 + ages
    law = np.exp(math.log(p) + ages * math.log(q))
    assert pytest.approx(p * q * float(np.sum(law * wide**2 * np.exp(found.theta0 * wide))), rel=1e-9) == found.V
    assert float(second_moment(of.p, s)) == pytest.approx(float(np.sum(law * wide.astype(float) ** 2)), rel=1e-9)


@given(systems)
def test_sharper_is_never_worse(of: System) -> None:
    """Each sharper constant is at least as good as the paper's; the gains are what they say."""
    paper, better = constants(of), sharper(of)
    assert better.epsilon <= better.epsilon_four * (1 + 1e-12) and better.epsilon_four <= paper.epsilon * (1 + 1e-12)
    assert better.io_upper <= paper.io_upper * (1 + 1e-12) and better.spread_upper <= paper.io_upper * (1 + 1e-12)
    assert better.jsq_lower_level >= better.jsq_lower
    assert better.jsq_gain == pytest.approx(1024 / 130.3, rel=1e-3)
    if paper.epsilon > 0:
        assert better.epsilon * better.epsilon_gain == pytest.approx(paper.epsilon)


def test_h() -> None:
    """``h = 0.1227630646…``, ``h/16 = 1/130.3…``."""
    assert pytest.approx(0.1227630646, abs=5e-11) == H
    assert pytest.approx(130.33, abs=0.01) == 16 / H


def test_one_worker_has_no_imbalance() -> None:
    """Bounds are 0, not NaN; the ratio does not apply."""
    found = constants(system(Fraction(1, 4), uniform(4), 1, 10))
    assert found.io_upper == 0 and found.jsq_lower == 0 and found.ratio_lower is None
    better = sharper(system(Fraction(1, 4), uniform(4), 1, 10))
    assert better.io_upper == 0 and better.io_gain is None


def test_bad_input() -> None:
    """Each a named error."""
    for p in (0, 1, -0.5, float("nan"), float("inf"), "x"):
        with pytest.raises(ParameterError, match="`p`"):
            system(p, uniform(4), 2, 2)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="must not be constant"):
        system(0.5, uniform(3, 3), 2, 2)
    with pytest.raises(ParameterError, match="`workers`"):
        system(0.5, uniform(3), 0, 2)
    with pytest.raises(ParameterError, match="`slots`"):
        system(0.5, uniform(3), 2, 0)
    with pytest.raises(ParameterError, match="sum to 1"):
        from_probabilities({1: 0.5, 2: 0.4})
    with pytest.raises(ParameterError, match="≥ 0"):
        from_probabilities({1: 1.5, 2: -0.5})
    with pytest.raises(ParameterError, match="`high`"):
        uniform(0)
    with pytest.raises(ParameterError, match="differ"):
        from_weights([1, 1], [1, 1])


def test_laws() -> None:
    """Moments are exact fractions; thirds that are doubles become a uniform law."""
    law = from_probabilities({1: 1 / 3, 2: 1 / 3, 3: 1 / 3})
    assert law.is_uniform and law.mean == 2 and law.variance == Fraction(2, 3) and law.rarest == Fraction(1, 3)
    gap = from_weights([5, 2], [3, 1])
    assert gap.sizes == (2, 5) and gap.commonest == Fraction(3, 4) and gap.rarest == 0
    assert gap.pmf.tolist() == [0, 0, 0.25, 0, 0, 0.75]
