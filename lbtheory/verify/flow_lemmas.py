"""The paper's split of the mismatch ``Γ`` along a trajectory, for its Lemmas 4 to 9 (DLB paper, appendix C.3).

With thresholds in the paper's form (``h = 2vτ̄``, fraction ``m_j/(16Λ_j)``), ``F_j = β_j + e_j``, ``β_j = min(f_j, f̂_j) −
f*_j``, ``e_j = (f_j − f̂_j)⁺``, ``f̂_j = f_j(N̄_j + 2vτ̄)``. The displayed formulas of the appendix are lost in the text that
we have: what is checked is what its sentences say, with constants from them (``2/m_j``, ``m_j/(16Λ_j)``, intervals of length
at most ``τ̄``).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lbtheory.fluid.guarantee import PAPER, Gaps, Thresholds, thresholds
from lbtheory.verify.flow_cases import FlowRun, shared_runs
from lbtheory.verify.laboratory import Laboratory

Array = np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Split:
    """Integrals over ``[0, T]`` of a trajectory.

    Attributes
    ----------
    run : FlowRun
    bars : Thresholds
        In the paper's form.
    bounded, tail : float
        ``∫ Σ_ij λ_i Γ_ij`` with ``β`` and with ``e`` in place of ``F``.
    mixed : float
        ``∫ Σ_i λ_i S_i^τ``, ``S_i^τ(t) = Σ_j c*_ij y_ij(t − τ_ij)``: the mixed-delay routing gap.
    now : float
        ``∫ Σ_i λ_i S_i``.
    gap : float
        ``∫ Σ_j D_j``.
    """

    run: FlowRun
    bars: Thresholds
    bounded: float
    tail: float
    mixed: float
    now: float
    gap: float


def paper_thresholds(of: Gaps) -> Thresholds:
    """``N̄_j`` for ``2/m_j`` and ``m_j/(16Λ_j)`` over increments ``2vτ̄``, ``v = max_j max(Λ_j, μ̄_j)``."""
    speed = float(np.maximum(of.offered, of.network.capacities).max())
    longest = float(of.latency.max())
    return thresholds(of, PAPER, np.full(len(of.costs), 2 * speed * longest))


def split(run: FlowRun) -> Split | None:
    """Integrate both parts of the mismatch by the trapezoidal rule on the mesh; None without thresholds."""
    of, path = run.of, run.trajectory
    bars = paper_thresholds(of)
    if any(bars.why):
        return None
    times = path.times
    star = of.equilibrium.routing
    value = of.cost(path.workloads)
    parts = {"beta": np.zeros(len(times)), "tail": np.zeros(len(times)), "mixed": np.zeros(len(times))}
    now = path.routing
    for i, j in np.argwhere(of.arcs):
        rate, tau = of.arrivals[i], of.latency[i, j]
        before = times - tau
        earlier = path.routing_at(before)[:, i, j] - star[i, j]
        present = now[:, i, j] - star[i, j]
        seen = of.cost(path.workloads_at(before))[:, j]
        for name, cut in (("beta", lambda f, top: np.minimum(f, top)), ("tail", lambda f, top: np.maximum(f - top, 0.0))):
            shift = of.values[j] if name == "beta" else 0.0
            here, there = cut(value[:, j], bars.above[j]) - shift, cut(seen, bars.above[j]) - shift
            parts[name] += rate * (here * earlier - there * present)
        parts["mixed"] += rate * (of.values[j] + of.constants[i, j]) * earlier
    integral = {name: float(np.trapezoid(row, times)) for name, row in parts.items()}
    return Split(
        run=run,
        bars=bars,
        bounded=integral["beta"],
        tail=integral["tail"],
        mixed=integral["mixed"],
        now=run.measured.routing_gap,
        gap=run.measured.workload_gap,
    )


@lru_cache(maxsize=4)
def _splits(scale: str, seed: int) -> tuple[Split, ...]:
    laboratory = Laboratory(scale=scale, seed=seed)
    runs = shared_runs(laboratory) + shared_runs(laboratory, True)
    return tuple(one for one in map(split, runs) if one is not None)


def splits(laboratory: Laboratory) -> tuple[Split, ...]:
    """Of the shared trajectories, made once."""
    return _splits(laboratory.scale, laboratory.seed)


def end_pieces(of: Gaps) -> float:
    """``2Σ_ij λ_i τ_ij c*_ij``: two intervals of length ``τ_ij`` on which ``|y_ij| ≤ 1``."""
    return float(2 * (of.arrivals[:, None] * of.latency * (of.values + of.constants)).sum())


def reach(of: Gaps, bars: Thresholds) -> tuple[Array, Array]:
    """``A_i`` and ``C_i`` of the proof with these thresholds."""
    zero = of.cost(np.zeros(len(of.costs)))
    M = np.maximum(bars.above - of.values, of.values - zero)
    high = np.where(of.arcs, bars.below + of.constants, -np.inf).max(axis=1)
    low = np.where(of.arcs, zero + of.constants, np.inf).min(axis=1)
    live = of.arcs.any(axis=1)
    return 2 * of.arrivals * (of.latency @ M), np.where(live, np.where(live, high, 0.0) - np.where(live, low, 0.0), 0.0)


def largest_stepsize(of: Gaps, bars: Thresholds) -> float:
    """``η_0`` with these thresholds; infinite without delays."""
    charge = reach(of, bars)[0] @ of.arcs
    return float(np.min(np.where(charge > 0, of.spare / (8 * np.where(charge > 0, charge, 1.0)), np.inf)))
