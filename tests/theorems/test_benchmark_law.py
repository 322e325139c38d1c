"""The exact benchmark law of size-blind FCFS routing: right values, Arb as an oracle, what is refused."""

from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate
from math import comb, log, sqrt

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import nbinom

from lbtheory.core import ParameterError
from lbtheory.theory import PromptLaw, from_weights, uniform
from lbtheory.theory import _convolve as convolve
from lbtheory.theory.benchmark_law import LoadLaw, atoms_of, benchmark_law, geometric


def exact_pmf(p: Fraction, law: PromptLaw, slots: int, stop: int, bits: int = 300) -> list[flint.arb]:
    """``P(L = x)``, ``x < stop``, in balls: ``(Σ_t P(S = t) z^t)^B`` times the negative binomial series."""
    before, flint.ctx.prec = flint.ctx.prec, bits
    try:
        weights = [0] * (law.s + 1)
        for size, weight in zip(law.sizes, law.weights, strict=True):
            weights[size] = weight
        prompts = flint.fmpz_poly(weights) ** slots
        q = flint.arb(flint.fmpq(p.denominator - p.numerator, p.denominator))
        ages = [(1 - q) ** slots]
        for a in range(stop - 1):
            ages.append(ages[-1] * q * (slots + a) / (a + 1))
        total = flint.arb(law.total) ** slots
        product = (flint.arb_poly(ages) * flint.arb_poly(prompts.coeffs()[:stop])).coeffs()[:stop]
        return [value / total for value in product]
    finally:
        flint.ctx.prec = before


def exact_excess(pmf: list[flint.arb], mean: Fraction, workers: int) -> float:
    """``E max − E L`` from all of the law (what is left beyond the list must be negligible)."""
    before, flint.ctx.prec = flint.ctx.prec, 300
    try:
        total = sum((1 - f**workers for f in accumulate(pmf)), start=flint.arb(0))
        return float(total - flint.arb(flint.fmpq(mean.numerator, mean.denominator)))
    finally:
        flint.ctx.prec = before


CASES = [
    (Fraction(1, 4), uniform(4), 3, 260),
    (Fraction(1, 2), from_weights([2, 9], [1, 5]), 5, 330),
    (Fraction(9, 10), from_weights([1, 40], [999, 1]), 7, 420),
    (Fraction(1, 20), uniform(5, 3), 1, 2200),
    (Fraction(1, 4), uniform(4), 64, 1400),
    (Fraction(1, 3), from_weights([1, 1000], [1, 1]), 4, 4500),
    (Fraction(9, 10), uniform(300), 5, 1600),
]


@pytest.mark.parametrize(("p", "law", "slots", "stop"), CASES)
def test_law_against_balls(p: Fraction, law: PromptLaw, slots: int, stop: int) -> None:
    """Both tails, moments and ``Ī`` for 1 to 10⁶ workers agree with 300-bit arithmetic within the stated errors."""
    made, pmf = benchmark_law(p, law, slots), exact_pmf(p, law, slots, stop)
    window = made.window
    x = np.arange(window.offset, window.last + 1)
    below = np.array([float(value) for value in accumulate(pmf)])
    above = np.array([float(value) for value in list(accumulate(pmf[::-1]))[::-1][1:]] + [0.0])
    for ours, right, (relative, absolute) in (
        (window.lower, below[x[: len(window.lower)]], window.lower_error),
        (window.upper, above[x[len(window.lower) :]], window.upper_error),
    ):
        assert (np.abs(ours - right) <= relative * right + absolute).all() and relative < 2e-9
        seen = right > 1e-8
        assert (np.abs(ours[seen] / right[seen] - 1) < 2e-12).all()
    assert window.upper_error[1] < 1e-19 and window.lower_error[1] < 1e-14
    for workers in (2, 3, 8, 1000, 10**6):
        value, error = made.imbalance(workers)
        exact = workers * exact_excess(pmf, Fraction(made.mean), workers)
        assert abs(value - exact) <= error <= 1e-9 * value
    assert made.imbalance(1) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("p", "s", "slots", "workers", "right", "digits"),
    [
        (4, 4, 64, 8, 343.0412, 1e-4),
        (10, 10, 1000, 16, 8968.363, 1e-3),
        (100, 100, 256, 64, 257860.717, 1e-3),
        (1000, 4000, 128, 32, 1160564.63, 1e-2),
        (100, 100, 64, 8, 9769, 0.5),
        (100, 100, 256, 8, 19215, 0.5),
        (100, 100, 1024, 8, 38096, 0.5),
        (100, 100, 64, 64, 133551, 0.5),
        (1000, 4000, 64, 8, 140721, 0.5),
        (20, 50, 64, 8, 2256, 0.5),
        (20, 50, 256, 8, 4466, 0.5),
        (100, 400, 64, 128, 415966, 0.5),
        (1000, 4000, 256, 32, 1634523, 0.5),
        (1000, 4000, 64, 32, 825451, 0.5),
        (1000, 4000, 1024, 32, 3252800, 0.5),
    ],
)
def test_right_values(p: int, s: int, slots: int, workers: int, right: float, digits: float) -> None:
    """``Ī`` of the FCFS columns, with a bound of the relative error below 1e-9."""
    value, error = benchmark_law(Fraction(1, p), uniform(s), slots).imbalance(workers)
    assert abs(value - right) < digits + 1e-9 and error < 1e-10 * value


