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

from lbtheory.fluid.equilibrium._prices import prices
from lbtheory.fluid.rates.base import Array

BLOCK = 48
"""Columns of a block of the Cholesky factor."""
ROOM = 1.2
"""A step leaves at least ``1 − 1/ROOM`` of a cell's spare capacity: prices follow inflows with a delay."""


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
def subtract_product(c: Array, a: Array, b: Array) -> None:
    """``c ← c − a b`` on the lower triangle (and at most one place above it in each row).

    Two rows and four terms at a time, so that a row of ``b`` is read once for both; vectorised along rows.
    """
    m, terms = a.shape
    for i in range(0, m, 2):
        last = min(i + 1, m - 1)
        upper, lower = c[i], c[last]
        for k in range(0, terms - 3, 4):
            t0, t1, t2, t3 = a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3]
            s0, s1, s2, s3 = a[last, k], a[last, k + 1], a[last, k + 2], a[last, k + 3]
            b0, b1, b2, b3 = b[k], b[k + 1], b[k + 2], b[k + 3]
            if last > i:
                for j in range(last + 1):
                    upper[j] -= (t0 * b0[j] + t1 * b1[j]) + (t2 * b2[j] + t3 * b3[j])
                    lower[j] -= (s0 * b0[j] + s1 * b1[j]) + (s2 * b2[j] + s3 * b3[j])
            else:
                for j in range(i + 1):
                    upper[j] -= (t0 * b0[j] + t1 * b1[j]) + (t2 * b2[j] + t3 * b3[j])
        for k in range(terms - terms % 4, terms):
            t0, s0 = a[i, k], a[last, k]
            for j in range(last + 1):
                upper[j] -= t0 * b[k, j]
            if last > i:
                for j in range(last + 1):
                    lower[j] -= s0 * b[k, j]


@njit(cache=True, error_model="numpy")
def cholesky(a: Array) -> bool:
    """Lower factor in place, by blocks of columns; False where the matrix is not positive definite to working precision."""
    n = len(a)
    column = np.empty(n)
    for start in range(0, n, BLOCK):
        end = min(start + BLOCK, n)
        for j in range(start, end):
            if not a[j, j] > 0:
                return False
            d = math.sqrt(a[j, j])
            for i in range(j, n):
                a[i, j] /= d
                column[i] = a[i, j]
            for i in range(j + 1, n):
                t = column[i]
                for k in range(j + 1, min(i + 1, end)):
                    a[i, k] -= t * column[k]
        if end < n:
            panel = a[end:, start:end].copy()
            subtract_product(a[end:, end:], panel, panel.T.copy())
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
    a = np.zeros((m, m))
    subtract_product(a, d * w, d.T.copy())
    for i in range(m):
        a[i, i] = 0.0
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
def inverses(allowed: Array, y: Array, s: Array, by_y: Array, by_s: Array, d: Array) -> None:
    """``1/y``, ``1/s`` and ``D = y/s``, all 0 where there is no arc, so that no later loop has to ask."""
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            here = allowed[i, j]
            by_y[i, j], by_s[i, j] = 1 / y[i, j] if here else 0.0, 1 / s[i, j] if here else 0.0
            d[i, j] = y[i, j] * by_s[i, j]


@njit(cache=True, error_model="numpy")
def direction(
    goal: tuple[float, float],
    factor: Array,
    rows: Array,
    inflow: Array,
    cells: tuple[Array, Array, Array],
    g: Array,
    arcs: tuple[Array, Array, Array, Array, Array, Array],
    q: Array,
    u: Array,
    du: Array,
    dz: Array,
) -> None:
    """A Newton step towards ``y s = σμ − κ dy ds``, ``goal = (σμ, κ)``, ``dy ds`` those of the step before; fills the steps.

    ``cells`` are the curvature ``H``, the defect of ``log q`` times ``q``, and ``w/H``; ``arcs`` are ``s``, ``1/y``, ``D``,
    ``dy``, ``ds`` and a scratch array; ``factor`` is the Cholesky factor of `normal_matrix`.
    """
    (aim, second), (curve, miss, slack), (s, by_y, d, dy, ds, r) = goal, cells, arcs
    m, n = g.shape
    b = inflow.copy()
    for i in range(m):
        for j in range(n):
            r[i, j] = (aim - second * dy[i, j] * ds[i, j]) * by_y[i, j]
            ds[i, j] = r[i, j] - s[i, j]  # less dy/D, below
            r[i, j] = d[i, j] * (r[i, j] - (q[j] + g[i, j] - u[i]) - miss[j])
            b[j] += r[i, j]
        du[i] = rows[i] - r[i].sum()
    for j in range(n):
        dz[j] = curve[j] * slack[j] * b[j]
    for i in range(m):
        t = 0.0
        for j in range(n):
            t += d[i, j] * dz[j]
        du[i] += t
    back(factor, du)
    for i in range(m):
        for j in range(n):
            b[j] += d[i, j] * du[i]
    for j in range(n):
        dz[j] = b[j] * slack[j]
        b[j] = curve[j] * dz[j]
    for i in range(m):
        for j in range(n):
            dy[i, j] = r[i, j] + d[i, j] * (du[i] - b[j])
            ds[i, j] -= dy[i, j] * s[i, j] * by_y[i, j]


