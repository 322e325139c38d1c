"""The delay equations of workloads and routing (DLB paper, equations (1), (2), (8), (9)), integrated.

::

    N_j'(t) = Σ_i λ_i(t−τ_ij) x_ij(t−τ_ij) − s_j(t) μ_j(N_j(t)/s_j(t))
    x_i'(t) = Π_{T(x_i(t))}(−η_i ĉ_i(t)),   ĉ_ij(t) = f_j(N_j(t−τ_ij)/s_j(t−τ_ij)) + g_ij

``s_j`` is the share of a cell's replicas in service (1 in the paper; ours). Fixed steps, order 4: workloads by the classical
Runge–Kutta method, shares by Simpson's rule, on an even mesh by the integrals of the costs they see. Both go through cubics
that are known before they are needed, because every positive delay is at least a step. The order is reached for smooth rates on
an even mesh with flow routing away from events, and where the mesh holds the breakpoints. Inside a step a bend of an inflow
costs ``O(h³)`` of a workload and a jump ``O(h²)``; elsewhere than on an even mesh a bend of an observed cost costs ``O(h²)`` of
a share and a jump ``O(h)``. Updates of periodic and discrete routing are nodes; without a period, discrete routing decides at
every step and is of first order in it.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, UnknownNameError, readonly, whole_number
from lbtheory.fluid.dynamics.mesh import KINDS, Mesh, make_mesh
from lbtheory.fluid.dynamics.result import Trajectory
from lbtheory.fluid.dynamics.setting import Setting, infeasible_times, make_setting, positive
from lbtheory.fluid.dynamics.signals import Signal
from lbtheory.fluid.dynamics.stepping import Stepper
from lbtheory.fluid.network import Network

Array = np.ndarray

TOLERANCE = 1e-6
MOST_STORED = 20_000_000
"""Numbers of a stored trajectory, beyond which nodes are thinned by default."""
STRETCH = 2048
"""Steps between two calls of ``progress``."""
HALVINGS = 14


def simulate(
    network: Network,
    cost: str,
    *,
    t_end: float,
    eta: Any = None,
    routing: str = "flow",
    step: float | None = None,
    tolerance: float | None = None,
    estimate_error: bool = False,
    period: float | None = None,
    ties: str = "lowest",
    workloads: Any = None,
    shares: Any = None,
    workload_history: Any = None,
    routing_history: Any = None,
    arrivals: Signal | Any = None,
    capacity: Signal | Any = None,
    mesh: str = "auto",
    every: int | None = None,
    settled_below: float | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> Trajectory:
    """Integrate workloads and routing from 0 to ``t_end``.

    Parameters
    ----------
    network : Network
    cost : str
        ``rif``, ``latency`` or ``gradient``: what sources observe.
    t_end : float
        Seconds, > 0.
    eta : float or array_like (s,)
        ``η``, > 0: shares per second and unit of cost; needed by the three flow routings.
    routing : str
        One of `ROUTINGS`.
    step : float, optional
        Greatest step, seconds, at most the smallest positive delay.
    tolerance : float, optional
        In place of a step: steps are halved until two runs differ by less in every share and in every workload over
        ``max(1, N)``; ``1e-6`` when neither is given.
    estimate_error : bool
        With ``step``: run once more with half the step, and return that run with the difference as its estimate.
    period : float, optional
        Seconds between updates of ``flow-periodic`` (needed) and ``discrete`` (by default every step).
    ties : str
        Of discrete routing: ``lowest`` index, or ``uniform`` over exact ties.
    workloads : array_like (n,), optional
        ``N(0)``, empty by default.
    shares : array_like (s, n), optional
        ``x(0)``, uniform over the arcs by default; the weights themselves for ``fixed`` routing.
    workload_history, routing_history : Signal or array_like, optional
        On ``[−τ̄, 0)``, (n,) and (s, n) or (arcs,); by default the initial values. They may jump.
    arrivals : Signal or array_like (s,), optional
        ``λ(t)``, requests per second, by default those of the network; held constant outside its times. See `burst`,
        `daily_arrivals`.
    capacity : Signal or array_like (n,), optional
        ``s(t)`` > 0, share of each cell's capacity in service, 1 by default. See `outage`.
    mesh : str
        ``auto``, ``even`` or ``breakpoints``, see `make_mesh`.
    every : int, optional
        Store every so manieth node; by default all of them up to `MOST_STORED` numbers.
    settled_below : float, optional
        Stop once no workload and no share has varied by more than this for ``2τ̄``, or for 16 steps if that is longer.
    progress : callable, optional
        Called with the time reached and ``t_end``.

    Raises
    ------
    UnknownNameError, ParameterError
        For every argument that is out of its range, by name.
    """
    began = time.perf_counter()
    t_end = positive("t_end", t_end)
    if mesh not in KINDS:
        raise UnknownNameError("mesh", str(mesh), KINDS)
    setting = make_setting(
        network, cost, routing, eta=eta, t_end=t_end, period=period, ties=ties, workloads=workloads, shares=shares,
        past_workloads=workload_history, past_routing=routing_history, arrivals=arrivals, capacity=capacity,
    )  # fmt: skip
    if every is not None:
        every = whole_number("every", "simulate", every, 1)
    if settled_below is not None:
        settled_below = positive("settled_below", settled_below)
    nodes = _nodes(setting, t_end, step, tolerance, mesh)
    infeasible = infeasible_times(setting, t_end)

    def run(of: Mesh, thin: int | None) -> Trajectory:
        return _integrate(setting, of, thin, settled_below, progress, infeasible, began)

    if step is not None and not estimate_error:
        return run(nodes, every)
    goal = np.inf if step is not None else TOLERANCE if tolerance is None else positive("tolerance", tolerance)
    coarse = run(nodes, every)
    for _ in range(1 if step is not None else HALVINGS):
        nodes = nodes.refined()
        fine = run(nodes, None if every is None else 2 * every)
        estimate = _difference(coarse, fine)
        if estimate <= goal:
            break
        coarse = fine
    return _with_estimate(fine, estimate, began)


def _nodes(setting: Setting, t_end: float, step: float | None, tolerance: float | None, kind: str) -> Mesh:
    """The mesh of a step, or the first one of a search by tolerance."""
    delays = setting.delays[setting.delays > 0]
    least = float(delays.min()) if delays.size else np.inf
    if step is not None:
        step = positive("step", step)
        if tolerance is not None:
            raise ParameterError("`step` and `tolerance` of `simulate` must not both be given. Leave one out.")
        if step > least * (1 + 1e-12):
            raise ParameterError(
                f"`step` of `simulate` must be at most the smallest positive delay, {least:g} s; got {step:g}."
            )
    else:
        service = min(float(cell.rate.latency(0.0)) for cell in setting.network.cells)
        step = min(least, t_end / 4, service if service > 0 else np.inf, setting.period or np.inf)
    if setting.period is not None and step > setting.period:
        step = setting.period
    breaks = np.unique(np.r_[setting.arrivals.jumps, setting.capacity.jumps])
    smooth = setting.arrivals.coefficients[:, 1:].any() or setting.capacity.coefficients[:, 1:].any()
    jumps = np.r_[setting.workload_history.jumps, setting.routing_history.jumps]
    return make_mesh(
        setting.delays,
        t_end,
        step,
        breaks=breaks[:0] if smooth and len(breaks) > 64 else breaks,
        history_jumps=jumps[jumps < 0] if len(jumps) <= 64 else jumps[:0],
        period=setting.period,
        kind=kind,
    )


def _integrate(
    setting: Setting,
    mesh: Mesh,
    every: int | None,
    settled_below: float | None,
    progress: Callable[[float, float], None] | None,
    infeasible: tuple[tuple[float, float], ...],
    began: float,
) -> Trajectory:
    """One run over a mesh."""
    stepper = Stepper(setting, mesh)
    numbers = 3 * (stepper.n.size + stepper.x.size)
    every = every or max(1, -(-mesh.steps * numbers // MOST_STORED))
    last, k = mesh.base + mesh.steps, mesh.base
    window = max(2 * float(setting.delays.max()), 16 * mesh.step)
    stretch = STRETCH if settled_below is None else min(STRETCH, max(16, int(window / mesh.step)))
    stretch = every * -(-stretch // every)
    kept: list[tuple[Array, Array, Array, Array]] = []
    converged = False
    while k < last and not converged:
        following = min(k + stretch, last)
        kept.append(stepper.run(k, following, every))
        k = following
        if progress is not None:
            progress(float(mesh.times[k]), float(mesh.times[last]))
        if settled_below is not None:
            converged = _settled(kept, mesh.times[mesh.base : k : every], window, settled_below)
    n, n_slopes, x, x_slopes = (np.concatenate([part[r] for part in kept]) for r in range(4))
    places = np.r_[np.arange(mesh.base, k, every), k]
    return Trajectory(
        network=setting.network,
        cost=setting.cost,
        routing_kind=setting.routing,
        eta=readonly(setting.eta),
        period=setting.period if setting.routing != "discrete" or setting.period else mesh.step,
        times=readonly(mesh.times[places]),
        workloads=readonly(np.vstack([n, stepper.n])),
        workload_slopes=readonly(_by_node(n_slopes, stepper.out[:, 2])),
        shares=readonly(np.vstack([x, stepper.x])),
        share_slopes=readonly(_by_node(x_slopes, stepper.speed[:, 1])),
        workload_history=setting.workload_history,
        routing_history=setting.routing_history,
        arrivals=setting.arrivals,
        capacity=setting.capacity,
        step=mesh.step,
        steps=k - mesh.base,
        mesh=mesh.kind,
        every=every,
        snapped=stepper.snapped,
        error_estimate=np.nan,
        converged=converged,
        feasible=not infeasible,
        infeasible=infeasible,
        events=int(stepper.counts[0]),
        straightened=int(stepper.counts[1]),
        repeats=int(stepper.counts[2]),
        unsettled=int(stepper.counts[3]),
        seconds=time.perf_counter() - began,
    )


def _by_node(slopes: Array, last: Array) -> Array:
    """Slopes from both sides of every node, from those at both ends of every stretch."""
    made = np.empty((len(slopes) + 1, *slopes.shape[1:]))
    made[:-1, :, 0], made[1:, :, 1] = slopes[..., 0], slopes[..., 1]
    made[-1, :, :] = last[:, None]
    made[0, :, 1] = made[0, :, 0]
    return made


def _settled(kept: list[tuple[Array, Array, Array, Array]], times: Array, window: float, below: float) -> bool:
    """Whether nothing varied by more than ``below`` during the last ``window`` seconds."""
    if times[-1] - times[0] < window:
        return False
    since = len(times) - int(np.searchsorted(times, times[-1] - window))
    for values in ([part[0] for part in kept], [part[2] for part in kept]):
        tail: Array = np.empty((0, values[0].shape[1]))
        for part in reversed(values):
            tail = np.vstack([part, tail])
            if len(tail) >= since:
                break
        if np.ptp(tail[-since:], axis=0).max() > below:
            return False
    return True


def _difference(coarse: Trajectory, fine: Trajectory) -> float:
    """Greatest difference at the coarse nodes that both reached."""
    end = min(coarse.end, fine.end) * (1 + 1e-12)
    at = coarse.times <= end
    n, x = fine.workloads_at(np.minimum(coarse.times[at], fine.end)), fine.shares_at(np.minimum(coarse.times[at], fine.end))
    loads = np.abs(coarse.workloads[at] - n) / np.maximum(1.0, n)
    return float(max(loads.max(), np.abs(coarse.shares[at] - x).max()))


def _with_estimate(of: Trajectory, estimate: float, began: float) -> Trajectory:
    from dataclasses import replace

    return replace(of, error_estimate=estimate, seconds=time.perf_counter() - began)