def test_long_windows_are_exact_where_ages_alone_count() -> None:
    """A constant size leaves a shifted negative binomial law: ``p = 1e-4``, ``B = 10``, both tails to 1e-10."""
    made = benchmark_law(1e-4, from_weights([7000], [1]), 10)
    for x in made.offset + np.array([2, 20_000, 60_000, 130_000, 250_000, 400_000]):
        exact = nbinom(10, 1e-4)
        assert made.cdf(x) == pytest.approx(exact.cdf(x - 70_000), rel=1e-9)
        assert made.survival(x) == pytest.approx(exact.sf(x - 70_000), rel=1e-9)


@pytest.mark.slow
def test_extreme_window() -> None:
    """``p = 1e-4``, ``s = 10⁴``, ``B = 10⁴``, ``G = 10⁶``: twenty million points, relative error bound below 1e-9."""
    made = benchmark_law(1e-4, uniform(10_000), 10_000)
    value, error = made.imbalance(10**6)
    assert value == pytest.approx(5131452836304.9, rel=1e-12) and error < 1e-9 * value
    assert made.central_moment(2) == pytest.approx(float(made.variance), rel=1e-10)


@pytest.mark.slow
def test_many_slots_against_balls() -> None:
    """``B = 800``: the error of a power grows with ``B`` and stays within its bound."""
    p, law = Fraction(1, 4), uniform(4)
    made, pmf = benchmark_law(p, law, 800), exact_pmf(p, law, 800, 6000)
    for workers in (2, 64, 10**6):
        value, error = made.imbalance(workers)
        assert abs(value - workers * exact_excess(pmf, Fraction(made.mean), workers)) <= error <= 1e-9 * value


def test_moments() -> None:
    """Mean and variance are ``B(E S + q/p)``, ``B(Var S + q/p²)``; the third central moment is ``B(κ₃(S) + q(1+q)/p³)``."""
    p, law, slots = Fraction(1, 10), from_weights([1, 2, 30], [5, 3, 2]), 12
    made, q = benchmark_law(p, law, slots), Fraction(9, 10)
    assert made.mean == slots * (law.mean + q / p) and made.variance == slots * (law.variance + q / p**2)
    third = sum(Fraction(w, law.total) * (t - law.mean) ** 3 for t, w in zip(law.sizes, law.weights, strict=True))
    assert made.central_moment(0) == pytest.approx(1, rel=1e-12)
    assert made.central_moment(2) == pytest.approx(float(made.variance), rel=1e-12)
    assert made.central_moment(3) == pytest.approx(float(slots * (third + q * (1 + q) / p**3)), rel=1e-11)
    assert made.deviation == pytest.approx(sqrt(made.variance), rel=1e-15)


def test_expected_maximum_idle_fraction_and_constant() -> None:
    """They are one number in four forms; ``G σ sqrt(B log G)`` times the constant gives it back."""
    made = benchmark_law(Fraction(1, 4), uniform(4), 64)
    value = made.imbalance(8)[0]
    assert made.expected_maximum(8) == pytest.approx(352 + 343.0412344705 - 7 * 343.0412344705 / 8, rel=1e-11)
    assert made.idle_fraction(8) == pytest.approx(value / (8 * made.expected_maximum(8)), rel=1e-14)
    assert made.normalised(8) * 8 * made.deviation * sqrt(log(8)) == pytest.approx(value, rel=1e-14)
    assert made.expected_maximum(1) == 352 and made.idle_fraction(1) == 0


def test_normalised_drifts_to_the_square_root_of_two() -> None:
    """At ``B = 4096`` the constant is ``1/√(π log 2)`` at ``G = 2`` (normal loads), rises with ``G``, stays below ``√2``."""
    made = benchmark_law(Fraction(1, 4), uniform(4), 4096)
    values = [made.normalised(2**k) for k in range(2, 21, 3)]
    assert made.normalised(2) == pytest.approx(1 / sqrt(np.pi * log(2)), rel=1e-3)
    assert (np.diff(values) > 0).all() and 1.2 < values[-1] < sqrt(2)


