"""What a trajectory shows beside its equilibrium: distance, gaps, regret, settling, oscillation.

With ``F_j = f_j(N_j) − f*_j``, ``δ_ij = c*_ij − c_i ≥ 0``::

    D_j = F_j (μ_j(N_j) − μ*_j),   S_i = Σ_j δ_ij x_ij

are the gaps of Theorem 1 (workloads and routing). The regret is the time average of ``Σ_j p_j(μ_j(N_j)) + Σ_ij λ_i g_ij x_ij``
over ``Ψ*``: with the gradient cost the mean latency above the optimum, times ``Λ``. Ours, proved, for any routing: with
``E = Σ_j f*_j Σ_i λ_i τ_ij``, what is on its way,

    ``−(1/T) (Σ_j f*_j (N_j(T) − N_j(0)) + E) ≤ regret ≤ (1/T)∫(ΣD + Σλ S) + (1/T) (Σ_j f*_j (N_j(0) − N_j(T)) + E)``.

``p_j`` is convex with slope ``f_j(N)`` at ``μ_j(N)``, so ``f*_j (μ_j − μ*_j) ≤ p_j(μ_j) − p_j(μ*_j) ≤ f_j(N)(μ_j − μ*_j) =
D_j + f*_j (μ_j − μ*_j)``; the flow balance turns ``μ_j − μ*_j`` into ``Σ_i λ_i (x_ij(t−τ_ij) − x*_ij)`` less the change of
the workload, and a shift in time costs at most ``τ_ij``.

All integrals are by Simpson's rule on the stored steps.
"""

from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, readonly
from lbtheory.fluid.costs import arc_constants, cell_values
from lbtheory.fluid.dynamics.result import HELD, Trajectory
from lbtheory.fluid.equilibrium import Equilibrium, equilibrium, reduced_costs

Array = np.ndarray

