"""The structured interior point of program (12), compiled: one Cholesky of the size of the sources an iteration (ours).

Flows ``y ≥ 0`` on arcs, inflow ``z`` and price ``q`` of a cell, multiplier ``u`` of a source, reduced cost ``s ≥ 0``::

    Σ_j y_ij = λ_i,   Σ_i y_ij = z_j,   q_j + g_ij − u_i = s_ij,   y_ij s_ij = σ μ,   log q_j = log p'_j(z_j).

The first three are linear and their residuals shrink by ``1 − α`` in each step; the last is linearised in logarithms, which
keeps ``q`` positive and converges when a price is wrong by orders of magnitude. With ``D = y/s``, ``H_j = q_j p''_j/p'_j``,
``w_j = 1/(1/H_j + Σ_i D_ij)`` a step solves ``(diag Σ_j D − D diag(w) Dᵀ) du = rhs``, positive definite. Mehrotra's
predictor chooses ``σ``, held up while the residuals are large beside the gap.
"""

import math

import numpy as np
from numba import njit

from lbtheory.fluid.rates.base import Array

MM1, SMOOTH_MIN, EXPONENTIAL, HILL = 0, 1, 2, 3
RIF, LATENCY, GRADIENT = 0, 1, 2


@njit(cache=True, error_model="numpy")
def price(code: int, cost: int, a: float, b: float, c: float, k: float, z: float) -> tuple[float, float]:
    """``p'(z)`` and ``p''(z)``; parameters in the order of the family's fields."""
    if code == MM1:
        spare = a - z
        if cost == LATENCY:
            return b / spare, b / (spare * spare)
        if cost == GRADIENT:
            return b * a / (spare * spare), 2 * b * a / (spare * spare * spare)
        return b * z / spare / k, b * a / (spare * spare) / k
    if code == SMOOTH_MIN:
        free = b - a * z
        if cost == LATENCY:
            return a * (1 + c / free), a * a * c / (free * free)
        if cost == GRADIENT:
            return a * (1 + c * b / (free * free)), 2 * a * a * c * b / (free * free * free)
        return (a * z + c * a * z / free) / k, a * (1 + c * b / (free * free)) / k
    if code == EXPONENTIAL:
        spare = a - z
        n = -b * math.log1p(-z / a)
        if cost == GRADIENT:
            return b / spare, b / (spare * spare)
        if cost == RIF:
            return n / k, b / spare / k
        x = z / a
        if x < 1e-4:
            return b / a * (1 + x / 2 + x * x / 3), b / (a * a) * (0.5 + 2 * x / 3 + 0.75 * x * x)
        return n / z, (b / spare - n / z) / z
    spare = a - z
    n = b * (z / spare) ** (1 / c)
    slope = n * a / (c * z * spare)
    if cost == RIF:
        return n / k, slope / k
    if cost == LATENCY:
        return n / z, (slope - n / z) / z
    return slope, slope * (a / (c * z * spare) - 1 / z + 1 / spare)


@njit(cache=True, error_model="numpy")
def prices(codes: Array, cost: int, parameters: Array, replicas: Array, z: Array, f: Array, h: Array) -> None:
    """``p'`` and ``p''`` of every cell into ``f`` and ``h``."""
    for j in range(len(z)):
        f[j], h[j] = price(codes[j], cost, parameters[j, 0], parameters[j, 1], parameters[j, 2], replicas[j], max(z[j], 1e-300))


@njit(cache=True, error_model="numpy")
def first_flows(arrivals: Array, allowed: Array, capacity: Array, y: Array, z: Array) -> None:
    """Flows in proportion to capacities; inflows near them, well inside ``(0, μ̄)``."""
    z[:] = 0.0
    for i in range(len(arrivals)):
        total = 0.0
        for j in range(len(capacity)):
            if allowed[i, j]:
                total += capacity[j]
        for j in range(len(capacity)):
            y[i, j] = arrivals[i] * capacity[j] / total if allowed[i, j] else 0.0
            z[j] += y[i, j]
    for j in range(len(capacity)):
        z[j] = min(max(z[j], 0.05 * capacity[j]), 0.8 * capacity[j])


@njit(cache=True, error_model="numpy")
def first_prices(g: Array, allowed: Array, q: Array, u: Array, s: Array) -> None:
    """Multipliers below every cost by half the mean spread of costs; reduced costs to match."""
    spread, size = 0.0, 0.0
    for i in range(len(u)):
        low, high = np.inf, -np.inf
        for j in range(len(q)):
            if allowed[i, j]:
                low, high = min(low, q[j] + g[i, j]), max(high, q[j] + g[i, j])
        u[i] = low
        spread += (high - low) / len(u)
        size += low / len(u)
    for i in range(len(u)):
        u[i] -= 0.5 * max(spread, 0.1 * size)
        for j in range(len(q)):
            s[i, j] = q[j] + g[i, j] - u[i] if allowed[i, j] else 1.0


