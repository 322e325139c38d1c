"""Projections onto the simplex and onto its tangent cone (DLB paper, equations (2) and (9)), for vectors and rows of them."""

from typing import Any

import numpy as np
from numba import njit

from lbtheory.core import ParameterError
from lbtheory.fluid.dynamics._projection import active_set, project_simplex

Array = np.ndarray


def simplex_projection(y: Any) -> Array:
    """``Π_Δ(y)``: the nearest point with ``x ≥ 0``, ``Σ x = 1``; float array (d,).

    Raises
    ------
    ParameterError
        Unless ``y`` is a vector of finite numbers.
    """
    made = _vector("y", "simplex_projection", y).copy()
    project_simplex(made)
    return made


def tangent_projection(x: Any, z: Any) -> Array:
    """``Π_{T(x)}(z)``, ``T(x) = {u: Σ u = 0, u_j ≥ 0 where x_j = 0}``; float array (d,).

    ``v_j = z_j − θ`` where ``x_j > 0`` and ``(z_j − θ)⁺`` elsewhere, ``Σ v = 0`` (ours, proved: ``θ`` is the mean over the
    support and the zeros above it). It satisfies ``(x − x')ᵀ v ≤ (x − x')ᵀ z`` for ``x'`` on the simplex, and
    ``max |v| ≤ max z − min z``.

    Raises
    ------
    ParameterError
        Unless ``x`` is on the simplex and ``z`` is finite, of the same length.
    """
    at, goal = _vector("x", "tangent_projection", x), _vector("z", "tangent_projection", z)
    if at.shape != goal.shape:
        raise ParameterError(f"`z` of `tangent_projection` must have {at.size} entries, as `x`; got {goal.size}.")
    if (at < 0).any() or abs(at.sum() - 1) > 1e-9:
        raise ParameterError(f"`x` of `tangent_projection` must be on the simplex; got {at.tolist()}.")
    return tangent_rows(at[None], -goal[None])[0]


@njit(cache=True, error_model="numpy")
def tangent_rows(x: Array, c: Array) -> Array:
    """``Π_{T(x)}(−c)`` of each row."""
    v = np.zeros(x.shape)
    active = np.empty(x.shape[1], np.bool_)
    for r in range(x.shape[0]):
        mean = active_set(x[r], c[r], active)
        for a in range(x.shape[1]):
            if active[a]:
                v[r, a] = mean - c[r, a]
    return v


def _vector(name: str, function: str, values: Any) -> Array:
    made = np.asarray(values, dtype=float)
    if made.ndim != 1 or not made.size or not np.isfinite(made).all():
        raise ParameterError(f"`{name}` of `{function}` must be a vector of finite numbers; got {values!r}.")
    return made
