"""The state of an integration, and the loop over steps: compiled, or with rates called in Python for the other families."""

from typing import Any

import numpy as np

from lbtheory.core import ParameterError
from lbtheory.fluid.costs import COSTS, arc_constants
from lbtheory.fluid.dynamics import _deposit, _kernel, _lanes, _sources, _workloads
from lbtheory.fluid.dynamics._rates import table
from lbtheory.fluid.dynamics.mesh import SAME, Mesh
from lbtheory.fluid.dynamics.setting import Setting

Array = np.ndarray

KINDS = {
    "fixed": _sources.FIXED,
    "flow": _sources.FLOW,
    "flow-projected": _sources.PROJECTED,
    "flow-periodic": _sources.PERIODIC,
    "discrete": _sources.DISCRETE,
}
APART = 2
"""Entries between two rings: without them, the same step of every ring would compete for the same places of the cache."""
MOST_PIECES = 64
"""Of one source in one step."""


class Stepper:
    """Rings, shares and workloads at the current node; `run` goes on for some steps."""

    def __init__(self, setting: Setting, mesh: Mesh) -> None:
        self.setting, self.mesh = setting, mesh
        network = setting.network
        at, to = network.arcs
        sources, n, arcs = len(network.source_names), len(network.cells), at.size
        self.costs = network.costs(setting.cost)
        self.table = table(self.costs)
        self.cell = np.ascontiguousarray(to, dtype=np.int64)
        self.first = np.searchsorted(at, np.arange(sources + 1)).astype(np.int64)
        self.tau = np.ascontiguousarray(setting.delays)
        self.coupled = np.zeros(sources, dtype=np.int64)
        self.coupled[at[self.tau == 0]] = 1
        self.coupled[~setting.arrivals.coefficients.any(axis=(0, 1))] = 2
        self.g = np.ascontiguousarray(arc_constants(setting.cost, network.latency)[at, to])
        self.even = mesh.kind == "even"
        self.lag, self.part, self.snapped = _lags(self.tau, mesh)
        self.mask = _ring(mesh, float(self.tau.max())) - 1
        self.seen, self.sent = np.zeros(arcs, dtype=np.int64), np.zeros(arcs, dtype=np.int64)
        ring = self.mask + 1 + APART
        self.ring_cost, self.ring_flow = np.zeros((n, ring, 4)), np.zeros((n, ring, 4))
        self.node = np.zeros(n)
        self.n, self.x = setting.workloads.copy(), setting.shares.copy()
        self.speed, self.c, self.out = np.zeros((arcs, 2)), np.zeros((arcs, 3)), np.zeros((n, 3))
        room = min(4 * int(np.diff(self.first).max()) + 8, MOST_PIECES)
        self.bounds, self.pieces = np.zeros((sources, room + 1)), np.zeros((room, arcs, 4))
        self.parts, self.counts = np.zeros(sources, dtype=np.int64), np.zeros(4, dtype=np.int64)
        self.done = np.zeros(sources, dtype=bool)
        self.updates = self._updates()
        self.gain = setting.eta * (setting.period or 1.0)
        quick = setting.routing in ("flow", "flow-projected") and self.even and setting.arrivals.is_constant
        self.lanes = _lanes.make_lanes(
            self.first if quick else np.zeros_like(self.first), self.cell, self.lag, self.part, self.g, ring
        )
        self._fill()

    def _updates(self) -> Array:
        """Steps that begin with an update of periodic or discrete routing; discrete routing decides at 0 too."""
        period, times = self.setting.period, self.mesh.times
        if self.setting.routing not in ("flow-periodic", "discrete"):
            return np.zeros(len(times), dtype=bool)
        if period is None:
            return np.asarray(times >= 0)
        turn = np.rint(times / period)
        due = np.abs(times - turn * period) <= 1e-6 * self.mesh.step
        return np.asarray(due & (times >= (0 if self.setting.routing == "discrete" else self.mesh.step / 2)))

    def _fill(self) -> None:
        """Costs and flows of the history."""
        setting, base, times = self.setting, self.mesh.base, self.mesh.times
        at = setting.network.arcs[0]
        past = times[: base + 1]
        if not base:
            return
        n = setting.workload_history.held()
        share = setting.capacity
        low, width = past[:-1], np.diff(past)
        from lbtheory.fluid.dynamics.signals import NODES, TO_POWERS

        moments = low[:, None] + width[:, None] * NODES
        load = np.maximum(n(moments), 0.0) / share(moments)
        for j, one in enumerate(self.costs):
            self.ring_cost[j, :base] = np.asarray(one.value(load[..., j])) @ TO_POWERS.T
        if not np.isfinite(self.ring_cost).all():
            self._not_finite(0, int(np.argwhere(~np.isfinite(self.ring_cost))[0][0]))
        flow = setting.arrivals(moments)[..., at] * setting.routing_history.held()(moments)
        flows = np.ascontiguousarray(np.einsum("pq,kqa->kap", TO_POWERS, flow))
        _deposit.prefill(
            base, self.even, self.mask, times, self.cell, self.tau, self.lag, self.part, self.sent, self.ring_flow, flows
        )

    def run(self, begin: int, end: int, every: int) -> tuple[Array, Array, Array, Array]:
        """Steps ``begin ≤ k < end`` (indices of the mesh); what `_kernel.keep` stores."""
        setting, n, arcs = self.setting, self.n.size, self.x.size
        rows = -(-(end - begin) // every)
        kept = np.empty((rows, n)), np.empty((rows, n, 2)), np.empty((rows, arcs)), np.empty((rows, arcs, 2))
        nodes = self.mesh.times[begin : end + 1]
        varies, shrinks = not setting.arrivals.is_constant, not setting.capacity.is_constant
        if varies:
            rates = np.ascontiguousarray(setting.arrivals.cubics(nodes))
        else:
            rates = np.zeros((1, setting.arrivals.size, 4))
            rates[0, :, 0] = setting.arrivals(0.0)
        shares = np.ascontiguousarray(setting.capacity.cubics(nodes)) if shrinks else np.ones((1, n, 4))
        go = self._compiled if self.table else self._plain
        k, j = go(begin, end, every, rates, varies, shares, shrinks, kept)
        if k >= 0:
            self._not_finite(k, j)
        return kept

    def _compiled(
        self, begin: int, end: int, every: int, rates: Array, varies: bool, shares: Array, shrinks: bool, kept: Any
    ) -> tuple[int, int]:
        assert self.table
        codes, parameters = self.table
        k, j = _kernel.advance(
            begin, end, every, self.even, self.mask, self.mesh.times, self.updates, KINDS[self.setting.routing],
            self.setting.uniform_ties, self.coupled, self.first, self.cell, self.tau, self.lag, self.part, self.seen, self.sent,
            self.g, self.gain, rates, varies, codes, parameters, COSTS.index(self.setting.cost), shares, shrinks,
            self.ring_cost, self.ring_flow, self.node, self.n, self.x, self.speed, self.c, self.bounds, self.pieces, self.parts,
            self.out, self.counts, *self.lanes, *kept,
        )  # fmt: skip
        return int(k), int(j)

    def _plain(
        self, begin: int, end: int, every: int, rates: Array, varies: bool, shares: Array, shrinks: bool, kept: Any
    ) -> tuple[int, int]:
        """`_kernel.advance` with the rates of any family."""
        together, times = bool((self.coupled == 1).any()), self.mesh.times
        moves = self.setting.routing in ("flow", "flow-projected")
        repeat = together and moves
        now = np.zeros((self.n.size, 3))
        for k in range(begin, end):
            if moves and (k - begin) % every == 0:
                kept[2][(k - begin) // every] = self.x
            rate, share = rates[k - begin if varies else 0], shares[k - begin if shrinks else 0]
            if not shrinks:
                share = np.tile([1.0, 0, 0, 0], (self.n.size, 1))
            if together:
                self._guess(k, share)
            self._route(k, 0, rate, varies, now)
            for turn in range(_kernel.REPEATS):
                if together:
                    now[:] = 0.0
                    self._route(k, 1, rate, varies, now)
                change = max(self._workload(k, j, share[j], now[j]) for j in range(self.n.size))
                if not change < np.inf:
                    bad = [j for j in range(self.n.size) if not np.isfinite(self.ring_cost[j, k & self.mask]).all()]
                    return k, bad[0]
                if not repeat or change < 1e-14:
                    self.counts[2] = max(self.counts[2], turn + 1)
                    break
                self.counts[3] += turn == _kernel.REPEATS - 1
            if together:
                _sources.settle(
                    k, self.even, self.mask, times, self.coupled, self.first, self.cell, self.tau, self.lag, self.part,
                    self.sent, rate, varies, self.ring_flow, self.x, self.speed, self.bounds, self.pieces, self.parts,
                )  # fmt: skip
            if not moves and (k - begin) % every == 0:
                kept[2][(k - begin) // every] = self.x
            _kernel.keep(k - begin, every, self.n, self.x, self.speed, self.out, kept[0], kept[1], kept[3])
            self.n[:] = self.out[:, 0]
            self.ring_flow[:, k & self.mask] = 0.0
        return -1, -1

    def _route(self, k: int, joint: int, rate: Array, varies: bool, now: Array) -> None:
        _sources.route(
            k, joint, self.even, self.mask, self.mesh.times, KINDS[self.setting.routing], self.updates[k],
            self.setting.uniform_ties, self.coupled, self.first, self.cell, self.tau, self.lag, self.part, self.seen, self.sent,
            self.g, self.gain, rate, varies, self.ring_cost, self.ring_flow, self.x, self.speed, self.c, self.bounds,
            self.pieces, self.parts, now, self.counts, self.done,
        )  # fmt: skip

    def _guess(self, k: int, share: Array) -> None:
        """`_workloads.guess`."""
        times = self.mesh.times
        ratio = (times[k + 1] - times[k]) / (times[k] - times[k - 1])
        for j, one in enumerate(self.costs):
            old, new = self.ring_cost[j, (k - 1) & self.mask], self.ring_cost[j, k & self.mask]
            new[:] = float(one.value(self.n[j] / share[j, 0])), (old[1] + 2 * old[2] + 3 * old[3]) * ratio, 0.0, 0.0

    def _workload(self, k: int, j: int, share: Array, now: Array) -> float:
        """`_workloads.workload_step`, and how much the cost's cubic changed."""
        one, n = self.costs[j], self.n[j]
        width = float(self.mesh.times[k + 1] - self.mesh.times[k])
        start, end, mean = self.ring_flow[j, k & self.mask, :3] + now

        def served(m: float, s: float) -> float:
            return s * float(one.rate.rate(m / s)) if m > 0 else 0.0

        s0, sm, s1 = share[0], _workloads.value(share, 0.5), _workloads.value(share, 1.0)
        middle = 1.5 * mean - (start + end) / 4
        k1 = start - served(n, s0)
        a = n + width / 2 * k1
        k2 = middle - served(a, sm)
        b = n + width / 2 * k2
        k3 = middle - served(b, sm)
        d = n + width * k3
        k4 = end - served(d, s1)
        after = n + width / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if min(a, b, d, after) < 0:
            after = _implicit(width, mean, n, lambda m: served(m, sm))
        left = end - served(after, s1)
        self.out[j] = after, k1, left
        with np.errstate(all="ignore"):
            h0 = float(one.slope(n / s0)) * (width * k1 - n * share[1] / s0) / s0
            h1 = float(one.slope(after / s1)) * (width * left - after * (share[1] + 2 * share[2] + 3 * share[3]) / s1) / s1
            c = np.array(_workloads.cubic(float(one.value(n / s0)), h0, float(one.value(after / s1)), h1))
        old = self.ring_cost[j, k & self.mask]
        change = float(np.max(np.abs(c - old)) / (1e-300 + abs(c[0]))) if np.isfinite(c).all() else np.inf
        old[:] = c
        return change

    def _not_finite(self, k: int, j: int) -> None:
        name, at = self.setting.network.cell_names[j], float(self.mesh.times[k])
        raise ParameterError(
            f"`cost` of `simulate` must be finite along the solution; the {self.setting.cost} cost of cell {name!r} is not at "
            f"{at:g} s. {self.costs[j].shape.why}"
        )


def _implicit(width: float, mean: float, n: float, served: Any) -> float:
    """`_workloads.implicit`."""
    for _ in range(8):
        goal = n + width / 8 * mean
        low, high = 0.0, max(goal, 0.0)
        while low < (y := low + (high - low) / 2) < high:
            low, high = (low, y) if y + width / 8 * served(y) > goal else (y, high)
        n = low
    return n


def _lags(tau: Array, mesh: Mesh) -> tuple[Array, Array, float]:
    """Whole steps and the rest of each delay on an even mesh, and the most that a delay was moved by rounding."""
    if mesh.kind != "even":
        return np.maximum(np.sign(tau), 0).astype(np.int64), np.zeros(tau.size), 0.0
    ratio = tau / mesh.step
    near = 10 * SAME
    lag = np.floor(ratio + near)
    part = np.where(ratio - lag < near, 0.0, ratio - lag)
    return lag.astype(np.int64), part, float(np.max(np.abs((lag + part) * mesh.step - tau)))


def _ring(mesh: Mesh, longest: float) -> int:
    """A power of two that holds every step between a flow's departure and its arrival, the history too."""
    times = mesh.times
    ahead = np.searchsorted(times, times + longest * (1 + 1e-9)) - np.arange(len(times)) if mesh.kind != "even" else mesh.base
    need = max(int(np.max(ahead)), mesh.base) + mesh.base + 8
    return 1 << int(np.ceil(np.log2(need)))