@njit(cache=True, error_model="numpy")
def normalised_inflow(arrivals: Array, allowed: Array, y: Array, inflow: Array) -> bool:
    """Inflow with every row scaled to ``λ_i``; False while a row is off by more than a millionth."""
    inflow[:] = 0.0
    fine = True
    for i in range(len(arrivals)):
        total = 0.0
        for j in range(len(inflow)):
            total += y[i, j]
        if not abs(total - arrivals[i]) < 1e-6 * arrivals[i]:
            fine = False
        for j in range(len(inflow)):
            inflow[j] += y[i, j] * arrivals[i] / total
    return fine


@njit(cache=True, error_model="numpy")
def wardrop(arrivals: Array, g: Array, allowed: Array, y: Array, f: Array) -> tuple[float, float]:
    """``Σ y_ij (c_ij − min_k c_ik)`` and ``Σ y_ij c_ij`` at scaled rows; ``f`` are the prices at the inflow."""
    lost, paid = 0.0, 0.0
    for i in range(len(arrivals)):
        low, total, spent = np.inf, 0.0, 0.0
        for j in range(len(f)):
            if allowed[i, j]:
                cost = f[j] + g[i, j]
                low = min(low, cost)
                total += y[i, j]
                spent += y[i, j] * cost
        lost += (spent - total * low) * arrivals[i] / total
        paid += spent * arrivals[i] / total
    return lost, paid


@njit(cache=True, error_model="numpy")
def cholesky(a: Array) -> bool:
    """Lower factor in place; False where the matrix is not positive definite to working precision.

    The inner loops run along rows, so they are vectorised without reordering any sum.
    """
    n = len(a)
    column = np.empty(n)
    for j in range(n):
        if not a[j, j] > 0:
            return False
        d = math.sqrt(a[j, j])
        for i in range(j, n):
            a[i, j] /= d
            column[i] = a[i, j]
        for i in range(j + 1, n):
            t = column[i]
            for k in range(j + 1, i + 1):
                a[i, k] -= t * column[k]
    return True