@njit(cache=True, error_model="numpy")
def longest_step(
    capacity: Array,
    z: Array,
    q: Array,
    dz: Array,
    rise: Array,
    by_y: Array,
    by_s: Array,
    dy: Array,
    ds: Array,
) -> float:
    """The longest step that keeps flows, reduced costs, prices and inflows nonnegative, and some of the spare capacity."""
    most = 1e-3
    for j in range(len(z)):
        most = max(most, ROOM * dz[j] / (capacity[j] - z[j]), -dz[j] / z[j], -rise[j] / q[j])
    for i in range(dy.shape[0]):
        for j in range(dy.shape[1]):
            most = max(most, -dy[i, j] * by_y[i, j], -ds[i, j] * by_s[i, j])
    return 1 / most


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
    scratch: Array,
) -> float:
    """One predictor-corrector step; returns its length, 0 where the matrix cannot be factorised.

    ``f``, ``h`` are ``p'``, ``p''`` at ``z``; ``last`` the length before; ``hold`` how firmly the gap is held while
    residuals last; ``scratch`` (6, m, n) is overwritten.
    """
    m, n = g.shape
    by_y, by_s, d, dy, ds, r = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
    inverses(allowed, y, s, by_y, by_s, d)
    curve, miss = q * h / f, q * np.log(f / q)
    rows, inflow, column, du, dz = arrivals.copy(), -z, np.zeros(n), np.empty(m), np.empty(n)
    gap, paid = 0.0, (z * q).sum()
    for i in range(m):
        for j in range(n):
            gap += y[i, j] * s[i, j]
            paid += y[i, j] * g[i, j]
            rows[i] -= y[i, j]
            inflow[j] += y[i, j]
            column[j] += d[i, j]
    slack = 1 / (1 + curve * column)
    residual = max((np.abs(rows).sum() + np.abs(inflow).sum()) / arrivals.sum(), np.max(np.abs(miss) / q))
    factor = normal_matrix(d, curve * slack, curve)
    if not cholesky(factor):
        return 0.0
    cells, arcs = (curve, miss, slack), (s, by_y, d, dy, ds, r)
    dy[:], ds[:] = 0.0, 0.0
    direction((0.0, 0.0), factor, rows, inflow, cells, g, arcs, q, u, du, dz)
    alpha = min(1.0, longest_step(capacity, z, q, dz, curve * dz + miss, by_y, by_s, dy, ds))
    after = 0.0
    for i in range(m):
        for j in range(n):
            after += (y[i, j] + alpha * dy[i, j]) * (s[i, j] + alpha * ds[i, j])
    sigma, second = min(max((after / gap) ** 3, 1e-6), 1.0), 1.0
    sigma = max(sigma, min(0.9, hold * residual * paid / gap))
    if last < 0.1:
        sigma, second = max(sigma, 0.5), 0.0
    direction((sigma * gap / allowed.sum(), second), factor, rows, inflow, cells, g, arcs, q, u, du, dz)
    rise = curve * dz + miss
    alpha = min(1.0, 0.99 * longest_step(capacity, z, q, dz, rise, by_y, by_s, dy, ds))
    for i in range(m):
        u[i] += alpha * du[i]
        for j in range(n):
            y[i, j] += alpha * dy[i, j]
            s[i, j] += alpha * ds[i, j] if allowed[i, j] else 0.0
    q += alpha * rise
    z += alpha * dz
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
def iterate(
    problem: tuple[Array, Array, Array, Array],
    codes: Array,
    parameters: Array,
    replicas: Array,
    cost: int,
    state: tuple[Array, Array, Array, Array, Array, Array],
    best: Array,
    tolerance: float,
    limit: int,
    hold: float,
) -> tuple[int, float]:
    """Iterations from ``state`` on, which moves, for families that `prices` knows; ``best`` holds the flows of least gap.

    ``problem`` is ``λ``, ``g``, the allowed arcs and ``μ̄``; ``state`` is ``y``, ``s``, ``u``, ``z``, ``q`` and a scratch array.
    Returns the number of iterations and the Wardrop gap of ``best``.
    """
    (arrivals, g, allowed, capacity), (y, s, u, z, q, scratch) = problem, state
    n = len(z)
    f, h, inflow = np.empty(n), np.empty(n), np.empty(n)
    least, alpha, stale = np.inf, 1.0, 0
    for iteration in range(limit):
        if normalised_inflow(arrivals, allowed, y, inflow) and (inflow < capacity).all():
            prices(codes, cost, parameters, replicas, inflow, f, h)
            least, stale = keep_best(arrivals, g, allowed, y, f, best, least, stale)
            if settled(least, stale, tolerance):
                return iteration, least
        prices(codes, cost, parameters, replicas, z, f, h)
        alpha = advance(arrivals, g, allowed, capacity, f, h, y, s, u, z, q, alpha, hold, scratch)
        if not alpha > 0:
            return iteration, least
    return limit, least
