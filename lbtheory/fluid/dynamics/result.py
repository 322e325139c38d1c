"""What an integration returns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, readonly
from lbtheory.fluid.dynamics.signals import Signal
from lbtheory.fluid.network import Network

Array = np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trajectory:
    """A solution of the delay equations, with its history and what limits its accuracy.

    Attributes
    ----------
    network : Network
    cost : str
    routing_kind : str
        One of `ROUTINGS`.
    eta : float array (s,)
        ``η_i``; NaN where the routing has none.
    period : float or None
        Seconds between updates of periodic and discrete routing.
    times : float array (m,)
        Seconds, from 0.
    workloads : float array (m, n)
        ``N_j``, requests in flight; ≥ 0.
    workload_slopes : float array (m, n, 2)
        ``N_j'`` from the right and from the left of each node.
    shares : float array (m, arcs)
        ``x_ij`` along ``network.arcs``, limits from the right; ≥ 0, and the sum over a source is 1 to rounding. `routing` is
        the same as matrices.
    share_slopes : float array (m, arcs, 2)
        From the right and from the left of each node.
    workload_history, routing_history : Signal
        For ``t ≤ 0``, (n,) and (arcs,).
    arrivals, capacity : Signal
        ``λ`` (s,) and the share of capacity in service (n,), for ever.
    step : float
        Greatest width of a step, seconds.
    steps : int
    mesh : str
        ``even`` or ``breakpoints``.
    every : int
        Every so manieth node is stored; interpolation between stored nodes is of the integrator's order for 1 only.
    snapped : float
        Most that a delay was changed to fit the mesh, seconds.
    error_estimate : float
        Greatest difference of workloads (over ``max(1, N)``) and shares from the same run with steps twice as long, an estimate
        of that run's error and so an overestimate of this one's; NaN if not asked for.
    converged : bool
        Stopped early by ``settled_below``.
    feasible : bool
        Assumption 2 held at all times; where it did not, see ``infeasible``.
    infeasible : tuple of (float, float)
        Intervals of seconds in which some sources sent more than the cells that they reach could serve.
    events : int
        Changes of an active set inside a step.
    straightened : int
        Steps of a source with too many events, taken as projected steps.
    repeats : int
        Most repetitions of a step with zero-delay arcs; ``unsettled`` counts the steps that did not settle.
    unsettled : int
    seconds : float
        Of computation.
    """

    network: Network
    cost: str
    routing_kind: str
    eta: Array
    period: float | None
    times: Array
    workloads: Array
    workload_slopes: Array
    shares: Array
    share_slopes: Array
    workload_history: Signal
    routing_history: Signal
    arrivals: Signal
    capacity: Signal
    step: float
    steps: int
    mesh: str
    every: int
    snapped: float
    error_estimate: float
    converged: bool
    feasible: bool
    infeasible: tuple[tuple[float, float], ...]
    events: int
    straightened: int
    repeats: int
    unsettled: int
    seconds: float

    @property
    def end(self) -> float:
        """Last time, seconds."""
        return float(self.times[-1])

    @property
    def routing(self) -> Array:
        """``x`` as matrices, float array (m, s, n); a source without arcs has a zero row."""
        return self.as_matrix(self.shares)

    def as_matrix(self, shares: Array) -> Array:
        """Values along arcs (…, arcs) as matrices (…, s, n)."""
        at, to = self.network.arcs
        full = np.zeros((*shares.shape[:-1], *self.network.allowed.shape))
        full[..., at, to] = shares
        return readonly(full)

    def workloads_at(self, t: Array | float) -> Array:
        """``N(t)`` by cubic Hermite interpolation, (…, n); for ``t < 0`` the history.

        Raises
        ------
        ParameterError
            After the end, or before the history begins.
        """
        return self._at(t, self.workloads, self.workload_slopes, self.workload_history, "workloads_at")

    def shares_at(self, t: Array | float) -> Array:
        """``x(t)`` along arcs, (…, arcs), on the simplex; routing in periods is constant between nodes, limits from the right.

        Between nodes a source's shares are cubics. Where those might leave the simplex, at an event, they are two straight
        lines: along the slope at one end up to the face of the simplex, and from there to the other end.
        """
        return self._at(t, self.shares, self.share_slopes, self.routing_history, "shares_at")

    def routing_at(self, t: Array | float) -> Array:
        """``x(t)`` as matrices, (…, s, n)."""
        return self.as_matrix(self.shares_at(t))

    def _at(self, t: Array | float, values: Array, slopes: Array, history: Signal, name: str) -> Array:
        times = np.asarray(t, dtype=float)
        if not np.all(times <= self.end * (1 + 1e-12)):
            raise ParameterError(f"`t` of `Trajectory.{name}` must be at most {self.end:g} s; got {t!r}.")
        k = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.times) - 2)
        width = self.times[k + 1] - self.times[k]
        u = np.clip((times - self.times[k]) / width, 0.0, 1.0)[..., None]
        width = width[..., None]
        first, last = values[k], values[k + 1]
        if name == "shares_at" and self.routing_kind in HELD:
            made = np.where(u < 1, first, last)
        else:
            h0, h1 = width * slopes[k, :, 0], width * slopes[k + 1, :, 1]
            rise = last - first
            made = first + u * (h0 + u * (3 * rise - 2 * h0 - h1 + u * (h0 + h1 - 2 * rise)))
            if name == "shares_at":
                made = self._on_simplex(made, u, first, last, h0, h1)
            made = np.maximum(made, 0.0)
        past = times < 0
        if np.any(past):
            made = np.where(past[..., None], history(np.where(past, times, 0.0)), made)
        return np.asarray(made)

    def _on_simplex(self, cubic: Array, u: Array, first: Array, last: Array, h0: Array, h1: Array) -> Array:
        """``cubic``, (…, arcs), or a line with one bend for sources with a negative inner Bernstein control point."""
        outside = np.minimum(first + h0 / 3, last - h1 / 3) < -ROUNDING
        if not outside.any():
            return cubic
        at, _ = self.network.arcs
        begins = np.r_[0, np.nonzero(np.diff(at))[0] + 1]
        counts = np.diff(np.r_[begins, at.size])
        with np.errstate(divide="ignore", invalid="ignore"):  # when the lines along the slopes at the ends meet a face
            after = np.minimum.reduceat(np.where(h0 < 0, first / -h0, 1.0), begins, axis=-1)
            before = np.minimum.reduceat(np.where(h1 > 0, last / h1, 1.0), begins, axis=-1)
        after, before = np.repeat(after, counts, axis=-1), np.repeat(before, counts, axis=-1)
        turn = np.where(after < 1, after, np.maximum(1 - before, 0.0))
        corner = np.where(after < 1, first + turn * h0, last - (1 - turn) * h1)
        with np.errstate(divide="ignore", invalid="ignore"):
            bent = np.where(u < turn, first + u / turn * (corner - first), corner + (u - turn) / (1 - turn) * (last - corner))
        return np.where(np.repeat(np.logical_or.reduceat(outside, begins, axis=-1), counts, axis=-1), bent, cubic)

    def as_json(self) -> dict[str, Any]:
        """Plain data: times, workloads, routing as matrices, and what limits the accuracy."""
        return {
            "times": self.times.tolist(),
            "workloads": self.workloads.tolist(),
            "routing": self.routing.tolist(),
            "cost": self.cost,
            "routing_kind": self.routing_kind,
            "step": self.step,
            "steps": self.steps,
            "mesh": self.mesh,
            "every": self.every,
            "snapped": self.snapped,
            "error_estimate": self.error_estimate,
            "converged": self.converged,
            "feasible": self.feasible,
            "infeasible": [list(interval) for interval in self.infeasible],
        }


ROUTINGS = ("flow", "flow-projected", "flow-periodic", "discrete", "fixed")
"""``flow``: ``x' = Π_{T(x)}(−η ĉ)`` with events; ``flow-projected``: the same by projected steps; ``flow-periodic``:
``x ← Π(x − η δ ĉ)`` every ``δ`` seconds; ``discrete``: all to the cheapest cell, decided every ``δ``; ``fixed``: constant."""
ROUNDING = 1e-14
"""Of a share."""
HELD = ("flow-periodic", "discrete", "fixed")
"""Routings that are constant between nodes."""
