"""Functions of the share ``ρ = z/μ̄`` that stay exact to rounding at both ends, and safeguarded root finding."""

from collections.abc import Callable

import numpy as np
from scipy import special

from lbtheory.core import LBTheoryError

Array = np.ndarray

_TERMS = np.arange(2, 34)
_QUADRATIC_LOG = np.r_[(1 / _TERMS)[::-1], 0.0, 0.0]
_DILOGARITHM = np.r_[(1 / np.arange(1.0, 34) ** 2)[::-1], 0.0]
_SERIES_BELOW = 0.25  # 33 terms leave 0.25³³ ≈ 1e-20

MOST_STEPS, PATIENCE = 200, 16
TINY, EPSILON = 1e-307, 2.0**-53


def spare_share(z: Array, limit: float) -> Array:
    """``1 − ρ``."""
    return (limit - z) / limit


def log_spare(z: Array, limit: float) -> Array:
    """``log(1 − ρ)``, minus infinity at ``ρ = 1``."""
    return np.where(z < limit / 2, np.log1p(-z / limit), np.log(spare_share(z, limit)))


def quadratic_log(z: Array, limit: float) -> Array:
    """``−ρ − log(1 − ρ) = Σ_{k≥2} ρ^k/k``."""
    share = z / limit
    return np.where(share < _SERIES_BELOW, np.polyval(_QUADRATIC_LOG, share), -share - log_spare(z, limit))


def entropic(z: Array, limit: float) -> Array:
    """``ρ + (1 − ρ) log(1 − ρ) = Σ_{k≥2} ρ^k/(k(k−1))``, 1 at ``ρ = 1``."""
    share, spare = z / limit, spare_share(z, limit)
    low = -share * log_spare(z, limit) - quadratic_log(z, limit)
    return np.where(share < _SERIES_BELOW, low, share + special.xlogy(spare, spare))


def dilogarithm(z: Array, limit: float) -> Array:
    """``Li₂(ρ) = Σ_{k≥1} ρ^k/k²``, ``π²/6`` at ``ρ = 1``."""
    share = z / limit
    return np.where(share < _SERIES_BELOW, np.polyval(_DILOGARITHM, share), special.spence(spare_share(z, limit)))


def solve_increasing(function: Callable[[Array], tuple[Array, Array]], low: Array, high: Array, start: Array) -> Array:
    """Root in ``[low, high]`` of an increasing function of each element, by Newton's method kept inside a bracket.

    After `PATIENCE` steps every third one halves the bracket on a logarithmic scale while it is wide.

    Parameters
    ----------
    function : callable
        Value and derivative at an array of points.
    low, high, start : ndarray
        Bracket, ``0 ≤ low``, and first point, of one shape. Where the value at ``high`` is negative the answer is ``high``.

    Returns
    -------
    ndarray
        Converged until a step is below one unit in the last place or the bracket holds no other double.

    Raises
    ------
    LBTheoryError
        After `MOST_STEPS`; bisection alone, geometric while the bracket is wide, needs fewer.
    """
    low, high, x = (np.array(a, dtype=float) for a in np.broadcast_arrays(low, high, start))
    done = np.zeros(x.shape, dtype=bool)
    for step in range(MOST_STEPS):
        value, derivative = function(x)
        low, high = np.where(value < 0, np.maximum(x, low), low), np.where(value > 0, np.minimum(x, high), high)
        with np.errstate(divide="ignore", invalid="ignore"):  # a flat spot: no Newton step there, and the bracket is halved
            newton = x - value / derivative
        floor = np.maximum(low, TINY)
        wide = high > 4 * floor
        middle = np.where(wide, np.sqrt(floor) * np.sqrt(high), low + (high - low) / 2)
        halve = (wide & (step > PATIENCE) & (step % 3 == 0)) | ~((newton > low) & (newton < high))
        following = np.where(done | (value == 0), x, np.where(halve, middle, newton))
        done = done | (np.abs(following - x) <= EPSILON * np.abs(x)) | ~((following > low) & (following < high))
        x = following
        if done.all():
            return x
    raise LBTheoryError(f"a root in [{low[~done].min():g}, {high[~done].max():g}] was not found in {MOST_STEPS} steps.")
