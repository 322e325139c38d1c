"""The Lyapunov function of the routing flow and its drift identity (DLB paper, appendix C; the identity in this form is ours).

With weights ``λ_i``, ``F_j = f_j(N_j) − f*_j``, ``y = x − x*``::

    V = Σ_i λ_i/(2η_i) ‖x_i − x*_i‖²,   Φ = Σ_j ∫_{N*_j}^{N_j} (f_j(s) − f*_j) ds,
    d/dt (V + Φ) = −Σ_j D_j − Σ_i λ_i S_i + Σ_ij λ_i Γ_ij − Σ_i slack_i,
    Γ_ij(t) = F_j(t) y_ij(t−τ_ij) − F_j(t−τ_ij) y_ij(t),   slack_i = (λ_i/η_i)(x_i − x*_i)ᵀ(z_i − v_i) ≥ 0,

``z_i = −η_i ĉ_i`` and ``v_i = Π_{T(x_i)}(z_i)``. Proved: flow balance at the equilibrium and Moreau's decomposition.
"""

from dataclasses import dataclass

import numpy as np

from lbtheory.core import ParameterError, readonly
from lbtheory.fluid.costs import arc_constants, cell_values
from lbtheory.fluid.dynamics.diagnostics import checked_equilibrium
from lbtheory.fluid.dynamics.projection import tangent_rows
from lbtheory.fluid.dynamics.result import Trajectory
from lbtheory.fluid.equilibrium import Equilibrium

Array = np.ndarray

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(3)
"""Of the time integrals, on each stored step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lyapunov:
    """``V`` and ``Φ`` at the nodes, and the terms of the drift integrated over the whole time.

    Attributes
    ----------
    routing_part : float array (m,)
        ``V``.
    workload_part : float array (m,)
        ``Φ``, by Gauss–Legendre quadrature with 20 points.
    workload_gap, routing_gap, delay, slack : float
        ``∫ΣD``, ``∫Σλ S``, ``∫Σλ Γ``, ``∫Σ slack``.
    least_slack : float
        Least ``Σ_i slack_i`` at the points of the quadrature; at least 0 up to rounding.
    change : float
        Of ``V + Φ``.
    residual : float
        ``change + workload_gap + routing_gap − delay + slack``: 0 for an exact solution, integrated exactly. Of order 4 in the
        step without events; a step with an event adds up to its width times the jump of the slack there.
    """

    routing_part: Array
    workload_part: Array
    workload_gap: float
    routing_gap: float
    delay: float
    slack: float
    least_slack: float
    change: float
    residual: float


def lyapunov(of: Trajectory, at: Equilibrium | None = None) -> Lyapunov:
    """The Lyapunov function along a trajectory of the routing flow, and the residual of its drift identity.

    Raises
    ------
    ParameterError
        Routing that is no flow in continuous time; rates or capacities that vary; an equilibrium of something else.
    InfeasibleError
    """
    if of.routing_kind not in ("flow", "flow-projected"):
        raise ParameterError(
            f"`of` of `lyapunov` must be a trajectory of flow or flow-projected routing; got {of.routing_kind}. The "
            "identity is that of the flow in continuous time."
        )
    found = checked_equilibrium(of, at, "lyapunov")
    source, cell = of.network.arcs
    weight = of.network.arrivals[source]
    goal = found.routing[source, cell]
    live = weight > 0
    v = ((of.shares - goal) ** 2) @ np.where(live, weight / (2 * of.eta[source]), 0.0)
    phi = _potential(of, found)
    width = np.diff(of.times)
    terms, least = np.zeros(4), np.inf
    for u, w in zip((1 + POINTS) / 2, WEIGHTS / 2, strict=True):
        parts = _drift(of, found, of.times[:-1] + u * width)
        terms += [w * float(width @ part) for part in parts]
        least = min(least, float(parts[3].min()))
    change = float(v[-1] + phi[-1] - v[0] - phi[0])
    gap, routing, delay, slack = terms.tolist()
    return Lyapunov(
        routing_part=readonly(v),
        workload_part=readonly(phi),
        workload_gap=gap,
        routing_gap=routing,
        delay=delay,
        slack=slack,
        least_slack=least,
        change=change,
        residual=change + gap + routing - delay + slack,
    )


def _potential(of: Trajectory, at: Equilibrium) -> Array:
    """``Φ``."""
    total = np.zeros(len(of.times))
    for j, one in enumerate(of.network.costs(of.cost)):
        star = float(at.workloads[j])
        half = (of.workloads[:, j] - star) / 2
        inner = np.maximum(star + half[:, None] * (1 + _NODES), 0.0)
        total += half * ((one.value(inner) - one.value(star)) @ _WEIGHTS)
    return total


def _drift(of: Trajectory, at: Equilibrium, t: Array) -> tuple[Array, Array, Array, Array]:
    """``ΣD``, ``Σλ S``, ``Σλ Γ`` and ``Σ slack`` at times."""
    source, cell = of.network.arcs
    costs, arrivals = of.network.costs(of.cost), of.network.arrivals
    tau = of.network.latency[source, cell]
    g = arc_constants(of.cost, of.network.latency)[source, cell]
    star = cell_values(costs, at.workloads)
    n, x = of.workloads_at(t), of.shares_at(t)
    goal = at.routing[source, cell]
    excess = np.stack([one.value(n[:, j]) - star[j] for j, one in enumerate(costs)], axis=1)
    served = np.stack([one.rate.rate(n[:, j]) - at.inflow[j] for j, one in enumerate(costs)], axis=1)
    past, sent = np.empty(x.shape), np.empty(x.shape)
    for a in range(source.size):
        past[:, a] = costs[cell[a]].value(of.workloads_at(t - tau[a])[:, cell[a]]) - star[cell[a]]
        sent[:, a] = of.shares_at(t - tau[a])[:, a] - goal[a]
    weight = arrivals[source]
    multiplier = np.where(weight > 0, at.multipliers[source], 0.0)
    gap = (excess * served).sum(axis=1)
    routing = x @ np.where(weight > 0, weight * (star[cell] + g - multiplier), 0.0)
    delay = (excess[:, cell] * sent - past * (x - goal)) @ weight
    slack = np.zeros(len(t))
    for i in np.nonzero(arrivals > 0)[0]:
        arcs = np.nonzero(source == i)[0]
        seen = np.ascontiguousarray(past[:, arcs] + star[cell[arcs]] + g[arcs])
        v = tangent_rows(np.ascontiguousarray(x[:, arcs]), seen)
        slack += arrivals[i] * ((x[:, arcs] - goal[arcs]) * (-seen - v)).sum(axis=1)
    return gap, routing, delay, slack
