"""Left sides of the theorems, measured on a trajectory: integrals of the gaps, the regret, and the drift identity.

**Drift identity** (ours, proved). Along flow routing, with ``ĉ_ij(t) = f_j(N_j(t−τ_ij)) + g_ij`` and ``y = x − x*``,

    ``d/dt (V + Φ) = −Σ_j D_j − Σ_i λ_i S_i + Σ_ij λ_i Γ_ij − Σ_i slack_i``,
    ``Γ_ij = F_j(t) y_ij(t−τ_ij) − F_j(t−τ_ij) y_ij(t)``, ``slack_i = λ_i (x_i − x*_i)ᵀ(−ĉ_i − v_i/η_i) ≥ 0``.

``Φ' = Σ_j F_j (Σ_i λ_i x_ij(t−τ_ij) − μ_j) = −Σ_j D_j + Σ_ij λ_i F_j y_ij(t−τ_ij)`` by flow balance at the equilibrium, and
``V' = Σ_i (λ_i/η_i) y_iᵀ v_i = −Σ_i λ_i y_iᵀ ĉ_i − Σ_i slack_i`` with ``ĉ_ij = c*_ij + F_j(t−τ_ij)``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lbtheory.core import readonly
from lbtheory.fluid.guarantee.gaps import Gaps
from lbtheory.fluid.guarantee.tangent import tangent_projection

Array = np.ndarray
Path = Callable[[Array], Array]
"""A function of an array of times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Gaps along a trajectory on ``[0, T]``.

    Attributes
    ----------
    horizon : float
        ``T``, seconds.
    workload_gap, routing_gap : float
        ``∫ Σ_j D_j dt`` and ``∫ Σ_i λ_i S_i dt``.
    regret : float
        Of `lbtheory.fluid.guarantee.regret`, per second.
    error : float
        Change of ``left`` when every second sample is left out: an upper estimate of its discretisation error.
    largest : float array (n,)
        ``max_t N_j`` at the sampled times.
    last : float array (n,)
        ``N(T)``.
    """

    horizon: float
    workload_gap: float
    routing_gap: float
    regret: float
    error: float
    largest: Array
    last: Array

    @property
    def left(self) -> float:
        """``(1/T)∫(Σ_j D_j + 2Σ_i λ_i S_i) dt``, of Theorem 1."""
        return (self.workload_gap + 2 * self.routing_gap) / self.horizon

    @property
    def left_bounded(self) -> float:
        """``(1/T)∫(Σ_j D_j + Σ_i λ_i S_i) dt``, of Theorem 1b and the corollary."""
        return (self.workload_gap + self.routing_gap) / self.horizon


def measure(of: Gaps, times: Array, workloads: Array, routing: Array) -> Measured:
    """Measure a trajectory from samples, by the trapezoidal rule.

    Parameters
    ----------
    of : Gaps
    times : float array (K,)
        From 0 to ``T``, increasing.
    workloads : float array (K, n)
    routing : float array (K, s, n)
    """
    horizon = float(times[-1] - times[0])
    served = of.rate(workloads)
    potential = np.stack(
        [one.potential(np.minimum(served[:, j], one.rate.capacity_limit)) for j, one in enumerate(of.costs)], axis=-1
    )
    gap, unused = of.workload_gap(workloads).sum(axis=1), of.routing_gap(routing) @ of.arrivals
    pairs = len(times) - 1 + len(times) % 2  # an odd number of samples
    both, when = (gap + 2 * unused)[:pairs], times[:pairs]
    error = abs(float(np.trapezoid(both, when) - np.trapezoid(both[::2], when[::2]))) / horizon
    travel = (of.arrivals[:, None] * of.constants * routing).sum(axis=(1, 2))
    return Measured(
        horizon=horizon,
        workload_gap=float(np.trapezoid(gap, times)),
        routing_gap=float(np.trapezoid(unused, times)),
        regret=float(np.trapezoid(potential.sum(axis=1) + travel, times)) / horizon - of.equilibrium.objective,
        error=error,
        largest=readonly(workloads.max(axis=0)),
        last=readonly(workloads[-1]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Both sides of the drift identity, integrated.

    Attributes
    ----------
    change : float
        ``V + Φ`` at the end less at the start.
    integral : float
        Of the right-hand side.
    slack : float
        Least ``Σ_i slack_i`` at a sampled time; at least 0 up to rounding.
    """

    change: float
    integral: float
    slack: float


def drift(of: Gaps, eta: Array, times: Array, workloads: Path, routing: Path) -> Drift:
    """Both sides of the drift identity on a time grid.

    Parameters
    ----------
    of : Gaps
    eta : float array (s,)
        ``η_i``.
    times : float array (K,)
        Increasing; the identity is integrated by the trapezoidal rule, so kinks should lie on the grid.
    workloads, routing : Path
        ``N(t)`` (…, n) and ``x(t)`` (…, s, n) of any times ``≥ −τ̄``.
    """
    star = of.equilibrium.routing
    now, shares = workloads(times), routing(times)
    F = of.cost(now) - of.values
    total = -of.workload_gap(now).sum(axis=1) - of.routing_gap(shares) @ of.arrivals
    slack = np.zeros(len(times))
    for i in np.nonzero(of.arrivals > 0)[0]:
        cells = np.nonzero(of.arcs[i])[0]
        seen = np.empty((len(times), len(cells)))
        y = shares[:, i, cells] - star[i, cells]
        for place, j in enumerate(cells):
            before = times - of.latency[i, j]
            seen[:, place] = of.cost(workloads(before))[:, j]
            earlier = routing(before)[:, i, j] - star[i, j]
            total += of.arrivals[i] * (F[:, j] * earlier - (seen[:, place] - of.values[j]) * y[:, place])
        costs = seen + of.constants[i, cells]
        for k in range(len(times)):
            moved = tangent_projection(shares[k, i, cells], -costs[k])
            slack[k] += of.arrivals[i] * float(y[k] @ (-costs[k] - moved))
    ends = [0, -1]
    V = (of.arrivals * of.distance(shares[ends]) / (2 * eta)).sum(axis=1)
    Phi = [float(of.potential(now[k]).sum()) for k in ends]
    return Drift(
        change=float(V[1] + Phi[1] - V[0] - Phi[0]),
        integral=float(np.trapezoid(total - slack, times)),
        slack=float(slack.min()),
    )
