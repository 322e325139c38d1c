"""``sup (f_j − f*_j)/(μ_j − μ*_j)``: the steepest chord of ``f ∘ μ⁻¹`` from the equilibrium (Theorems 2 and 3).

At ``N*`` the chord is the slope ``f'(N*)/μ'(N*)``. Where ``f ∘ μ⁻¹`` is convex (M/M/1 and smooth-min under every cost) the
chord rises with ``N`` and the supremum is its value at the end, which is exact here. Elsewhere it is found on a grid, refined
around its best point.
"""

import numpy as np
from scipy.optimize import minimize_scalar

from lbtheory.fluid.guarantee.gaps import Gaps

Array = np.ndarray

POINTS = 2001
NEAR = 1e-6
"""Relative distance from ``N*`` within which the chord is taken as the slope there."""


def steepest_chords(of: Gaps, top: Array) -> tuple[Array, tuple[str, ...]]:
    """Largest chord of each cell on ``[0, top_j]``, float array (n,), and why it is infinite where it is."""
    found = np.array([_steepest(of, j, float(top[j])) for j in range(len(of.costs))])
    why = tuple(
        f"cell {of.network.cell_names[j]!r}: (f − f*)/(μ − μ*) has no bound" for j in np.nonzero(~np.isfinite(found))[0]
    )
    return found, why


def _steepest(of: Gaps, j: int, top: float) -> float:
    cost, star, value, rate = of.costs[j], float(of.workloads[j]), float(of.values[j]), float(of.rates[j])
    with np.errstate(all="ignore"):
        slope = float(cost.slope(star) * cost.rate.marginal(star))

    def chord(n: Array) -> Array:
        points = np.asarray(n, dtype=float)
        near = np.abs(points - star) <= NEAR * max(star, top)
        with np.errstate(all="ignore"):
            ratio = (cost.value(points) - value) / (cost.rate.rate(points) - rate)
        return np.where(near, slope, ratio)

    grid = np.unique(np.r_[np.linspace(0, top, POINTS), np.geomspace(1e-6 * top, top, POINTS)]) if top > 0 else np.zeros(1)
    values = chord(grid)
    if not np.isfinite(values).all():
        return float("inf")
    best = int(np.argmax(values))
    largest = float(values[best])
    if 0 < best < len(grid) - 1 and abs(grid[best] - star) > NEAR * max(star, top):
        inner = minimize_scalar(lambda n: -float(chord(n)), bounds=(grid[best - 1], grid[best + 1]), method="bounded")
        largest = max(largest, -float(inner.fun))
    return max(largest, slope)
