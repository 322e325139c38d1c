"""Control loops and disruptions of the plain oracle."""

import heapq
import math

import numpy as np
from scipy.optimize import linprog

from lbtheory.cells.policies import Policy
from lbtheory.estimate._kernels import fit
from tests.reference.cell_parts import DECODE, ERRORS, FIT, FLOW, PLAN, PREFILL, PROBE, SCALE, SHARE, project
from tests.reference.cell_state import SystemState


class ControlledSystem(SystemState):
    """With its loops; each method is one round."""

    def periods(self) -> dict[int, float]:
        """Control loops of this run."""
        p, mechanisms = self.p, {stage.policy.mechanism for stage in self.stages}
        found = {PROBE: p.probe_period}
        if p.leaves > 1:
            found[SHARE] = p.share_period
        if p.autoscale:
            found[SCALE] = p.scale_period
        if p.aversion and any(stage.policy.averse for stage in self.stages):
            found[ERRORS] = p.error_period
        if self.estimated:
            found[FIT] = p.fit_period
        if "mnlb" in mechanisms:
            found[PLAN] = p.plan_period
        if "flow" in mechanisms:
            found[FLOW] = p.flow_period
        return found

    def probe(self) -> None:
        """Snapshot."""
        told = [self.leaf_count[j][0] if self.p.leaves == 1 else self.shared[j] for j in range(self.n)]
        self.history.append([self.state(j, float(told[j])) for j in range(self.n)])

    def resize(self) -> None:
        """A round of the autoscaler."""
        turn, lag = self.rounds[SCALE], math.ceil(self.p.start_lag / self.p.scale_period)
        recent = self.history[self.probed :]
        self.probed = len(self.history)
        for j in range(self.n):
            self.active[j] += sum(due == turn for due in self.ready[j])
            self.ready[j] = [due for due in self.ready[j] if due > turn]
            mean = sum(row[j]["load"] for row in recent) / len(recent) if recent else 0.0
            wanted = min(max(math.ceil(mean / (self.p.scale_target * self.p.slots)), 1), len(self.servers[j]))
            while self.active[j] + len(self.ready[j]) > wanted:
                if self.ready[j]:
                    self.ready[j].remove(max(self.ready[j]))
                else:
                    self.active[j] -= 1
            while self.active[j] + len(self.ready[j]) < wanted:
                if lag:
                    self.ready[j].append(turn + lag)
                else:
                    self.active[j] += 1
        self.sizes.append(list(self.active))

    def start_root(self, root: int) -> None:
        """Fresh."""
        seen = self.seen_replicas(root)
        self.kept = {key: cell for key, cell in self.kept.items() if key[0] != root}
        self.x[:, root], self.alpha[root], self.open[root], self.root_alive[root] = seen / seen.sum(), 0, 0, True

    def exchange(self) -> None:
        """Leaves share."""
        for j in range(self.n):
            self.shared[j] = sum(c for c, alive in zip(self.leaf_count[j], self.leaf_alive[j], strict=True) if alive)

    def avert(self) -> None:
        """Aversion rates."""
        p = self.p
        for root in range(len(self.alpha)):
            cells = [j for j in range(self.n) if self.s.allowed[root // p.roots, j]]
            rates = {j: self.view(root, j)["errors"] for j in cells}
            for j in cells:
                gap = rates[j] - min(rates.values()) - p.aversion_margin
                old = self.alpha[root, j]
                self.alpha[root, j] = (
                    min(p.aversion_cap, old + p.aversion_gain * gap)
                    if gap > 0
                    else max(0.0, p.aversion_decay * old - p.aversion_step)
                )

    def flow(self) -> None:
        """Projected step of every stage that still routes requests."""
        for k, stage in enumerate(self.stages[: self.stage + 1]):
            later = self.stages[k + 1 : self.stage + 1]
            gone = any(other.start + other.ramp <= self.now for other in later) or len(later) > 1
            for root in range(self.x.shape[1]):
                if stage.policy.mechanism == "flow" and not gone and self.root_alive[root]:
                    self.flow_step(k, stage.policy, root)

    def flow_step(self, k: int, policy: Policy, root: int) -> None:
        """One root, one stage."""
        i = root // self.p.roots
        cells = np.nonzero(self.s.allowed[i])[0]
        step = self.eta[k, i] * self.p.flow_period
        z = np.array([self.x[k, root, j] - step * self.seen_cost(policy.cost, root, j) for j in cells])
        self.x[k, root] = 0
        floor = self.p.mixing / len(cells)
        above = np.maximum(project(z) - floor, 0)
        self.x[k, root, cells] = floor + (1 - self.p.mixing) * above / above.sum() if floor else project(z)

    def plan(self) -> None:
        """The linear program of MNLB, by HiGHS."""
        p, n = self.p, self.n
        rate = np.array([max(count, 1) for count in self.counts]) / p.plan_period
        self.counts = [0] * n
        arcs = [(i, j) for i in range(n) for j in range(n) if self.s.allowed[i, j]]
        headroom = p.plan_capacity or max(0.9, 1.05 * self.s.utilisation)
        limit = [headroom * self.history[-1][j]["replicas"] * self.s.server_rates[j] for j in range(n)]
        price = [2 * self.s.latency[i, j] for i, j in arcs] + [p.overflow_price] * n
        into = np.zeros((n, len(arcs) + n))
        out = np.zeros((n, len(arcs) + n))
        for a, (i, j) in enumerate(arcs):
            into[j, a] = out[i, a] = 1
        into[range(n), range(len(arcs), len(arcs) + n)] = -1
        answer = linprog(price, A_ub=into, b_ub=limit, A_eq=out, b_eq=rate, method="highs")
        assert answer.status == 0
        self.weights = np.zeros((n, n))
        for (i, j), flow in zip(arcs, answer.x, strict=False):
            self.weights[i, j] = max(flow, 0) / rate[i]

    def estimate(self) -> None:
        """Fit and publish."""
        p = self.p
        periods = round(p.fit_window / p.fit_period)
        prior = np.median(self.fitted, axis=0)
        self.window = [entry for entry in self.window if entry[0] > self.fits - periods]
        for j in range(self.n):
            found = sorted({b for _, cell, b in self.window if cell == j})
            counts = [sum(1 for _, cell, c in self.window if cell == j and c == b) for b in found]
            loads = np.array([(b + 0.5) * p.bin_width for b in found])
            logs = np.log([self.bins[j, b] for b in found])
            theta = self.fitted[j].copy()
            fit(theta, loads, logs, np.sqrt(counts), len(found), prior, p.pull, p.margin, np.zeros((12, 4)))
            self.fitted[j] = theta
            a, b, k, w = (math.exp(value) for value in theta)
            self.theta[j] = (a, b, min(k, a / (b * (1 + p.margin))), w)
        self.fits += 1

    def disrupt(self, kind: str, j: int, index: int, value: float) -> None:
        """One change."""
        if kind == "replicas":
            self.active[j] = int(value)
        elif kind == "lose":
            lost = [(r, s) for s in self.servers[j][int(value) : self.active[j]] for r in s.holds()]
            for request, server in sorted(lost, key=lambda pair: pair[0].number):
                self.heap = [e for e in self.heap if not (e[3] is request and e[1] in (PREFILL, DECODE))]
                server.queue = [r for r in server.queue if r is not request]
                server.slots = [r for r in server.slots if r is not request]
                server.engine = None if server.engine is request else server.engine
                self.forget(request)
                self.fail(request)
            heapq.heapify(self.heap)
            self.active[j] = int(value)
        elif kind == "failing":
            self.failing[j] = value
        elif kind == "crash leaf":
            self.leaf_alive[j][index], self.leaf_count[j][index] = False, 0
            self.leaf_epoch[j][index] += 1
            self.leaf_crash[j][index] = self.now
        elif kind == "restart leaf":
            self.leaf_alive[j][index] = True
        elif kind in ("prefill time", "decode time"):
            self.times[j][kind == "decode time"] = value
        elif kind == "crash root":
            self.root_alive[j * self.p.roots + index] = False
            self.root_epoch[j * self.p.roots + index] += 1
        elif kind == "stage":
            self.stage = index
            for root in [root for root, alive in enumerate(self.root_alive) if alive]:
                seen = self.seen_replicas(root)
                self.x[index, root] = seen / seen.sum()
        else:
            self.start_root(j * self.p.roots + index)
