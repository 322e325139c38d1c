"""Bounds free of ``B`` for IO_0, SpreadLex and LEVEL in rich supply (section 6.4.7, ours; proved).

**Hypotheses.** ``O ~ Geo(p)``; every size ``1 … s``, ``s ≥ 2``, waits in at least ``n = G B`` copies at every admission from
some time on; all slots are full. The first holds if ``liminf A(k)/k > n p/min_t P(S = t)``: by ``k`` at most ``n + W_{k−1}``
requests were admitted, ``W`` the ghost completions (``W_k/k → n p``), so that ``N_t(A(k)) − n − W_{k−1} ≥ n`` of each size wait
in the end. (For uniform sizes that is about ``s`` times overload. A range ``lo … hi`` is the case ``s = hi − lo + 1``.)

**One step.** Survivors ``a_g``, free slots ``c_g``: worker ``g`` can reach exactly ``a_g + c_g, …, a_g + s c_g``. If
``m = max_g (a_g + c_g) ≤ min_g (a_g + s c_g)`` all loads can be equal. Otherwise the maximum is at least ``m``, and each token
above adds ``G`` to ``G M`` but at most ``G − 1`` to ``Σ L_g``, as the worker of the least upper end gains nothing: IO_0 has the
one optimum ``L_g = min(m, a_g + s c_g)``. SpreadLex, which minimises the range first, has the same range. With
``E_g(t) = Σ_b (ξ_gb − p)(t − w_gb − 1)``, ``a_g + t c_g = q (L_g + B) + t B p + E_g(t)``, hence::

    D' = (m − min_g (a_g + s c_g))⁺ ≤ (q D + v)⁺,    v = max_g E_g(1) − min_g E_g(s) − (s − 1) B p.

LEVEL with an integer target ``T``: ``L' = clamp(T, a + c, a + s c)``, so with ``x = L − T``, ``β₊ = p T − B`` and
``β₋ = B + p B (s − 1) − p T``, ``x'⁺ ≤ (q x⁺ + E_g(1) − β₊)⁺`` and ``x'⁻ ≤ (q x⁻ − E_g(s) − β₋)⁺``. For
``T₀ = B((s + 1)/2 + q/p)`` both are ``β = B p (s − 1)/2``; for ``T = ⌊T₀⌋`` they are ``β ∓ p (T₀ − T)``.

**Moments.** Coins are independent of ``w = S + X``; sizes ``S`` may depend on all the past, ages ``X`` do not and are
independent, at most geometric. So exponential moments are at most ``B``-th powers of ``E_X max_S``. With ``Z = s + A_*`` both
``E e^{θ E_g(1)}`` and ``E e^{−θ E_g(s)}`` are at most ``e^{V' B θ²/2}`` for ``0 ≤ θ ≤ τ``, ``V' = p q E[Z² e^{τZ}]``. Exactly
(a positive sum of exponentials is convex, its maximum at an end)::

    M₁(θ) = E_X [p e^{−θq(s+X)} + q e^{θp(s+X)}]                                           for E_g(1)
    M₂(θ) = E_X max{h(X + 1), h(X + 2 − s)},  h(a) = p e^{θqa} + q e^{−θpa}                  for −E_g(s)

**Theorem.** ``(max_i Y_i − c)⁺ ≤ log(1 + Σ_i e^{θ(Y_i − c)})/θ`` and Jensen. With ``τ`` the root of ``V' τ = p (s − 1)`` the
powers cancel: for every ``B``, ``limsup Ī ≤ 2 (G − 1) log(1 + G)/(p τ)`` for IO_0 (any tie rule) and SpreadLex
(``I ≤ (G − 1) D``, ``limsup E D ≤ sup E v⁺/p``), and ``G [log(1 + G) + log 2]/(p τ)`` for LEVEL if ``T₀`` is an integer
(``I ≤ G max x⁺ + Σ x⁻``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, floor, inf, log, log1p

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from lbtheory.core import ParameterError, UnknownNameError, whole_number
from lbtheory.theory.arithmetic import probability
from lbtheory.theory.benchmark_law import benchmark_law, geometric
from lbtheory.theory.law import PromptLaw

RULES = ("io", "level")
"""``io``: IO_0 under any tie rule, and SpreadLex. ``level``: LEVEL with the constant target ``⌊T₀⌋``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneStep:
    """One iteration in rich supply, exactly.

    Attributes
    ----------
    loads : tuple of int
        Loads after it, tokens: IO_0's optimum where the range stays positive; otherwise one of its optima (all equal).
    range_before, range_after : int
        ``D`` and ``D'``, tokens.
    noise : Fraction
        ``v``, tokens.
    bound : Fraction
        ``(q D + v)⁺``, at least ``range_after``.
    """

    loads: tuple[int, ...]
    range_before: int
    range_after: int
    noise: Fraction
    bound: Fraction