@given(
    p=st.fractions(Fraction(1, 12), Fraction(11, 12), max_denominator=50),
    weights=st.dictionaries(st.integers(1, 9), st.integers(1, 9), min_size=1, max_size=4),
    slots=st.integers(1, 4),
    prob=st.floats(1e-6, 1 - 1e-6),
    workers=st.integers(1, 50),
)
@settings(max_examples=40, deadline=None)
def test_quantiles_are_those_of_the_law(p: Fraction, weights: dict[int, int], slots: int, prob: float, workers: int) -> None:
    """``P(max ≤ x − 1) < prob ≤ P(max ≤ x)``, and the law is a convolution of the law with one slot fewer."""
    law = from_weights(list(weights), list(weights.values()))
    made = benchmark_law(p, law, slots)
    x = made.quantile(prob, workers)
    assert made.cdf(x - 1) ** workers < prob * (1 + 1e-9) and made.cdf(x) ** workers > prob * (1 - 1e-9)
    assert made.cdf(x) + made.survival(x) == pytest.approx(1, abs=1e-12)
    if slots > 1:
        one, fewer = benchmark_law(p, law, 1), benchmark_law(p, law, slots - 1)
        direct = np.convolve(one.pmf, fewer.pmf)
        start = made.offset - one.offset - fewer.offset
        assert start >= 0 and np.allclose(direct[start : start + len(made.pmf)], made.pmf, rtol=1e-11, atol=1e-16)


@pytest.mark.parametrize("route", ["DIRECT", "SERIES"])
def test_both_routes_of_the_transform(route: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over the few frequencies that count and fast transforms over all of them give one law."""
    parts: convolve.Parts = [(atoms_of(uniform(100)), 64), (geometric(Fraction(1, 100), "test"), 64)]
    usual = convolve.law_of_sum(parts)
    monkeypatch.setattr(convolve, route, 0)
    other = convolve.law_of_sum(parts)
    for name in ("lower", "upper"):
        ours, theirs = getattr(usual, name), getattr(other, name)
        relative, absolute = np.add(getattr(usual, f"{name}_error"), getattr(other, f"{name}_error"))
        assert (np.abs(ours - theirs) <= relative * theirs + absolute).all()
        assert not np.array_equal(ours, theirs)


def test_tails_of_any_sum() -> None:
    """Bounded summands alone: 20 dice; the window ends where the support does, and the far tail is a count."""
    dice = convolve.Atoms(np.arange(1, 7), np.ones(6))
    window = convolve.law_of_sum([(dice, 20)])
    assert window.offset == 20 and window.last == 120 and window.cut_sum == 0
    assert window.lower[0] == pytest.approx(6.0**-20, rel=1e-11)
    assert window.upper[-4] == pytest.approx((1 + 20 + comb(21, 2)) / 6**20, rel=1e-11)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda law: law.normalised(1), "workers"),
        (lambda law: law.imbalance(0), "workers"),
        (lambda law: law.imbalance(2.0), "workers"),
        (lambda law: law.imbalance(10**24), "workers"),
        (lambda law: law.quantile(0.0), "prob"),
        (lambda law: law.quantile(float("nan")), "prob"),
        (lambda law: law.quantile(1 - 1e-16, 10**6), "prob"),
        (lambda law: law.cdf(1.5), "x"),
        (lambda law: law.central_moment(-1), "order"),
    ],
)
def test_what_a_law_refuses(call: Callable[[LoadLaw], object], name: str) -> None:
    """Questions that have no answer, or none that the window holds, name their argument."""
    with pytest.raises(ParameterError, match=f"`{name}`"):
        call(benchmark_law(Fraction(1, 4), uniform(4), 8))


@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5, float("nan"), float("inf"), "x", Fraction(1, 10**400), 1 - Fraction(1, 10**30)])
def test_success_probability_is_checked(p: Fraction) -> None:
    """``0 < p < 1``, also in doubles."""
    with pytest.raises(ParameterError, match="`p` of `benchmark_law`"):
        benchmark_law(p, uniform(4), 8)


def test_sizes_of_windows_are_checked() -> None:
    """A law of more than 2^27 points is refused before anything large is made."""
    with pytest.raises(ParameterError, match="points"):
        benchmark_law(1e-9, uniform(4), 10_000)
    with pytest.raises(ParameterError, match="`slots` of `benchmark_law`"):
        benchmark_law(0.5, uniform(4), 0)


def test_points_outside_the_window() -> None:
    """Below the smallest load nothing, beyond the window everything."""
    made = benchmark_law(Fraction(1, 4), uniform(4), 8)
    x = np.array([-5, 7, 8, 10**6])
    assert made.cdf(x)[[0, 1, 3]].tolist() == [0, 0, 1] and made.survival(x)[[0, 1, 3]].tolist() == [1, 1, 0]
    assert made.cdf(8) == pytest.approx(0.25**16, rel=1e-12)
