"""``log φ`` and ``log ψ`` of Theorem A: compiled, in balls, and by direct summation."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lbtheory.theory.arithmetic import balls
from lbtheory.theory.levelling import CertificateError, _kernels
from lbtheory.theory.levelling._balls import SideBalls, above, geometric
from tests.theorems.levelling.oracles import direct_log_phi, direct_log_psi

CASES = st.tuples(
    st.sampled_from([Fraction(1, 20), Fraction(1, 10), Fraction(1, 3), Fraction(2, 3)]),
    st.integers(2, 30),
    st.floats(0.01, 0.6),
    st.floats(0, 1),
    st.integers(1, 40),
    st.integers(1, 9),
    st.booleans(),
    st.integers(0, 3),
    st.floats(-1, 1),
)


@settings(max_examples=120, deadline=None)
@given(CASES)
def test_log_phi_is_the_direct_sum(case: tuple[Fraction, int, float, float, int, int, bool, int, float]) -> None:
    """Compiled within 5e-12 of the direct sum, and inside the ball within 1e-12, for both sides, blocks and renewals."""
    p, s, part, share, m, d, upper, inset, offset = case
    q = float(1 - p)
    theta = -part * np.log(q)
    eta, r = share * theta, 1 + min(inset, s - 1) if upper else max(1, s - inset)
    level = Fraction((s + 1) / 2 + q / float(p) + offset)
    direct = direct_log_phi(theta, eta, m, d, upper, float(p), s, r, float(level))
    compiled = _kernels.log_phi(theta, eta, float(m), float(d), upper, q, float(s), float(r), float(level))
    assert compiled == pytest.approx(direct, abs=5e-12)
    with balls(128):
        kernel = SideBalls(p=p, s=s, renewal=r, slots=1, level=level, upper=upper)
        ball = kernel.log_phi(theta, eta, m, d)
        assert float(ball.rad()) < 1e-25 and float(ball.mid()) == pytest.approx(direct, abs=5e-12)
        last = float(kernel.log_psi(theta, m).mid())
    assert last == pytest.approx(direct_log_psi(theta, m, upper, float(p), s, r, float(level)), abs=5e-12)
    assert last == pytest.approx(_kernels.log_psi(theta, float(m), upper, q, float(s), float(r), float(level)), abs=5e-12)


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("d", [1.0, 6.0])
def test_eta_is_the_best(upper: bool, d: float) -> None:
    """The golden section finds the least over a grid of ``η``."""
    q, s, r, t = 0.95, 50.0, 1.0 if upper else 50.0, 44.5
    for theta in (0.004, 0.02, 0.04):
        for m in (1.0, 7.0, 40.0):
            value, eta = _kernels.best_eta(theta, m, d, upper, q, s, r, t)
            grid = np.linspace(0, min(theta, -0.99 * np.log(q)), 400)
            assert 0 <= eta <= theta
            assert value <= min(_kernels.log_phi(theta, x, m, d, upper, q, s, r, t) for x in grid) + 1e-12


def test_undecided_worst_prompts_are_added() -> None:
    """At few bits the worse of ``S = 1, s`` is undecided near the switch: the ball's upper end stays above the true value."""
    arguments = (0.01, 0.004, 10, 4)
    truth = direct_log_phi(*arguments, True, 0.05, 50, 1, 44.5)
    for bits in (24, 30, 53):
        with balls(bits):
            kernel = SideBalls(p=Fraction(1, 20), s=50, renewal=1, slots=1, level=Fraction(89, 2), upper=True)
            assert truth - 1e-12 <= above(kernel.log_phi(*arguments)) <= truth + 0.05


def test_conditions_are_decided_in_balls() -> None:
    """Series that do not converge, ``q e^η ≥ 1`` and multipliers of the wrong sign are refused; an overflow is infinite."""
    with balls(64):
        kernel = SideBalls(p=Fraction(1, 20), s=50, renewal=50, slots=1, level=Fraction(89, 2), upper=False)
        for theta, eta, width in ((0.1, 0.06, 1), (0.1, 0.06, 5), (-0.1, 0.0, 1), (0.1, -0.01, 1), (0.0, 0.0, 1)):
            with pytest.raises(CertificateError):
                kernel.log_phi(theta, eta, 3, width)
        high = SideBalls(p=Fraction(1, 20), s=50, renewal=1, slots=1, level=Fraction(89, 2), upper=True)
        with pytest.raises(CertificateError):
            high.log_psi(0.06, 60)
        with pytest.raises(CertificateError):
            geometric(kernel.log_q * 0, 0, None)
        assert above(kernel.log_q.exp() / 0) == float("inf")
