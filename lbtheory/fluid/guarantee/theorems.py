"""Explicit constants of the theorems, and their bounds (DLB paper, Theorem 1 and appendix C.3; Theorems 1b, 2, 3 are ours).

Notation of `gaps` and `thresholds`; ``f̂_j = f_j(N̄_j + h_j)``. Every bound is of a time integral or average along every
trajectory of flow routing from the given start, whatever its routing before 0.
"""

from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from lbtheory.core import readonly
from lbtheory.fluid.guarantee.chords import steepest_chords
from lbtheory.fluid.guarantee.gaps import Gaps, Start
from lbtheory.fluid.guarantee.thresholds import OURS, Thresholds, thresholds

Array = np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem1:
    """``(1/T)∫_0^T (Σ_j D_j + 2Σ_i λ_i S_i) dt ≤ K_1/(T η_min) + G_1 η_max + K/T`` for ``η_i ≤ η_0`` (the paper's theorem;
    constants ours).

    ``M_j = max(f̂_j − f*_j, f*_j − f_j(0))``, ``A_i = 2λ_i Σ_j τ_ij M_j``, ``C_i = max_k(f_k(N̄_k) + g_ik) − min_k(f_k(0) +
    g_ik)``; ``η_0 = min_k m_k/(8 Σ_{i∈C⁻(k)} A_i)``, ``G_1 = 2Σ_i A_i C_i``, ``K_1 = Σ_i λ_i ‖x_i(0) − x*_i‖²``, ``K =
    2[Φ(N(0)) + 2Σ_i A_i + H + B + K_4]`` with ``H = ¼ Σ_k max_i ∫_{−τ_ik}^0 D_k``, ``e_j = (f_j − f̂_j)⁺``, ``B = Σ_ij λ_i
    [2τ_ij e_j(N_j(0) + 2τ_ij Λ_j) + τ_ij e_j(sup_{s<0} N_j)]`` and ``K_4 = 0`` (see `thresholds`).

    Proof: integrate the drift identity of ``V + Φ``; split ``F_j`` at ``f̂_j``. Bounded part: shift the routing by ``2τ_ij``,
    and ``|x'_ij| ≤ η_i osc(ĉ_i) ≤ η_i [C_i + Σ_k (2/m_k) D_k(s − τ_ik)]``, a quarter of ``∫ΣD`` by ``η ≤ η_0``. Tail: shift
    the cost; the smaller workload is above ``N̄_j``, another quarter. The end piece is absorbed by ``Φ(N(T))``.

    Attributes
    ----------
    eta0, G1, K1, K : float
        Infinite ``eta0`` where no arc has a delay. NaN where the theorem does not apply: see ``why``.
    thresholds : Thresholds
    M : float array (n,)
    A, C : float arrays (s,)
    initial, history, boundary : float
        ``Φ(N(0))``, ``H``, ``B``.
    why : tuple of str
        Why the theorem does not apply; empty where it does.
    """

    eta0: float
    G1: float
    K1: float
    K: float
    thresholds: Thresholds
    M: Array
    A: Array
    C: Array
    initial: float
    history: float
    boundary: float
    why: tuple[str, ...]

    def bound(self, horizon: float, eta_low: float, eta_high: float) -> float:
        """The right-hand side, NaN unless ``eta_high ≤ eta0``."""
        if not eta_high <= self.eta0:
            return float("nan")
        return self.K1 / (horizon * eta_low) + self.G1 * eta_high + self.K / horizon


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """Theorem 1b (ours, proved): if ``N_j(t) ≤ N^max_j`` on ``[−τ̄, T]`` and ``N^max_j ≥ N*_j``, then for *every* ``η``

    ``(1/T)∫_0^T (Σ_j D_j + Σ_i λ_i S_i) dt ≤ K_1/(T η_min) + G_1 η_max + K/T``, without slow variation of the costs: ``M_j =
    max(f_j(N^max_j) − f*_j, f*_j − f_j(0))``, ``A_i = 2λ_i Σ_j τ_ij M_j``, ``O_i = max_k(f_k(N^max_k) + g_ik) − min_k(f_k(0)
    + g_ik)``, ``K_1 = ½Σ_i λ_i ‖x_i(0) − x*_i‖²``, ``G_1 = Σ_i A_i O_i``, ``K = Φ(N(0)) + 2Σ_i A_i``. The proof is the
    bounded part of Theorem 1.

    Attributes
    ----------
    N_max : float array (n,)
    G1, K1, K : float
    M : float array (n,)
    A, O : float arrays (s,)
    """

    N_max: Array
    G1: float
    K1: float
    K: float
    M: Array
    A: Array
    O: Array  # noqa: E741  (the symbol of the theorem)

    def bound(self, horizon: float, eta_low: float, eta_high: float) -> float:
        """The right-hand side."""
        return self.K1 / (horizon * eta_low) + self.G1 * eta_high + self.K / horizon


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem2:
    """Exact convergence (ours, proved): for ``η_i ≤ η_2`` and every ``T``

    ``∫_0^T (Σ_j D_j + 2Σ_i λ_i S_i) dt ≤ Σ_i λ_i ‖x_i(0) − x*_i‖²/η_i + K_2``, so ``N(t) → N*``. With ``N̂_k = N̄_k + h_k``,
    ``ℓ_k = sup_{N ≤ N̂_k} (f_k − f*_k)/(μ_k − μ*_k) < ∞``, ``t_k = 2/m_k``, ``D̂_k = D_k(N̂_k)``, ``𝒯_i = Σ_j τ_ij M_j``, and
    ``δ_i^max``, ``δ_i^min`` the largest and least positive ``δ_ij`` (terms with them vanish where all arcs of ``i`` tie),
    ``q_ik = (2d_i/δ_i^min) max(4ℓ_k/δ_i^min, t_k) + max(16ℓ_k/(δ_i^min)², 1/D̂_k)``, ``η_2 = min_k 1/(4Σ_{i∈C⁻(k)} λ_i [2τ_ik
    ℓ_k + Σ_j 2τ_ij max(ℓ_k, 2M_j t_k) + 2δ_i^max q_ik 𝒯_i])``, ``K_2 = K + 16Σ_i λ_i (δ_i^max/δ_i^min) u_i(0) 𝒯_i``, ``u_i``
    the share of ``i`` on arcs with ``δ_ij > 0``.

    Proof: with ``φ_i = max_k |F_k(s−τ_ik)|``, ``|x'_ij| ≤ η_i(2φ_i + δ_i^max 1{u_i > 0})``; while ``u_i > 0`` and ``φ_i ≤
    δ_i^min/4``, ``u_i' ≤ −η_i δ_i^min/4``, and ``u_i' ≤ η_i (d_i/2) φ_i`` always, so the time with ``u_i > 0`` is bounded by
    ``∫ΣD`` itself; ``F² ≤ ℓD`` below ``N̂``, ``|F| ≤ tD`` above. The floor ``O(η)`` of Theorem 1 is gone.

    Attributes
    ----------
    eta2, K2 : float
        NaN where the theorem does not apply: see ``why``.
    chord : float array (n,)
        ``ℓ_k``.
    arrivals, distance : float arrays (s,)
        ``λ_i`` and ``‖x_i(0) − x*_i‖²``.
    why : tuple of str
    """

    eta2: float
    K2: float
    chord: Array
    arrivals: Array
    distance: Array
    why: tuple[str, ...]

    def bound(self, eta: Array | float) -> float:
        """The right-hand side, of the integral over any horizon; NaN unless every ``η_i ≤ η_2``."""
        steps = np.broadcast_to(np.asarray(eta, dtype=float), self.arrivals.shape)
        live = self.arrivals > 0
        if not (steps[live] <= self.eta2).all():
            return float("nan")
        return float((self.arrivals * self.distance / steps)[live].sum() + self.K2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem3:
    """All arcs tie, workloads bounded (ours, proved): if ``γ = max_j 2L_j Σ_{i∈C⁻(j)} λ_i η_i τ_i^max < 1``,

    ``(1−γ)∫_0^T Σ_j D_j dt ≤ V(0) + Φ(N(0)) + 2Σ_i A_i + Σ_i λ_i η_i τ_i^max Σ_{j∈C⁺(i)} ∫_{−τ_ij}^0 F_j²``, so ``N(t) →
    N*``; ``L_j = sup_{N ≤ N^max_j} (f_j − f*_j)/(μ_j − μ*_j)``, ``A_i`` of Theorem 1b. Proof: constants on all admissible
    costs move nothing and a projection on a cone does not lengthen, ``‖x_i'‖ ≤ η_i ‖(F_j(t−τ_ij))_j‖``; Cauchy–Schwarz;
    ``F_j² ≤ L_j D_j``.

    Attributes
    ----------
    eta_s3 : float
        ``η_S3 = min_j 1/(2L_j Σ_i λ_i τ_i^max)``: γ < 1 for equal stepsizes below it. NaN where the theorem does not apply.
    chord : float array (n,)
        ``L_j``.
    load : float array (s, n)
        ``2L_j λ_i τ_i^max`` on the arcs.
    arrivals, distance, past : float arrays (s,)
        ``λ_i``, ``‖x_i(0) − x*_i‖²``, ``λ_i τ_i^max Σ_j ∫F_j²`` over the history.
    fixed : float
        ``Φ(N(0)) + 2ΣA_i``.
    why : tuple of str
    """

    eta_s3: float
    chord: Array
    load: Array
    arrivals: Array
    distance: Array
    past: Array
    fixed: float
    why: tuple[str, ...]

    def bound(self, eta: Array | float) -> float:
        """Bound of ``∫_0^T ΣD_j dt`` for every horizon; NaN unless ``γ < 1``."""
        steps = np.broadcast_to(np.asarray(eta, dtype=float), self.arrivals.shape)
        if self.why:
            return float("nan")
        gamma = float((steps @ self.load).max())
        if not gamma < 1:
            return float("nan")
        live = self.arrivals > 0
        start = float((self.arrivals * self.distance / (2 * steps))[live].sum())
        return (start + self.fixed + float((steps * self.past).sum())) / (1 - gamma)


def _spread(of: Gaps, high: Array) -> Array:
    """``max_k(high_k + g_ik) − min_k(f_k(0) + g_ik)`` over ``C⁺(i)``, float array (s,); 0 without arcs."""
    low = of.cost(np.zeros(len(of.costs)))
    top = np.where(of.arcs, high + of.constants, -inf).max(axis=1)
    bottom = np.where(of.arcs, low + of.constants, inf).min(axis=1)
    live = of.arcs.any(axis=1)
    return np.where(live, np.where(live, top, 0.0) - np.where(live, bottom, 0.0), 0.0)


def _reach(of: Gaps, high: Array) -> tuple[Array, Array]:
    """``M_j = max(high_j − f*_j, f*_j − f_j(0))`` and ``A_i = 2λ_i Σ_j τ_ij M_j``."""
    M = np.maximum(high - of.values, of.values - of.cost(np.zeros(len(of.costs))))
    return M, 2 * of.arrivals * (of.latency @ M)


def _over_history(of: Gaps, start: Start, values: Array) -> Array:
    """``∫_{−τ_ij}^0 values_j(s) ds``, float array (s, n), of values (K, n) at the points of `Start.before`."""
    if len(values) == 1:
        return of.latency * values[0]
    width = of.network.longest_latency / len(values)
    running = np.vstack([np.zeros(values.shape[1]), np.cumsum(values[::-1], axis=0) * width])  # over the last k points
    place = of.latency / width
    whole = np.minimum(place.astype(int), len(values) - 1)
    columns = np.arange(values.shape[1])
    low, high = running[whole, columns], running[whole + 1, columns]
    return low + (place - whole) * (high - low)


def theorem1(of: Gaps, start: Start, divisor: int = OURS) -> Theorem1:
    """Constants of Theorem 1 for a start; see `Theorem1`."""
    bars = thresholds(of, divisor)
    why = tuple(reason for reason in bars.why if reason)
    initial = float(of.potential(start.workloads).sum())
    K1 = float((of.arrivals * of.distance(start.routing)).sum())
    nothing = np.full(len(of.costs), np.nan), np.full(len(of.arrivals), np.nan)
    if why:
        values = (float("nan"), float("nan"), float("nan"), nothing[0], nothing[1], nothing[1], float("nan"), float("nan"))
        eta0, G1, K, M, A, C, history, boundary = values
    else:
        M, A = _reach(of, bars.above)
        C = _spread(of, bars.below)
        charge = A @ of.arcs
        eta0 = float(np.min(np.where(charge > 0, of.spare / (8 * np.where(charge > 0, charge, 1.0)), inf)))
        G1 = float(2 * (A @ C))
        _, past = start.before(of.network)
        history = float(0.25 * _over_history(of, start, of.workload_gap(past)).max(axis=0).sum())
        boundary = _boundary(of, start, bars.above, past.max(axis=0))
        K = 2 * (initial + 2 * float(A.sum()) + history + boundary)
    return Theorem1(
        eta0=eta0,
        G1=G1,
        K1=K1,
        K=K,
        thresholds=bars,
        M=readonly(M),
        A=readonly(A),
        C=readonly(C),
        initial=initial,
        history=history,
        boundary=boundary,
        why=why,
    )


def _boundary(of: Gaps, start: Start, top: Array, past: Array) -> float:
    """``B`` of `Theorem1`."""
    tau, total = of.latency, 0.0
    before = np.maximum(of.cost(past) - top, 0.0)
    for i in np.nonzero(of.arrivals > 0)[0]:
        after = np.maximum(of.cost(start.workloads + 2 * tau[i] * of.offered) - top, 0.0)
        total += float(of.arrivals[i] * (2 * tau[i] * after + tau[i] * before).sum())
    return total


def largest_workloads(of: Gaps, start: Start) -> tuple[Array, tuple[str, ...]]:
    """``N^max_j = max(N_j(0), history, μ_j⁻¹(Λ_j))`` (proved: ``N_j' ≤ Λ_j − μ_j``), infinite where ``Λ_j ≥ μ̄_j``; and why."""
    _, past = start.before(of.network)
    level = np.array([float(cell.rate.inverse(z)) for cell, z in zip(of.network.cells, of.offered, strict=True)])
    why = tuple(
        f"cell {of.network.cell_names[j]!r} may be offered {of.offered[j]:.6g} requests per second, its capacity is "
        f"{of.network.capacities[j]:.6g}: its workload has no bound a priori"
        for j in np.nonzero(~np.isfinite(level))[0]
    )
    return np.maximum(np.maximum(start.workloads, past.max(axis=0)), level), why


def bounded(of: Gaps, start: Start, N_max: Array) -> Bounded:
    """Constants of Theorem 1b for a bound of the workloads (raised to ``N*`` where it is below)."""
    top = np.maximum(np.asarray(N_max, dtype=float), of.workloads)
    high = of.cost(top)
    M, A = _reach(of, high)
    O = _spread(of, high)  # noqa: E741
    return Bounded(
        N_max=readonly(top),
        G1=float(A @ O),
        K1=float((of.arrivals * of.distance(start.routing)).sum() / 2),
        K=float(of.potential(start.workloads).sum() + 2 * A.sum()),
        M=readonly(M),
        A=readonly(A),
        O=readonly(O),
    )


def theorem2(of: Gaps, start: Start, first: Theorem1) -> Theorem2:
    """Constants of Theorem 2, from those of Theorem 1; see `Theorem2`."""
    distance = of.distance(start.routing)
    if first.why:
        empty = np.full(len(of.costs), np.nan)
        return Theorem2(eta2=np.nan, K2=np.nan, chord=empty, arrivals=of.arrivals, distance=readonly(distance), why=first.why)
    top = first.thresholds.workloads + first.thresholds.step
    chord, why = steepest_chords(of, top)
    if why:
        return Theorem2(
            eta2=np.nan, K2=np.nan, chord=readonly(chord), arrivals=of.arrivals, distance=readonly(distance), why=why
        )
    t, gap = 2 / of.spare, of.workload_gap(top)
    charge, extra = np.zeros(len(of.costs)), 0.0
    for i in np.nonzero(of.arrivals > 0)[0]:
        cells = np.nonzero(of.arcs[i])[0]
        tau, M, delta = of.latency[i, cells], first.M[cells], of.excess[i, cells]
        ell, slope = chord[cells], t[cells]
        reach = float(tau @ M)
        use = 2 * tau * ell + 2 * (tau[:, None] * np.maximum(ell[None, :], 2 * M[:, None] * slope[None, :])).sum(axis=0)
        if (delta > 0).any():
            low, high = float(delta[delta > 0].min()), float(delta.max())
            q = 2 * len(cells) / low * np.maximum(4 * ell / low, slope) + np.maximum(16 * ell / low**2, 1 / gap[cells])
            use = use + 2 * high * q * reach
            extra += 16 * of.arrivals[i] * high / low * float(start.routing[i, cells][delta > 0].sum()) * reach
        charge[cells] += of.arrivals[i] * use
    eta2 = float(np.min(np.where(charge > 0, 1 / (4 * np.where(charge > 0, charge, 1.0)), inf)))
    return Theorem2(
        eta2=eta2,
        K2=float(first.K + extra),
        chord=readonly(chord),
        arrivals=of.arrivals,
        distance=readonly(distance),
        why=(),
    )


def theorem3(of: Gaps, start: Start, within: Bounded | None) -> Theorem3:
    """Constants of Theorem 3 for workloads bounded as in Theorem 1b; see `Theorem3`."""
    n = len(of.costs)
    why: list[str] = []
    for i, j in np.argwhere(of.excess > 0)[:1]:
        ends = of.network.source_names[i], of.network.cell_names[j]
        why.append(f"the arc from {ends[0]!r} to {ends[1]!r} is dearer than the least by {of.excess[i, j]:.3g}")
    if within is None:
        why.append("no bound of the workloads is known")
    chord = np.full(n, np.nan)
    if within is not None and not why:
        chord, more = steepest_chords(of, within.N_max)
        why += more
    farthest = of.latency.max(axis=1)
    load = np.where(of.arcs, 2 * chord * (of.arrivals * farthest)[:, None], 0.0)
    total = load.sum(axis=0).max() if not why else np.nan
    _, past = start.before(of.network)
    squares = _over_history(of, start, (of.cost(past) - of.values) ** 2)
    return Theorem3(
        eta_s3=float("nan") if why else inf if total == 0 else float(1 / total),
        chord=readonly(chord),
        load=readonly(load),
        arrivals=of.arrivals,
        distance=readonly(of.distance(start.routing)),
        past=readonly(of.arrivals * farthest * squares.sum(axis=1)),
        fixed=within.K if within is not None and isfinite(within.K) else float("nan"),
        why=tuple(why),
    )