def one_step(p: Fraction, s: int, workloads: Sequence[Sequence[int]], coins: Sequence[Sequence[int]]) -> OneStep:
    """IO_0's step with every size ``1 … s`` in supply, and the inequality ``D' ≤ (q D + v)⁺`` (ours; proved).

    Parameters
    ----------
    p : Fraction
    s : int
    workloads : (G, B) whole numbers
        ``w_gb`` before the iteration, tokens.
    coins : (G, B) of 0 and 1
        ``ξ_gb``: 1 where the slot completes.

    Raises
    ------
    ParameterError
    """
    exact, s = _checked("one_step", p, s)
    w, xi = np.asarray(workloads), np.asarray(coins)
    if w.ndim != 2 or w.size == 0 or w.shape != xi.shape or not all(np.issubdtype(x.dtype, np.integer) for x in (w, xi)):
        raise ParameterError(
            "`workloads` and `coins` of `one_step` must be whole numbers of one shape (workers, slots); got "
            f"{w.dtype} {w.shape} and {xi.dtype} {xi.shape}."
        )
    if (w < 1).any() or ((xi != 0) & (xi != 1)).any():
        raise ParameterError("`workloads` of `one_step` must be at least 1 and `coins` 0 or 1; got others.")
    before = w.sum(axis=1)
    survivors, free = np.where(xi == 1, 0, w + 1).sum(axis=1), xi.sum(axis=1)
    lower, upper = survivors + free, survivors + s * free
    loads = np.minimum(lower.max(), upper)
    gap = int(before.max() - before.min())
    e = [[_noise(exact, w[g], xi[g], t) for g in range(len(w))] for t in (1, s)]
    noise = max(e[0]) - min(e[1]) - (s - 1) * w.shape[1] * exact
    return OneStep(
        loads=tuple(int(load) for load in loads),
        range_before=gap,
        range_after=int(loads.max() - loads.min()),
        noise=noise,
        bound=max(Fraction(0), (1 - exact) * gap + noise),
    )


def _noise(p: Fraction, w: np.ndarray, xi: np.ndarray, t: int) -> Fraction:
    """``E_g(t) = Σ_b (ξ − p)(t − w − 1)`` of one worker."""
    done = int(((t - w - 1) * xi).sum())
    return done - p * int((t - w - 1).sum())


def supply_rate(p: Fraction | float, law: PromptLaw, workers: int, slots: int) -> Fraction:
    """``n p/min_t P(S = t)``, requests an iteration: above it every size is always in supply in the end (ours; proved).

    Raises
    ------
    ParameterError
        A size of ``1 … s`` that the law lacks: then no rate is enough.
    """
    exact = probability(p, "supply_rate")
    n = whole_number("workers", "supply_rate", workers, 1) * whole_number("slots", "supply_rate", slots, 1)
    if law.rarest == 0:
        raise ParameterError(f"`law` of `supply_rate` must give weight to every size 1 … {law.s}; got one that does not.")
    return n * exact / law.rarest


def drift_root(p: Fraction | float, s: int) -> float:
    """``τ`` with ``V' τ = p (s − 1)``, ``V' = p q E[(s + A_*)² e^{τ(s + A_*)}]``, one part in 10¹² below the root (ours).

    With ``r = q e^τ``, ``V' = p² q e^{τs} [s²/(1−r) + 2 s r/(1−r)² + r(1+r)/(1−r)³]``. Any smaller ``τ`` is valid too.

    Raises
    ------
    ParameterError
    """
    exact, s = _checked("drift_root", p, s)
    value = float(exact)
    limit = -log1p(-value)

    def surplus(tau: float) -> float:
        r, left = exp(tau - limit), -expm1(tau - limit)
        inside = s * s / left + 2 * s * r / left**2 + r * (1 + r) / left**3
        return log(value) + log1p(-value) + tau * s + log(inside) + log(tau) - log(s - 1)

    return (1 - 1e-12) * float(brentq(surplus, limit * 1e-13, limit * (1 - 1e-13), xtol=limit * 1e-16, rtol=1e-14))


