"""Thresholds of Theorem 1: above ``N̄_j`` a cost is small against its gap and varies slowly (Lemmas 6 and 7, Proposition 1).

``h_j = 2 τ_j^max v_j``, ``v_j = max(Λ_j, μ̄_j)``, ``ρ_j = min(1, m_j/(8Λ_j))``; for all ``N ≥ N̄_j``

- (T1) ``f_j(N) ≤ (2/m_j) D_j(N)``, and
- (T2) ``f_j(N + h_j) ≤ (1 + ρ_j) f_j(N)``.

The paper asks for ``m_j/(16Λ_j)``, for it charges the mismatch to the gaps at both endpoints; the smaller of them is enough.
``N̄_j = max{μ_j⁻¹(μ*_j + ¾ m_j), f_j⁻¹(3f*_j), N^(2)_j}`` (ours): there ``(1 − f*/f) · ¾m ≥ ½m``. ``N^(2)_j`` is the least
``N`` from which (T2) is known: where ``log f_j`` is concave, ``f(N+h)/f(N)`` falls, so that one inequality is enough;
elsewhere a nonincreasing bound ``r`` of ``f'/f`` with ``h r(N) ≤ log(1 + ρ)``. Every latency has ``r = 1/N``, for ``(log ℓ)'
= 1/N − μ'/μ``.

**K_4 = 0** with either choice (ours), ``K_4 = Σ_j sup_N [E_j e_j(N + h') − Φ_j(N)]⁺``, ``e_j = (f_j − f̂_j)⁺``, ``E_j = Σ_i
λ_i τ_ij``, ``h' = 2τ_j^max μ̄_j ≤ h_j``. Where the bracket's first term is positive, ``x = N + h' > N̄_j + h_j``, so that
``N`` and ``x − h_j`` are above ``N̄_j`` and ``f'(x)/f(x) ≤ log(1 + ρ_j)/h_j``: by concavity it is at most the mean slope of
``log f`` over ``[x − h_j, x]``, with a bound ``r`` at once. Hence ``E_j f'(x) ≤ (E_j/h_j) ρ_j (1 + ρ_j) f_j(N)``, and
``E_j/h_j ≤ Λ_j/(2v_j)``, ``ρ_j ≤ m_j/(8Λ_j)``, ``m_j ≤ v_j``, ``ρ_j ≤ 1`` make it at most ``f_j(N)/8 < f_j(N) − f*_j =
Φ_j'(N)``: the bracket falls there, from a value ``≤ 0``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite, log1p

import numpy as np

from lbtheory.core import readonly
from lbtheory.fluid.costs import CellCost
from lbtheory.fluid.guarantee.gaps import Gaps
from lbtheory.fluid.rates import Softplus

Array = np.ndarray

OURS, PAPER = 8, 16
"""Divisor in ``ρ_j``: ours, and the paper's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """``N̄_j`` and what comes with it.

    Attributes
    ----------
    workloads : float array (n,)
        ``N̄_j``; infinite where none is known, with the reason in ``why``.
    step : float array (n,)
        ``h_j``, requests.
    fraction : float array (n,)
        ``ρ_j``.
    below, above : float arrays (n,)
        ``f_j(N̄_j)`` and ``f̂_j = f_j(N̄_j + h_j)``.
    why : tuple of str
        One a cell; empty where the threshold is known.
    """

    workloads: Array
    step: Array
    fraction: Array
    below: Array
    above: Array
    why: tuple[str, ...]


def thresholds(of: Gaps, divisor: int = OURS, step: Array | None = None) -> Thresholds:
    """``N̄_j``, ``h_j``, ``ρ_j`` of every cell (ours, proved).

    Parameters
    ----------
    of : Gaps
    divisor : int
        8, or 16 as in the paper.
    step : float array (n,), optional
        ``h_j``; the paper's is ``2 v τ̄`` with ``v = max_j v_j`` for every cell.
    """
    with np.errstate(divide="ignore"):
        fraction = np.minimum(1.0, np.where(of.offered > 0, of.spare / (divisor * of.offered), 1.0))
    width = 2 * of.longest * np.maximum(of.offered, of.network.capacities) if step is None else np.asarray(step, dtype=float)
    bars, below, above, why = [], [], [], []
    for j, cost in enumerate(of.costs):
        least, reason = _slow_from(cost, float(width[j]), float(fraction[j]))
        bar = inf
        if not reason:
            rate = cost.rate.inverse(min(of.rates[j] + 0.75 * of.spare[j], np.nextafter(cost.rate.capacity_limit, 0)))
            bar = max(float(rate), float(cost.inverse(3 * of.values[j])), least)
            if not isfinite(bar):
                reason = "its threshold exceeds the range of doubles"
        bars.append(bar)
        why.append(f"cell {of.network.cell_names[j]!r}: {reason}" if reason else "")
        below.append(float(cost.value(bar)) if isfinite(bar) else inf)
        above.append(float(cost.value(bar + width[j])) if isfinite(bar) else inf)
    return Thresholds(
        workloads=readonly(bars),
        step=readonly(width),
        fraction=readonly(fraction),
        below=readonly(below),
        above=readonly(above),
        why=tuple(why),
    )


def _slow_from(cost: CellCost, h: float, rho: float) -> tuple[float, str]:
    """``N^(2)``, the smaller of what concavity and a bound of ``f'/f`` give; and why there is none."""
    if h == 0:
        return 0.0, ""
    if not cost.shape.holds:
        return inf, f"its {cost.cost} cost fails Assumption 3 ({cost.shape.why})"
    found = []
    start = cost.shape.log_concave_from
    if start is not None:
        found.append(_least(lambda n: float(cost.value(n + h)) <= (1 + rho) * float(cost.value(n)), start))
    bound = _growth_bound(cost)
    if bound is not None:
        growth, start = bound
        found.append(_least(lambda n: h * growth(n) <= log1p(rho), start))
    if not found:
        return inf, f"no bound of f'/f is known for the {cost.cost} cost of {cost.rate.family}"
    return min(found), ""


def _growth_bound(cost: CellCost) -> tuple[Callable[[float], float], float] | None:
    """A nonincreasing ``r ≥ f'/f`` on ``[N, ∞)``, and ``N > 0``; None where none is known.

    Softplus, gradient: ``f'/f = −G'/G + 2ℓ'/ℓ ≤ (b/(w(a−bk))) N e^{−(N−k)/w} + 2b/ℓ``, whose first term falls from ``N = w``.
    """
    rate = cost.rate
    if cost.cost in ("rif", "latency"):
        return (lambda n: 1 / n), 1e-9
    if isinstance(rate, Softplus) and rate.margin > 0:
        factor = rate.b / (rate.w * rate.margin)

        def growth(n: float) -> float:
            return float(factor * n * np.exp(min(-(n - rate.k) / rate.w, 700.0)) + 2 * rate.b / float(rate.latency(n)))

        return growth, rate.w
    return None


def _least(holds: Callable[[float], bool], start: float) -> float:
    """Least ``N ≥ start`` from which a condition holds that, once true, stays true; to the last bit, from above."""
    if holds(start):
        return start
    low, high = start, max(2 * start, 1e-3)
    while not holds(high):
        low, high = high, 2 * high
        if high > 1e290:
            return inf
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return high
        low, high = (low, middle) if holds(middle) else (middle, high)
