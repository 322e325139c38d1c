"""Projection onto the tangent cone of the simplex, and what the theorems use of it (DLB paper, equation 9 and Lemma 10).

``T(x) = {u: Σ_j u_j = 0, u_j ≥ 0 where x_j = 0}``. For a target ``z`` let ``P`` be the support and ``Q`` the zeros. ``v_j =
z_j − θ`` on ``P`` and ``(z_j − θ)⁺`` on ``Q``, where ``θ`` is the mean of ``z`` over ``P`` and the zeros that exceed it: scan
``Q`` by falling ``z_j`` and take in those above the mean so far. (i) ``(x − x')ᵀv ≤ (x − x')ᵀz`` for every ``x'`` of the
simplex, for ``z − v`` lies in the normal cone (Moreau). (ii) ``‖v‖_∞ ≤ max z − min z``, for ``θ`` is a mean of values of
``z``; that is at most the paper's ``2‖z‖_∞``.
"""

import numpy as np

Array = np.ndarray


def tangent_projection(x: Array, z: Array) -> Array:
    """``Π_{T(x)}(z)``, float array (d,), for a point ``x`` of the simplex and a target ``z``, both (d,)."""
    support = x > 0
    total, count = float(z[support].sum()), int(support.sum())
    for value in np.sort(z[~support])[::-1]:
        if value * count <= total:
            break
        total, count = total + float(value), count + 1
    moved = z - total / count
    return np.where(support, moved, np.maximum(moved, 0.0))
