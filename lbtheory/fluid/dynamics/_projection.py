"""Projections onto the simplex and its tangent cone, compiled."""

import numpy as np
from numba import njit

Array = np.ndarray


@njit(cache=True, error_model="numpy")
def project_simplex(y: Array) -> None:
    """Replace ``y`` by its Euclidean projection onto ``{x ≥ 0, Σ x = 1}``.

    Newton's method on ``Σ (y − θ)⁺ = 1`` from the left (Michelot): ``θ`` rises and stops after finitely many steps.
    """
    d = y.size
    theta = (y.sum() - 1) / d
    while True:
        total, count = 0.0, 0
        for a in range(d):
            if y[a] > theta:
                total += y[a]
                count += 1
        if count == 0:
            break
        following = (total - 1) / count
        if not following > theta:
            break
        theta = following
    total = 0.0
    for a in range(d):
        y[a] = max(y[a] - theta, 0.0)
        total += y[a]
    for a in range(d):
        y[a] /= total


@njit(cache=True, error_model="numpy")
def active_set(x: Array, c: Array, active: Array) -> float:
    """Arcs that move under ``Π_{T(x)}(−c)`` and their mean cost.

    ``v_a = mean − c_a`` on the active set: all of the support, and the zeros that are cheaper than the mean. The mean falls as
    zeros join, so the set is found by passes that let in what is below the mean and put out what is no longer.
    """
    d = x.size
    total, count = 0.0, 0
    for a in range(d):
        active[a] = x[a] > 0
        if active[a]:
            total += c[a]
            count += 1
    support, members = total, count
    mean = total / count
    for _ in range(2 * d + 2):  # Newton on the mean: at most one pass a zero
        total, count = support, members
        for a in range(d):
            if not x[a] > 0 and c[a] < mean:
                total += c[a]
                count += 1
        following = total / count
        if following == mean:
            break
        mean = following
    for a in range(d):
        active[a] = x[a] > 0 or c[a] < mean
    return mean