def rich_bound(p: Fraction | float, s: int, workers: int, *, rule: str = "io", slots: int | None = None) -> float:
    """The theorem's bound on ``limsup Ī``, tokens, free of ``B`` (ours; proved).

    Parameters
    ----------
    p, s, workers
    rule : "io" or "level"
        IO_0 (any tie rule) and SpreadLex: ``2 (G − 1) log(1 + G)/(p τ)``. LEVEL with target ``⌊T₀⌋``, ``δ = T₀ − ⌊T₀⌋``:
        ``G [log(1 + G e^{pτδ}) + log(1 + e^{−pτδ})]/(p τ)``, and 0 at ``G = 1``.
    slots : int, optional
        ``B``, for LEVEL's ``δ``; without it the bound is one for every ``B`` (``δ`` 1 and 0).

    Raises
    ------
    ParameterError, UnknownNameError
    """
    exact, s = _checked("rich_bound", p, s)
    workers, rule = whole_number("workers", "rich_bound", workers, 1), _rule(rule)
    if workers == 1:
        return 0.0
    tau, value = drift_root(exact, s), float(exact)
    if rule == "io":
        return 2 * (workers - 1) * log1p(workers) / (value * tau)
    high, low = 1.0, 0.0
    if slots is not None:
        high = low = float(_target(exact, s, whole_number("slots", "rich_bound", slots, 1)) % 1)
    return workers * (log1p(workers * exp(value * tau * high)) + log1p(exp(-value * tau * low))) / (value * tau)


def rich_bound_at(p: Fraction | float, s: int, workers: int, slots: int, *, rule: str = "io") -> float:
    """The same with the exact moments ``M₁``, ``M₂`` at a given ``B``, each term at its best ``θ`` (ours; proved).

    For IO_0 and SpreadLex ``v⁺`` is the largest positive part of ``E_g(1) − E_h(s) − (s − 1) B p`` over the ``G (G − 1)`` pairs
    ``g ≠ h`` (at ``g = h`` it is ``−(s − 1) c_g ≤ 0``), with moments ``(M₁ M₂)^B``; ``y⁺ ≤ e^{θy − 1}/θ`` is used beside the
    logarithm. LEVEL has drifts ``β₊``, ``β₋``. Never above `rich_bound`, whose ``τ`` is one of the ``θ``; any ``θ`` gives a
    bound, so the search for it only affects how good it is.

    Raises
    ------
    ParameterError, UnknownNameError
    """
    exact, s = _checked("rich_bound_at", p, s)
    geometric(exact, "rich_bound_at")
    workers, slots = whole_number("workers", "rich_bound_at", workers, 1), whole_number("slots", "rich_bound_at", slots, 1)
    rule = _rule(rule)
    if workers == 1:
        return 0.0
    value = float(exact)
    limit = -log1p(-value)
    first, second = limit / value, limit / (1 - value)

    def one(theta: float) -> float:
        return slots * log_moment_up(value, s, theta)

    def two(theta: float) -> float:
        return slots * log_moment_down(value, s, theta)

    drift = float((s - 1) * slots * exact)
    if rule == "io":
        pairs = workers * (workers - 1)
        return (workers - 1) * _positive_part(pairs, drift, lambda theta: one(theta) + two(theta), min(first, second)) / value
    target = floor(_target(exact, s, slots))
    up, down = float(exact * target - slots), float(slots + (s - 1) * slots * exact - exact * target)
    return workers * (_positive_part(workers, up, one, first) + _positive_part(1, down, two, second)) / value


def log_moment_up(p: float, s: int, theta: float) -> float:
    """``log M₁(θ)``, ``M₁ = E_X [p e^{−θq(s+X)} + q e^{θp(s+X)}]``, ``0 < θ < −log(q)/p`` (ours)."""
    q, limit = 1 - p, -log1p(-p)
    fall = log(p) - theta * q * s + log(p) - log(-expm1(-theta * q - limit))
    rise = -limit + theta * p * s + log(p) - log(-expm1(theta * p - limit))
    return float(np.logaddexp(fall, rise))


