"""Batch means and paired intervals: by hand, and their coverage."""

import numpy as np
import pytest
from scipy.stats import binom, t

from lbtheory.core import ParameterError
from lbtheory.decode.statistics import batch_count, batch_means, fitted_exponent, paired_difference, paired_ratio


def test_batch_means_by_hand() -> None:
    """Eight values make four batches of two: means 1, 2, 3, 6; mean 3, standard deviation √(14/3)."""
    found = batch_means(np.array([0.0, 2, 1, 3, 3, 3, 5, 7]), 0.9)
    half = t.ppf(0.95, 3) * np.sqrt(14 / 3) / 2
    assert found.mean == 3
    assert found.low == pytest.approx(3 - half) and found.high == pytest.approx(3 + half)


def test_few_values_have_no_interval() -> None:
    """Below four values there are not two batches of two."""
    assert [batch_count(n) for n in (0, 3, 4, 63, 64, 10**6)] == [0, 0, 2, 31, 32, 32]
    found = batch_means(np.array([1.0, 2, 3]), 0.95)
    assert (found.mean, found.low, found.high) == (2, None, None) and found.as_json() == {"mean": 2, "ci": None}
    assert paired_difference(np.arange(9.0), np.arange(3.0), 0.95).low is None


@pytest.mark.parametrize("level", [0, 1, -0.5, 2, float("nan")])
def test_level_is_checked(level: float) -> None:
    """Between 0 and 1."""
    with pytest.raises(ParameterError, match="`level`"):
        batch_means(np.arange(9.0), level)


def autoregression(rng: np.random.Generator, n: int, weight: float) -> np.ndarray:
    """AR(1) with mean 0, started in its stationary law."""
    from scipy.signal import lfilter

    noise = rng.standard_normal(n)
    noise[0] /= np.sqrt(1 - weight**2)
    return lfilter([1.0], [1.0, -weight], noise)


@pytest.mark.statistical
def test_coverage_on_an_autoregression() -> None:
    """AR(1), weight 0.8, 6,400 values, 400 replications, level 95 %: coverage within the binomial law's 0.1 % tails of 95 %.

    Batches of 200 values against a correlation time of 9: their dependence costs less than 1 % of coverage.
    """
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(400):
        found = batch_means(autoregression(rng, 6_400, 0.8), 0.95)
        assert found.low is not None and found.high is not None
        hits += found.low <= 0 <= found.high
    assert binom.ppf(0.001, 400, 0.94) <= hits <= binom.ppf(0.999, 400, 0.95)


@pytest.mark.statistical
def test_coverage_of_pairs() -> None:
    """Two series with common noise: difference of means 1, ratio of means 6/5; 400 replications at 95 %."""
    rng = np.random.default_rng(2)
    differences, ratios = 0, 0
    for _ in range(400):
        common = autoregression(rng, 3_200, 0.5)
        x, y = 6 + common + rng.standard_normal(3_200), 5 + common + rng.standard_normal(3_200)
        d, r = paired_difference(x, y, 0.95), paired_ratio(x, y, 0.95)
        assert r is not None and None not in (d.low, d.high, r.low, r.high)
        differences += d.low <= 1 <= d.high  # type: ignore[operator]
        ratios += r.low <= 1.2 <= r.high  # type: ignore[operator]
    for hits in (differences, ratios):
        assert binom.ppf(0.001, 400, 0.94) <= hits <= binom.ppf(0.999, 400, 0.95)


def test_pairing_helps() -> None:
    """With common noise the paired interval is far narrower than that of either mean."""
    rng = np.random.default_rng(3)
    common = 10 * autoregression(rng, 3_200, 0.9)
    x, y = 50 + common + rng.standard_normal(3_200), 49 + common + rng.standard_normal(3_200)
    single, pair = batch_means(x, 0.95), paired_difference(x, y, 0.95)
    assert pair.high - pair.low < (single.high - single.low) / 10  # type: ignore[operator]


def test_ratio_to_nothing() -> None:
    """A policy without imbalance has no ratio."""
    assert paired_ratio(np.ones(8), np.zeros(8), 0.95) is None


def test_fitted_exponent() -> None:
    """A power law gives its exponent; where there is none the interval widens with the misfit; the interval covers."""
    x = np.array([1.0, 2, 4, 8, 16, 32])
    exact = fitted_exponent(x, 3 * x**0.5, 3 * x**0.5 * 0.99, 3 * x**0.5 * 1.01)
    assert exact.slope == pytest.approx(0.5) and exact.misfit == pytest.approx(0, abs=1e-9)
    bent = fitted_exponent(x, x**0.5 + 0.2 * x, (x**0.5 + 0.2 * x) * 0.99, (x**0.5 + 0.2 * x) * 1.01)
    assert bent.misfit > 3 and bent.high - bent.low > 3 * (exact.high - exact.low)
    rng, hits = np.random.default_rng(0), 0
    for _ in range(400):
        y = 3 * x**0.5 * np.exp(rng.normal(0, 0.05, len(x)))
        found = fitted_exponent(x, y, y * np.exp(-1.96 * 0.05), y * np.exp(1.96 * 0.05))
        hits += found.low <= 0.5 <= found.high
    assert 0.93 <= hits / 400 <= 0.99
    with pytest.raises(ParameterError, match="three points"):
        fitted_exponent(x[:2], x[:2], x[:2], x[:2])