SETTLED = 0.01
"""A workload has settled within this share of its equilibrium (of one request, if that is less than one)."""
TAIL = 0.5
"""Share of the time, at the end, in which oscillation is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Oscillation:
    """Of one series.

    Attributes
    ----------
    amplitude : float
        Half of the range.
    period : float
        Mean time between upward crossings of the middle of the range, seconds; NaN with fewer than two, or an amplitude that
        is rounding.
    crossings : int
    """

    amplitude: float
    period: float
    crossings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostics:
    """See `diagnose`; arrays are at the nodes of the trajectory.

    Attributes
    ----------
    equilibrium : Equilibrium
    distance : float array (m,)
        ``‖N − N*‖₂``, requests.
    workload_gap, routing_gap : float array (m,)
        ``Σ_j D_j`` and ``Σ_i λ_i S_i``, cost times requests per second.
    mean_workload_gap, mean_routing_gap : float array (m,)
        Their averages over ``[0, t]``.
    regret : float array (m,)
        Average over ``[0, t]``; ``regret_lower`` and ``regret_upper`` are its bounds, which say nothing at 0.
    regret_lower, regret_upper : float array (m,)
    settling_time : float
        When every workload came to stay within `SETTLED`, seconds; inf if it had not at the end.
    oscillations : tuple of Oscillation
        Of each cell's workload over the last `TAIL` of the time.
    """

    equilibrium: Equilibrium
    distance: Array
    workload_gap: Array
    routing_gap: Array
    mean_workload_gap: Array
    mean_routing_gap: Array
    regret: Array
    regret_lower: Array
    regret_upper: Array
    settling_time: float
    oscillations: tuple[Oscillation, ...]

    @property
    def widest(self) -> Oscillation:
        """The oscillation of the cell with the greatest amplitude."""
        return max(self.oscillations, key=lambda one: one.amplitude)

    def as_json(self) -> dict[str, Any]:
        """Plain data; ``gap`` is the average of ``Σ_j D_j``."""
        return {
            "distance": self.distance.tolist(),
            "gap": self.mean_workload_gap.tolist(),
            "routing_gap": self.mean_routing_gap.tolist(),
            "regret": self.regret.tolist(),
            "regret_lower": self.regret_lower.tolist(),
            "regret_upper": self.regret_upper.tolist(),
            "settling_time": self.settling_time,
            "amplitude": self.widest.amplitude,
            "period": self.widest.period,
        }


def diagnose(of: Trajectory, at: Equilibrium | None = None, *, settled: float = SETTLED, tail: float = TAIL) -> Diagnostics:
    """Distance, gaps, regret, settling time and oscillation of a trajectory.

    Parameters
    ----------
    of : Trajectory
        With the arrival rates and capacities of its network, for which the gaps are defined.
    at : Equilibrium, optional
        Of the trajectory's cost; computed by default.
    settled, tail : float
        See `SETTLED` and `TAIL`.

    Raises
    ------
    ParameterError
        An equilibrium of another cost or size, or rates or capacities that vary.
    InfeasibleError
        The network has no equilibrium.
    """
    found = checked_equilibrium(of, at, "diagnose")
    if not 0 < tail <= 1 or not settled > 0:
        raise ParameterError(f"`tail` of `diagnose` must be in (0, 1] and `settled` positive; got {tail!r} and {settled!r}.")
    times = of.times
    middle = (times[:-1] + times[1:]) / 2
    arrivals, costs = of.network.arrivals, of.network.costs(of.cost)
    source, cell = of.network.arcs
    f_star = cell_values(costs, found.workloads)
    g = arc_constants(of.cost, of.network.latency)[source, cell]
    reduced, tied = reduced_costs(of.network, found)
    delta = np.where(tied, 0.0, reduced)[source, cell]
    loads, shares = (of.workloads, of.workloads_at(middle)), (of.shares, of.shares_at(middle))
    gaps = [_workload_gap(of, n, found, f_star) for n in loads]
    spent = [_spending(of, n) for n in loads]
    routing, travel = ([x @ (arrivals[source] * cost) for x in shares] for cost in (delta, g))
    held = of.routing_kind in HELD  # a node holds the shares after it; those before it count on the step before
    before = [series[0][:-1] if held else series[0][1:] for series in (routing, travel)]
    wire = f_star @ np.bincount(cell, arrivals[source] * of.network.latency[source, cell], minlength=f_star.size)
    rest = 1 / np.maximum(times, 1e-300)
    mean_gap, mean_spent = (_running_mean(times, first, centre, first[1:]) for first, centre in (gaps, spent))
    mean_routing, mean_travel = (
        _running_mean(times, nodes, centre, last) for (nodes, centre), last in zip((routing, travel), before, strict=True)
    )
    regret = mean_spent + mean_travel - found.objective
    filled = (of.workloads - of.workloads[0]) @ f_star
    since = times >= of.end * (1 - tail)
    off = np.abs(of.workloads - found.workloads) > settled * np.maximum(1.0, found.workloads)
    return Diagnostics(
        equilibrium=found,
        distance=readonly(np.linalg.norm(of.workloads - found.workloads, axis=1)),
        workload_gap=readonly(gaps[0]),
        routing_gap=readonly(routing[0]),
        mean_workload_gap=readonly(mean_gap),
        mean_routing_gap=readonly(mean_routing),
        regret=readonly(regret),
        regret_lower=readonly(-rest * (filled + wire)),
        regret_upper=readonly(mean_gap + mean_routing + rest * (wire - filled)),
        settling_time=_settling_time(times, off.any(axis=1)),
        oscillations=tuple(oscillation(times[since], column) for column in of.workloads[since].T),
    )


def checked_equilibrium(of: Trajectory, at: Equilibrium | None, function: str) -> Equilibrium:
    """``at``, or the equilibrium of the trajectory's cost; raises `ParameterError` if the two do not belong together."""
    usual = of.arrivals.is_constant and np.array_equal(of.arrivals(0.0), of.network.arrivals)
    full = of.capacity.is_constant and bool((of.capacity(0.0) == 1).all())
    if not (usual and full):
        raise ParameterError(
            f"`of` of `{function}` must have the constant arrival rates and capacities of its network, for which an "
            "equilibrium is defined. Compare with `distance` to an equilibrium of your choice."
        )
    found = equilibrium(of.network, of.cost, method="fast", tolerance=1e-12) if at is None else at
    if found.cost != of.cost or found.routing.shape != of.network.allowed.shape:
        raise ParameterError(
            f"`at` of `{function}` must be an equilibrium of the {of.cost} cost of the same network; got one of "
            f"{found.cost} with routing of shape {found.routing.shape}."
        )
    return found