@njit(cache=True, error_model="numpy")
def back(a: Array, x: Array) -> None:
    """``x ← (a aᵀ)⁻¹ x``, ``a`` lower triangular."""
    n = len(x)
    for i in range(n):
        t = x[i]
        for k in range(i):
            t -= a[i, k] * x[k]
        x[i] = t / a[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= a[i, i]
        for k in range(i):
            x[k] -= a[i, k] * x[i]


@njit(cache=True, error_model="numpy")
def normal_matrix(d: Array, w: Array, curve: Array) -> Array:
    """``diag(Σ_j D) − D diag(w) Dᵀ``.

    Its diagonal is ``Σ_j D_ij (1 + H_j Σ_{k≠i} D_kj)/(1 + H_j Σ_k D_kj)``, which does not cancel when ``H_j D_ij`` is huge.
    """
    m, n = d.shape
    a, across = np.zeros((m, m)), np.ascontiguousarray(d.T)
    for i in range(m):
        for j in range(n):
            t = d[i, j] * w[j]
            if t != 0.0:
                for k in range(i):
                    a[i, k] -= t * across[j, k]
    others = np.zeros((m, n))
    for j in range(n):
        before, after = 0.0, 0.0
        for i in range(m):
            others[i, j] += before
            before += d[i, j]
            others[m - 1 - i, j] += after
            after += d[m - 1 - i, j]
    for i in range(m):
        for j in range(n):
            a[i, i] += d[i, j] * (1 + curve[j] * others[i, j]) / (1 + curve[j] * (others[i, j] + d[i, j]))
        a[i, i] *= 1 + 1e-15
    return a


@njit(cache=True, error_model="numpy")
def advance(
    arrivals: Array,
    g: Array,
    allowed: Array,
    capacity: Array,
    f: Array,
    h: Array,
    y: Array,
    s: Array,
    u: Array,
    z: Array,
    q: Array,
    last: float,
    hold: float,
) -> float:
    """One predictor-corrector step; returns its length, 0 where the matrix cannot be factorised.

    ``f``, ``h`` are ``p'``, ``p''`` at ``z``; ``last`` the length before; ``hold`` how firmly the gap is held while
    residuals last.
    """
    m, n = g.shape
    d, r = np.zeros((m, n)), np.zeros((m, n))
    dy, ds = np.zeros((m, n)), np.zeros((m, n))
    curve, miss, w, column, dz = np.empty(n), np.empty(n), np.empty(n), np.zeros(n), np.empty(n)
    rows, inflow, du = np.empty(m), -z, np.empty(m)
    arcs, gap, paid = 0, 0.0, 0.0
    for j in range(n):
        curve[j], miss[j] = q[j] * h[j] / f[j], q[j] * math.log(f[j] / q[j])
        paid += z[j] * q[j]
    for i in range(m):
        rows[i] = arrivals[i]
        for j in range(n):
            if allowed[i, j]:
                arcs += 1
                gap += y[i, j] * s[i, j]
                paid += y[i, j] * g[i, j]
                rows[i] -= y[i, j]
                inflow[j] += y[i, j]
                d[i, j] = y[i, j] / s[i, j]
                column[j] += d[i, j]
    residual = (np.abs(rows).sum() + np.abs(inflow).sum()) / arrivals.sum()
    for j in range(n):
        w[j] = curve[j] / (1 + curve[j] * column[j])
        residual = max(residual, abs(miss[j]) / q[j])
    a = normal_matrix(d, w, curve)
    if not cholesky(a):
        return 0.0
    mu, sigma, second, alpha = gap / arcs, 0.0, 1.0, 1.0
    for phase in range(2):
        b = inflow.copy()
        for i in range(m):
            du[i] = rows[i]
            for j in range(n):
                if allowed[i, j]:
                    aim = sigma * mu - (second * dy[i, j] * ds[i, j] if phase == 1 else 0.0)
                    r[i, j] = aim / y[i, j] - (q[j] + g[i, j] - u[i]) - miss[j]
                    b[j] += d[i, j] * r[i, j]
                    du[i] -= d[i, j] * r[i, j]
        for i in range(m):
            for j in range(n):
                du[i] += d[i, j] * w[j] * b[j]
        back(a, du)
        alpha = 1.0
        for j in range(n):
            for i in range(m):
                b[j] += d[i, j] * du[i]
            dz[j] = b[j] / (1 + curve[j] * column[j])
            if dz[j] > 0:
                alpha = min(alpha, (capacity[j] - z[j]) / dz[j])
            elif dz[j] < 0:
                alpha = min(alpha, -z[j] / dz[j])
            rise = curve[j] * dz[j] + miss[j]
            if rise < 0:
                alpha = min(alpha, -q[j] / rise)
        for i in range(m):
            for j in range(n):
                if allowed[i, j]:
                    aim = sigma * mu - (second * dy[i, j] * ds[i, j] if phase == 1 else 0.0)
                    dy[i, j] = d[i, j] * (r[i, j] - curve[j] * dz[j] + du[i])
                    ds[i, j] = aim / y[i, j] - s[i, j] - dy[i, j] / d[i, j]
                    if dy[i, j] < 0:
                        alpha = min(alpha, -y[i, j] / dy[i, j])
                    if ds[i, j] < 0:
                        alpha = min(alpha, -s[i, j] / ds[i, j])
        if phase == 0:
            after = 0.0
            for i in range(m):
                for j in range(n):
                    if allowed[i, j]:
                        after += (y[i, j] + alpha * dy[i, j]) * (s[i, j] + alpha * ds[i, j])
            sigma = min(max((after / gap) ** 3, 1e-6), 1.0)
            sigma = max(sigma, min(0.9, hold * residual * paid / gap))
            if last < 0.1:
                sigma, second = max(sigma, 0.5), 0.0
    alpha = min(1.0, 0.99 * alpha)
    for i in range(m):
        u[i] += alpha * du[i]
        for j in range(n):
            if allowed[i, j]:
                y[i, j] += alpha * dy[i, j]
                s[i, j] += alpha * ds[i, j]
    for j in range(n):
        q[j] += alpha * (curve[j] * dz[j] + miss[j])
        z[j] += alpha * dz[j]
    return alpha


@njit(cache=True, error_model="numpy")
def keep_best(
    arrivals: Array, g: Array, allowed: Array, y: Array, f: Array, best: Array, least: float, stale: int
) -> tuple[float, int]:
    """Copy ``y`` into ``best`` if its Wardrop gap is below ``least``; the least gap, and the iterations since it was found."""
    lost, paid = wardrop(arrivals, g, allowed, y, f)
    if lost < least * paid:
        best[:, :] = y
        return lost / paid, 0
    return least, stale + 1


@njit(cache=True, error_model="numpy")
def settled(least: float, stale: int, tolerance: float) -> bool:
    """Whether the gap is small enough, or small and no longer falling."""
    return least <= tolerance or (stale > 8 and least < 1e-6)


@njit(cache=True, error_model="numpy")
def solve_compiled(
    arrivals: Array,
    g: Array,
    allowed: Array,
    capacity: Array,
    codes: Array,
    parameters: Array,
    replicas: Array,
    cost: int,
    tolerance: float,
    limit: int,
    hold: float,
    y: Array,
    best: Array,
) -> tuple[int, float]:
    """The whole iteration for families that `price` knows; ``best`` holds the flows of least gap.

    Returns the number of iterations and the Wardrop gap of ``best``.
    """
    m, n = g.shape
    z, q, f, h, inflow = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    u, s = np.empty(m), np.empty((m, n))
    first_flows(arrivals, allowed, capacity, y, z)
    prices(codes, cost, parameters, replicas, z, q, h)
    first_prices(g, allowed, q, u, s)
    least, alpha, stale = np.inf, 1.0, 0
    for iteration in range(limit):
        if normalised_inflow(arrivals, allowed, y, inflow) and (inflow < capacity).all():
            prices(codes, cost, parameters, replicas, inflow, f, h)
            least, stale = keep_best(arrivals, g, allowed, y, f, best, least, stale)
            if settled(least, stale, tolerance):
                return iteration, least
        prices(codes, cost, parameters, replicas, z, f, h)
        alpha = advance(arrivals, g, allowed, capacity, f, h, y, s, u, z, q, alpha, hold)
        if not alpha > 0:
            return iteration, least
    return limit, least