def log_moment_down(p: float, s: int, theta: float) -> float:
    """``log M₂(θ)``, ``M₂ = E_X max{h(X+1), h(X+2−s)}``, ``h(a) = p e^{θqa} + q e^{−θpa}``, ``0 < θ < −log(q)/q`` (ours).

    ``h(X + 2 − s)`` is the larger only where ``X < s − 2``: ``h`` is convex with minimum 1 at 0.
    """
    q, limit = 1 - p, -log1p(-p)

    def h(a: np.ndarray) -> np.ndarray:
        return np.logaddexp(log(p) + theta * q * a, -limit - theta * p * a)

    x = np.arange(s - 2)
    age = log(p) - limit * x
    near = age + np.maximum(h(x + 1), h(x + 2 - s))
    start = s - 2
    far = log(p) - limit * start
    rise = far + log(p) + theta * q * (start + 1) - log(-expm1(theta * q - limit))
    fall = far - limit - theta * p * (start + 1) - log(-expm1(-theta * p - limit))
    return float(np.logaddexp.reduce(np.append(near, [rise, fall])))


def _positive_part(count: int, drift: float, log_moment: Callable[[float], float], limit: float) -> float:
    """Bound of ``E (max of count variables − drift)⁺``, each with ``E e^{θY} ≤ e^{log_moment(θ)}`` for ``0 < θ < limit``."""

    def value(log_theta: float) -> float:
        theta = exp(log_theta)
        total = log(count) - theta * drift + log_moment(theta)
        return min(float(np.logaddexp(0, total)), exp(total - 1) if total < 700 else inf) / theta

    grid = log(limit) + np.linspace(-14, -1e-6, 57)
    best = int(np.argmin([value(x) for x in grid]))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(value, bounds=ends, method="bounded", options={"xatol": 1e-9})
    return min(float(found.fun), value(grid[best]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """Where a bound falls below the benchmark.

    Attributes
    ----------
    slots : int
        The smallest ``B`` found with ``bound ≤ benchmark``; at ``slots − 1`` it does not hold.
    bound : float
        Of the rule, tokens.
    benchmark : float
        Exact ``Ī`` of size-blind FCFS, tokens.
    """

    slots: int
    bound: float
    benchmark: float


def smallest_slots(p: Fraction | float, law: PromptLaw, workers: int, *, rule: str = "io", limit: int = 10**6) -> Crossing:
    """From which ``B`` on `rich_bound_at` is below the exact FCFS law, by doubling and bisection (ours; the bound is proved).

    Raises
    ------
    ParameterError
        One worker, or no such ``B`` up to ``limit``.
    """
    exact, s = _checked("smallest_slots", p, law.s)
    if whole_number("workers", "smallest_slots", workers, 1) == 1:
        raise ParameterError("`workers` of `smallest_slots` must be at least 2; got 1, where there is no imbalance.")

    def both(slots: int) -> tuple[float, float]:
        return rich_bound_at(exact, s, workers, slots, rule=rule), benchmark_law(exact, law, slots).imbalance(workers)[0]

    high = 1
    while (pair := both(high))[0] > pair[1]:
        high *= 2
        if high > limit:
            raise ParameterError(f"`limit` of `smallest_slots` must be larger; up to {limit} slots the bound is above FCFS.")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        found = both(middle)
        if found[0] <= found[1]:
            high, pair = middle, found
        else:
            low = middle
    return Crossing(slots=high, bound=pair[0], benchmark=pair[1])


def _target(p: Fraction, s: int, slots: int) -> Fraction:
    """``T₀ = B((s + 1)/2 + q/p)``."""
    return slots * (Fraction(s + 1, 2) + (1 - p) / p)


def _rule(rule: str) -> str:
    if rule not in RULES:
        raise UnknownNameError("rule", rule, RULES)
    return rule


def _checked(function: str, p: Fraction | float, s: int) -> tuple[Fraction, int]:
    exact, s = probability(p, function), whole_number("s", function, s, 1)
    if s == 1:
        raise ParameterError(f"`s` of `{function}` must be at least 2; got 1. With one size there is nothing to control.")
    return exact, s