def distance(of: Trajectory, workloads: Any) -> Array:
    """``‖N(t) − N*‖₂`` at the nodes, for any ``N*`` (n,)."""
    goal = np.asarray(workloads, dtype=float)
    if goal.shape != of.workloads.shape[1:] or not np.isfinite(goal).all():
        raise ParameterError(f"`workloads` of `distance` must be {of.workloads.shape[1]} finite numbers; got {workloads!r}.")
    return readonly(np.linalg.norm(of.workloads - goal, axis=1))


def oscillation(times: Any, values: Any) -> Oscillation:
    """Amplitude and period of one series, ``values`` at ``times``."""
    t, y = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    if t.ndim != 1 or t.shape != y.shape or not t.size or not (np.isfinite(t).all() and np.isfinite(y).all()):
        raise ParameterError("`times` and `values` of `oscillation` must be equally many finite numbers, at least one.")
    amplitude, middle = float(np.ptp(y)) / 2, (float(y.max()) + float(y.min())) / 2
    if amplitude <= 1e-9 * max(1.0, abs(middle)):
        return Oscillation(amplitude=amplitude, period=nan, crossings=0)
    k = np.nonzero((y[:-1] < middle) & (y[1:] >= middle))[0]
    at = t[k] + (t[k + 1] - t[k]) * (middle - y[k]) / (y[k + 1] - y[k])
    period = float((at[-1] - at[0]) / (len(at) - 1)) if len(at) > 1 else nan
    return Oscillation(amplitude=amplitude, period=period, crossings=len(at))


def _workload_gap(of: Trajectory, loads: Array, at: Equilibrium, f_star: Array) -> Array:
    """``Σ_j D_j``."""
    total = np.zeros(len(loads))
    for j, one in enumerate(of.network.costs(of.cost)):
        total += (one.value(loads[:, j]) - f_star[j]) * (one.rate.rate(loads[:, j]) - at.inflow[j])
    return total


def _spending(of: Trajectory, loads: Array) -> Array:
    """``Σ_j p_j(μ_j(N_j))``; for the gradient cost that is ``Σ N_j`` exactly."""
    if of.cost == "gradient":
        return np.asarray(loads.sum(axis=1))
    total = np.zeros(len(loads))
    for j, one in enumerate(of.network.costs(of.cost)):
        total += one.potential(np.minimum(one.rate.rate(loads[:, j]), one.rate.capacity_limit))
    return total


def _running_mean(times: Array, nodes: Array, middles: Array, ends: Array) -> Array:
    """``(1/t)∫_0^t`` at every node by Simpson's rule; ``ends`` are the limits from the left at the nodes after the first."""
    parts = np.diff(times) * (nodes[:-1] + 4 * middles + ends) / 6
    made = np.r_[0.0, np.cumsum(parts)]
    made[1:] /= times[1:]
    made[0] = nodes[0]
    return made


def _settling_time(times: Array, off: Array) -> float:
    last = np.nonzero(off)[0]
    if not last.size:
        return 0.0
    return inf if last[-1] == len(times) - 1 else float(times[last[-1] + 1])
