"""What ages add to the potential bound by depending on the position: ``E sup_x Σ_b y_x(X_b)`` over i.i.d. geometric ages.

``max_l a_l ≤ a_0 + Σ_l (a_l − a_{l−1})⁺`` leaves ``E(Σ_b d(X_b))⁺``: a convolution on a lattice, to whose points values are
split with their mean kept, which only adds to the mean of a convex function.
"""

import numpy as np
from scipy import stats

FINE = 48
"""Lattice points in a standard deviation of the sum."""
TINY = 1e-90
NEGLIGIBLE = 1e-10
"""Probability of ages left out where only a good guess is wanted."""
WIDE = 12.0
"""Standard deviations of one summand inside the lattice; what is above is added to the mean, what is below is cut off."""


def split(values: np.ndarray, weights: np.ndarray, slots: int, inflate: float = 0.0) -> tuple[np.ndarray, float, float, float]:
    """Lattice law, its first point and spacing, and the mean of what is above the lattice.

    ``inflate``, in spacings, is added to every value to cover rounding errors of its place.
    """
    mean = float(weights @ values)
    deviation = max(float(weights @ (values - mean) ** 2) ** 0.5, 1e-12)
    top = mean + WIDE * deviation
    inside = np.clip(values, mean - WIDE * deviation, top)
    first, spacing = float(inside.min()), deviation * slots**0.5 / FINE
    place = (inside - first) / spacing
    index = place.astype(np.int64)
    part = np.minimum(place - index + inflate, 1)
    size = int(index.max()) + 2
    law = np.bincount(index, weights * (1 - part), size) + np.bincount(index + 1, weights * part, size)
    return law, first, spacing, float(weights @ np.maximum(values - top, 0))


def positive_mean(values: np.ndarray, weights: np.ndarray, slots: int) -> float:
    """Upper bound of ``E(Σ_b d(X_b))⁺``, ``d`` given by its values at ages with the given weights."""
    law, first, spacing, beyond = split(values, weights, slots)
    length = 1 << (slots * (len(law) - 1)).bit_length()
    transform, power, left = np.fft.rfft(law, length), np.ones(length // 2 + 1, complex), slots
    while left:
        if left & 1:
            power = power * transform
        transform, left = transform * transform, left >> 1
        transform[np.abs(transform) < TINY] = 0  # no denormal numbers
    sums = np.fft.irfft(power, length)
    points = slots * first + spacing * np.arange(length)
    return slots * beyond + float(np.maximum(points, 0) @ np.maximum(sums, 0))


def grouped(shapes: np.ndarray, group: int) -> np.ndarray:
    """The larger shape of every ``group`` neighbouring knots, age by age."""
    return np.maximum.reduceat(shapes, np.arange(0, len(shapes), group), axis=0)


def coupling_cost(shapes: np.ndarray, weights: np.ndarray, slots: int, group: int) -> float:
    """Bound of ``E sup_l Σ_b y_l(X_b)``; ``shapes`` is an array (knots, ages), ``weights`` sum to one."""
    levels = grouped(shapes, group)
    total = slots * float(weights @ levels[0])
    return total + sum(positive_mean(d, weights, slots) for d in np.diff(levels, axis=0))


def least_charges(rows: np.ndarray, weights: np.ndarray, slots: int, beyond: np.ndarray) -> np.ndarray:
    """Charges whose increments are the quantiles at which ``P(Σ_b d(X_b)/B > ΔD) = P(position beyond)``: the least total cost.

    Quantiles by the Cornish–Fisher expansion to the third moment; any charges give a proved bound.
    """
    likely = int(np.searchsorted(np.cumsum(weights), 1 - NEGLIGIBLE)) + 1
    steps, weights = np.diff(rows[:, :likely], axis=0), weights[:likely]
    steps -= (steps @ weights)[:, None]
    square = steps * steps
    deviation = np.sqrt(square @ weights)
    skewness = ((square * steps) @ weights) / np.maximum(deviation, TINY) ** 3 / slots**0.5
    z = np.clip(stats.norm.isf(np.clip(beyond, 1e-7, 1 - 1e-7)), -5, 5)
    z = (z[1:] + z[:-1]) / 2
    quantile = z + skewness / 6 * (z * z - 1)
    quantile = np.where(z < 0, np.minimum(quantile, z / 2), quantile)
    return np.concatenate([[0.0], np.cumsum(deviation / slots**0.5 * quantile)])
