"""Compiled fit of a softplus latency model to binned latencies (see `lbtheory.estimate.softplus_fit` for the problem)."""

import math

from lbtheory.core.jit import inlined, kernel

ROUNDS, SMALLEST_STEP, LARGEST_STEP = 60, 1e-6, 1.0
LOWEST, HIGHEST = math.log(1e-9), math.log(1e9)
WORK = (12, 4)
"""Shape of the scratch array."""


@inlined
def _latency(a, b, k, w, n):  # type: ignore[no-untyped-def]
    """``ℓ(n)``, and what its gradient is made of: (ℓ, sp(u), σ(u), u)."""
    u = (n - k) / w
    small = math.exp(-abs(u))
    soft = max(u, 0.0) + math.log1p(small)
    share = 1.0 / (1.0 + small) if u >= 0 else small / (1.0 + small)
    return a + b * w * soft, soft, share, u


@kernel
def objective(theta, loads, logs, weights, count, prior, pull):  # type: ignore[no-untyped-def]
    """``Σ_b w_b (log ℓ(n_b) − log y_b)² + pull Σ_p (log θ_p − log θ^prior_p)²``."""
    total = 0.0
    a, b, k, w = math.exp(theta[0]), math.exp(theta[1]), math.exp(theta[2]), math.exp(theta[3])
    for i in range(count):
        gap = math.log(_latency(a, b, k, w, loads[i])[0]) - logs[i]
        total += weights[i] * gap * gap
    for p in range(4):
        total += pull * (theta[p] - prior[p]) ** 2
    return total


@kernel
def _add(work, slope, gap, weight, tied):  # type: ignore[no-untyped-def]
    """One residual with its gradient; tied, ``log k`` moves with ``log a − log b`` and not by itself."""
    if tied:
        slope[0] += slope[2]
        slope[1] -= slope[2]
        slope[2] = 0.0
    for p in range(4):
        work[4, p] -= weight * gap * slope[p]
        for q in range(4):
            work[p, q] += weight * slope[p] * slope[q]


@kernel
def _normal_equations(theta, loads, logs, weights, count, prior, pull, tied, work):  # type: ignore[no-untyped-def]
    """``JᵀWJ`` into rows 0–3 and ``−JᵀWr`` into row 4."""
    slope = work[11]
    for p in range(5):
        for q in range(4):
            work[p, q] = 0.0
    for p in range(4):
        for q in range(4):
            slope[q] = 1.0 if p == q else 0.0
        _add(work, slope, theta[p] - prior[p], pull, tied)
    a, b, k, w = math.exp(theta[0]), math.exp(theta[1]), math.exp(theta[2]), math.exp(theta[3])
    for i in range(count):
        latency, soft, share, u = _latency(a, b, k, w, loads[i])
        gap = math.log(latency) - logs[i]
        slope[0] = a / latency
        slope[1] = b * w * soft / latency
        slope[2] = -b * k * share / latency
        slope[3] = b * w * (soft - u * share) / latency
        _add(work, slope, gap, weights[i], tied)


@kernel
def _solve(work, damping):  # type: ignore[no-untyped-def]
    """Solve ``(A + damping·diag(A)) step = g`` by Cholesky's method (factor in rows 7–10) into row 5; False if singular."""
    low = work[7:11]
    for p in range(4):
        for q in range(p + 1):
            total = work[p, q] * (1.0 + damping if p == q else 1.0)
            if p == q:
                total += 1e-12
            for c in range(q):
                total -= low[p, c] * low[q, c]
            if p == q:
                if total <= 0:
                    return False
                low[p, p] = math.sqrt(total)
            else:
                low[p, q] = total / low[q, q]
    for p in range(4):
        total = work[4, p]
        for c in range(p):
            total -= low[p, c] * work[5, c]
        work[5, p] = total / low[p, p]
    for p in range(3, -1, -1):
        total = work[5, p]
        for c in range(p + 1, 4):
            total -= low[c, p] * work[5, c]
        work[5, p] = total / low[p, p]
    return True


@kernel
def descend(theta, loads, logs, weights, count, prior, pull, tie, work):  # type: ignore[no-untyped-def]
    """Levenberg–Marquardt from ``theta`` (logarithms), which is overwritten; returns the objective, which never grows.

    ``tie`` is ``log(1 + δ)`` to keep ``k = a/(b(1 + δ))``, or NaN.
    """
    tied = tie == tie
    if tied:
        theta[2] = theta[0] - theta[1] - tie
    best = objective(theta, loads, logs, weights, count, prior, pull)
    damping = 1e-3
    trial = work[6]
    for _ in range(ROUNDS):
        _normal_equations(theta, loads, logs, weights, count, prior, pull, tied, work)
        improved = False
        value, longest = best, 0.0
        while damping < 1e9:
            if _solve(work, damping):
                longest = 0.0
                for p in range(4):
                    move = min(max(work[5, p], -LARGEST_STEP), LARGEST_STEP)
                    trial[p] = min(max(theta[p] + move, LOWEST), HIGHEST)
                if tied:
                    trial[2] = trial[0] - trial[1] - tie
                for p in range(4):
                    longest = max(longest, abs(trial[p] - theta[p]))
                value = objective(trial, loads, logs, weights, count, prior, pull)
                if value <= best:
                    improved = True
                    damping = max(damping / 10.0, 1e-12)
                    break
            damping *= 10.0
        if not improved:
            return best
        small = best - value <= 1e-9 * (1e-12 + best) or longest < SMALLEST_STEP
        best = value
        for p in range(4):
            theta[p] = trial[p]
        if small:
            return best
    return best


@kernel
def fit(theta, loads, logs, weights, count, prior, pull, margin, work):  # type: ignore[no-untyped-def]
    """The fit with ``a ≥ (1 + δ) bk``: the free one, or where that violates it, the best on the boundary."""
    value = descend(theta, loads, logs, weights, count, prior, pull, math.nan, work)
    tie = math.log1p(margin)
    if theta[2] > theta[0] - theta[1] - tie:
        value = descend(theta, loads, logs, weights, count, prior, pull, tie, work)
    return value
