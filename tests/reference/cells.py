"""Plain oracle of the cell simulator, written from its rules: one heap of events, Python objects, everything looked up afresh.

`System.step` does one event of a request, or all control loops that are due at one time, as the compiled engine does. Views are
kept as the whole history of snapshots. Conservation is recounted from the servers after every step.
"""

import heapq
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linprog

from lbtheory.cells.parameters import Parameters
from lbtheory.cells.policies import Policy, PolicySchedule
from lbtheory.cells.scenario import Scenario
from lbtheory.cells.stream import CellStream
from lbtheory.estimate._kernels import fit
from lbtheory.fluid.rates import Softplus

PREFILL, DECODE, LEAF, CLIENT, DISRUPT, SHARE, PROBE, SCALE, ERRORS, FIT, PLAN, FLOW, ROOT = range(13)
WORD = 2**64 - 1


def uniform(key: int, k: int) -> float:
    """SplitMix64 of the key and the index, as 53 bits."""
    z = (key + (k + 1) * 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return ((z ^ (z >> 31)) >> 11) / 2**53


def softplus_cost(theta: tuple[float, float, float, float], n: float, cost: str) -> float:
    """``ℓ`` or ``ℓ²/(ℓ − nℓ')``."""
    a, b, k, w = theta
    u = (n - k) / w
    latency = a + b * w * (max(u, 0.0) + math.log1p(math.exp(-abs(u))))
    if cost == "latency":
        return latency
    share = 1 / (1 + math.exp(u))
    fall = (a - b * k) + b * (w * (max(-u, 0.0) + math.log1p(math.exp(-abs(u)))) + n * share)
    return min(max(latency**2 / fall, -1e9), 1e9)


def project(z: np.ndarray) -> np.ndarray:
    """Simplex projection by sorting."""
    ordered = np.sort(z)[::-1]
    shift = (np.cumsum(ordered) - 1) / np.arange(1, len(z) + 1)
    return np.maximum(z - shift[np.nonzero(ordered > shift)[0][-1]], 0)


@dataclass(eq=False)
class Request:
    """One request; ``phase`` is where it is."""

    number: int
    key: int
    source: int
    root: int
    prefill: int
    decode: int
    phase: str = "future"
    cell: int = -1
    server: int = -1
    leaf: int = -1
    accepted: float = math.nan
    finished: float = math.nan
    returned: float = math.nan
    load: float = 0.0
    epochs: tuple[int, int] = (0, 0)
    session: int = -1
    saving: float = 0.0
    hit: bool = False
    target: int = -1


@dataclass(eq=False)
class Server:
    """Queue, engine, slots."""

    queue: list[Request] = field(default_factory=list)
    engine: Request | None = None
    slots: list[Request] = field(default_factory=list)

    def holds(self) -> list[Request]:
        """Everything in it."""
        return self.queue + ([self.engine] if self.engine else []) + self.slots


class System:
    """A run under a policy."""

    def __init__(
        self,
        scenario: Scenario,
        schedule: PolicySchedule,
        stream: CellStream,
        p: Parameters,
        *,
        models: list[Softplus],
        estimated: bool,
        stepsize: np.ndarray,
        disruptions: list[tuple[float, str, int, int, float]],
    ) -> None:
        self.s, self.stages, self.p, self.eta, self.estimated = scenario, schedule.stages, p, stepsize, estimated
        self.stage = 0
        self.costs = {"rif", "latency", *(stage.policy.cost for stage in self.stages)}
        self.n = len(scenario.cells)
        self.theta = [(m.a, m.b, m.k, m.w) for m in models]
        self.fitted = np.log(np.array(self.theta))
        self.active = [int(count) for count in scenario.servers]
        most = [math.floor(count * p.scale_cap) for count in self.active] if p.autoscale else scenario.most_servers.tolist()
        self.servers = [[Server() for _ in range(count)] for count in most]
        self.ready: list[list[int]] = [[] for _ in most]  # round in which each server that starts is ready
        self.sizes = [list(self.active)]
        self.probed = 0  # snapshots that the autoscaler has used
        self.failing = [0.0] * self.n
        self.times = [[cell.prefill_token_time, cell.decode_token_time] for cell in scenario.cells]
        self.errors = [[0.0, 0.0, 0.0] for _ in range(self.n)]
        self.leaf_count = [[0] * p.leaves for _ in range(self.n)]
        self.leaf_alive = [[True] * p.leaves for _ in range(self.n)]
        self.leaf_epoch = [[0] * p.leaves for _ in range(self.n)]
        self.leaf_crash = [[0.0] * p.leaves for _ in range(self.n)]
        self.turn, self.shared, self.wire = [0] * self.n, [0] * self.n, [0] * self.n
        roots = self.n * p.roots
        self.root_alive, self.root_epoch = [True] * roots, [0] * roots
        self.alpha = np.zeros((roots, self.n))
        self.open = np.zeros((roots, self.n), int)
        self.x = np.zeros((len(self.stages), roots, self.n))
        self.weights: np.ndarray | None = None
        self.counts = [0] * self.n
        self.bins: dict[tuple[int, int], float] = {}
        self.window: list[tuple[int, int, int]] = []
        self.fits = 0
        self.exploring: set[int] = set()
        self.holders: dict[tuple[int, int], int] = {}
        self.kept: dict[tuple[int, int], int] = {}
        self.requests = []
        seen = [0] * self.n
        for r in range(len(stream)):
            i = int(stream.sources[r])
            root = i * p.roots + seen[i] % p.roots
            seen[i] += 1
            request = Request(r, int(stream.keys[r]), i, root, int(stream.prefill[r]), int(stream.decode[r]))
            if stream.sessions is not None and stream.savings is not None:
                request.session, request.saving = int(stream.sessions[r]), float(stream.savings[r])
            request.target = -1 if stream.targets is None else int(stream.targets[r])
            self.requests.append(request)
        self.heap: list[tuple[float, int, int, Any]] = []
        self.entered = 0
        self.arrived = self.done = self.failed = 0
        self.now = 0.0
        self.history: list[list[dict[str, float]]] = []
        self.disruptions = disruptions
        for r, request in enumerate(self.requests):
            self.push(float(stream.arrivals[r]), ROOT, request)
        for d in disruptions:
            self.push(d[0], DISRUPT, d)
        self.rounds = {kind: 0 for kind in (SHARE, PROBE, SCALE, ERRORS, FIT, PLAN, FLOW)}
        self.probe()
        self.probed = 1
        for root in range(roots):
            self.start_root(root)
        for kind, period in self.periods().items():
            self.push(period, kind, None)

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

    def push(self, time: float, kind: int, what: Any) -> None:
        """Enter an event."""
        self.entered += 1
        heapq.heappush(self.heap, (time, kind, self.entered, what))

    def busy(self) -> bool:
        """Whether a request still has something ahead of it."""
        return any(kind <= CLIENT or kind == ROOT for _, kind, _, _ in self.heap)

    def step(self) -> None:
        """One event of a request, or all loops that are due at one time."""
        time, kind, _, what = heapq.heappop(self.heap)
        self.now = time
        self.act(kind, what)
        while DISRUPT <= kind <= FLOW and self.heap and self.heap[0][0] == time and DISRUPT <= self.heap[0][1] <= FLOW:
            _, kind, _, what = heapq.heappop(self.heap)
            self.act(kind, what)

    def act(self, kind: int, what: Any) -> None:
        """Do it, and enter the loop's next round."""
        if kind in self.rounds:
            self.rounds[kind] += 1
            self.push((self.rounds[kind] + 1) * self.periods()[kind], kind, None)
        loops = {
            SHARE: self.exchange,
            PROBE: self.probe,
            SCALE: self.resize,
            ERRORS: self.avert,
            FIT: self.estimate,
            PLAN: self.plan,
            FLOW: self.flow,
        }
        if kind in loops:
            loops[kind]()
        elif kind == DISRUPT:
            self.disrupt(*what[1:])
        else:
            {PREFILL: self.prefilled, DECODE: self.decoded, LEAF: self.at_leaf, CLIENT: self.at_client, ROOT: self.at_root}[
                kind
            ](what)

    def in_flight(self) -> int:
        """Recounted from where the requests are."""
        inside = sum(len(server.holds()) for cell in self.servers for server in cell)
        assert inside == sum(request.phase in ("waiting", "prefill", "blocked", "decode") for request in self.requests)
        return inside + sum(request.phase in ("out", "back", "error") for request in self.requests)

    def rif(self, j: int) -> int:
        """Requests in the servers of a cell."""
        return sum(len(server.holds()) for server in self.servers[j])

    def cost(self, kind: str, j: int, rif: float, replicas: float) -> float:
        """``f_j``."""
        return rif / replicas if kind == "rif" else softplus_cost(self.theta[j], rif / replicas, kind)

    def live(self, j: int) -> dict[str, float]:
        """What the current state of a cell is worth."""
        return self.state(j, float(self.rif(j)))

    def error_rate(self, j: int) -> float:
        """``e_j``."""
        bad, every, last = self.errors[j]
        return bad / every * 2 ** (-(self.now - last) / self.p.idle_half_life) if bad > 0 else 0.0

    def outcome(self, j: int, bad: float) -> None:
        """Decayed sums."""
        fade = 2 ** (-(self.now - self.errors[j][2]) / self.p.error_half_life)
        self.errors[j] = [self.errors[j][0] * fade + bad, self.errors[j][1] * fade + 1, self.now]

    def state(self, j: int, rif: float) -> dict[str, float]:
        """What a probe answers when it is told of ``rif`` requests: these, replicas, error rate, costs."""
        replicas = float(self.active[j])
        costs = {kind: self.cost(kind, j, rif, replicas) for kind in self.costs}
        return {"load": rif, "replicas": replicas, "errors": self.error_rate(j), **costs}

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

    def view(self, root: int, j: int) -> dict[str, float]:
        """What a root sees."""
        if self.p.current_state:
            return self.live(j)
        i = root // self.p.roots
        index = min(math.floor((self.now - self.s.latency[i, j]) / self.p.probe_period), len(self.history) - 1)
        if not self.p.shared_probes:
            while index > 0 and index % self.p.roots != root % self.p.roots:
                index -= 1
        return self.history[max(index, 0)][j]

    def seen_cost(self, kind: str, root: int, j: int) -> float:
        """``ĉ_ij``."""
        trip = 0.0 if kind == "rif" else 2 * self.s.latency[root // self.p.roots, j]
        return self.view(root, j)[kind] + trip

    def seen_replicas(self, root: int) -> np.ndarray:
        """Of the admissible cells; 0 for others."""
        allowed = self.s.allowed[root // self.p.roots]
        return np.array([self.view(root, j)["replicas"] if allowed[j] else 0.0 for j in range(self.n)])

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

    # requests

    def at_root(self, request: Request) -> None:
        """Route it."""
        self.arrived += 1
        i, m = request.source, self.p.roots
        self.counts[i] += request.target < 0
        peers = [i * m + (request.root - i * m + step) % m for step in range(m)]
        alive = [root for root in peers if self.root_alive[root]]
        if not alive:
            request.phase, request.finished, request.returned = "failed", self.now, self.now
            self.failed += 1
            return
        request.root = alive[0]
        request.cell = j = self.route(request) if request.target < 0 else request.target
        request.phase = "out"
        if request.session >= 0:
            self.kept[request.root, request.session] = j
        request.epochs = (0, self.root_epoch[request.root])
        self.open[request.root, j] += 1
        self.wire[j] += 1
        self.push(self.now + self.s.latency[i, j], LEAF, request)

    def policy_of(self, request: Request) -> tuple[int, Policy]:
        """Stage and policy that a request goes by."""
        k = self.stage
        share = (self.now - self.stages[k].start) / self.stages[k].ramp if self.stages[k].ramp else 1.0
        if share < 1 and uniform(request.key, 4) * self.stages[k].ramp >= self.now - self.stages[k].start:
            k -= 1
        return k, self.stages[k].policy

    def scores(self, request: Request) -> tuple[str, dict[int, float]]:
        """("least" or "weight", score by admissible cell)."""
        k, policy = self.policy_of(request)
        root, mechanism = request.root, policy.mechanism
        cells = [j for j in range(self.n) if self.s.allowed[request.source, j]]
        if mechanism == "flow":
            return "weight", {j: self.x[k, root, j] for j in cells}
        if mechanism == "mnlb" and self.weights is not None:
            return "weight", {j: self.weights[request.source, j] for j in cells}
        if mechanism in ("random", "mnlb", "power-of-two"):
            return "weight", {j: self.view(root, j)["replicas"] for j in cells}
        if mechanism == "discrete":
            return "least", {j: self.seen_cost(policy.cost, root, j) for j in cells}
        if mechanism == "least-connections":
            return "least", {j: self.open[root, j] / self.view(root, j)["replicas"] for j in cells}
        if mechanism == "clairvoyant":
            live = {j: self.state(j, float(self.rif(j) + self.wire[j]))[policy.cost] for j in cells}
            return "least", {j: live[j] + 2 * self.s.latency[request.source, j] for j in cells}
        load = {j: self.view(root, j)["rif"] for j in cells}
        hot = {j: sum(load[k] < load[j] for k in cells) >= self.p.hot_quantile * len(cells) for j in cells}
        return "least", {j: 1e6 + load[j] if hot[j] else self.seen_cost(policy.cost, root, j) for j in cells}

    def pick(self, request: Request, refused: set[int], u: float, second: float) -> int:
        """A cell not refused, or −1."""
        how, score = self.scores(request)
        mechanism = self.policy_of(request)[1].mechanism
        if not refused and mechanism == "discrete" and uniform(request.key, 3) < self.p.mixing:
            self.exploring.add(request.number)
        if request.number in self.exploring:
            score = dict.fromkeys(score, 0.0)
        if how == "least":
            left = {j: value for j, value in score.items() if j not in refused}
            ties = [j for j, value in left.items() if value == min(left.values())]
            return -1 if not ties else ties[int(u * len(ties))] if self.p.random_ties else ties[0]
        first = draw(score, refused, u)
        if mechanism != "power-of-two" or first < 0:
            return first
        other = draw(score, refused | {first}, second)
        if other < 0:
            return first
        load = {j: self.view(request.root, j)["rif"] for j in (first, other)}
        return other if load[other] < load[first] else first

    def route(self, request: Request) -> int:
        """First choice, or where aversion diverts it."""
        key = request.key
        first = at = self.home(request)
        if first < 0:
            first = at = self.pick(request, set(), uniform(key, 0), uniform(key, 1))
        if not self.policy_of(request)[1].averse or not (self.alpha[request.root] > 0).any():
            return first
        refused: set[int] = set()
        for attempt in range(self.n):
            if uniform(key, 1024 + 3 * attempt) >= self.alpha[request.root, at]:
                return at
            refused.add(at)
            at = self.pick(request, refused, uniform(key, 1025 + 3 * attempt), uniform(key, 1026 + 3 * attempt))
            if at < 0:
                break
        return first

    def home(self, request: Request) -> int:
        """Where affinity sends it, or −1."""
        if request.session < 0 or self.p.affinity == "none":
            return -1
        cells = [j for j in range(self.n) if self.s.allowed[request.source, j]]
        if self.p.affinity == "hash":
            seen = {j: self.view(request.root, j)["replicas"] for j in cells}
            draws = {j: -math.log(1 - uniform(request.session, 4096 + j)) / seen[j] for j in cells}
            return min(draws, key=lambda j: draws[j])
        home = self.kept.get((request.root, request.session), -1)
        if home < 0 or self.p.affinity == "sticky" or len(cells) == 1:
            return home
        cost = {j: self.seen_cost("latency", request.root, j) for j in cells}
        best = min((j for j in cells if j != home), key=lambda j: cost[j])
        saved = self.p.expected_saving * self.s.prefill_tokens.mean * self.times[home][0]
        return home if cost[home] - saved < cost[best] else best

    def holder(self, request: Request) -> int:
        """Index of the server with its prefix that takes it, or −1."""
        j, s = request.cell, request.session
        if s < 0 or self.p.affinity == "none":
            return -1
        if self.p.affinity == "hash":
            return int(uniform(s, 4095) * self.active[j])
        q = self.holders.get((j, s), -1)
        if q < 0 or q >= self.active[j]:
            return -1
        server = self.servers[j][q]
        full = self.p.queue is not None and server.engine is not None and len(server.queue) >= self.p.queue
        return -1 if full else q

    def fail(self, request: Request) -> None:
        """Answer with an error."""
        self.outcome(request.cell, 1.0)
        request.phase, request.finished = "error", self.now
        self.push(self.now + self.s.latency[request.source, request.cell], CLIENT, request)

    def forget(self, request: Request) -> None:
        """Its leaf counts one less, unless it crashed meanwhile."""
        j, leaf = request.cell, request.leaf
        if self.leaf_epoch[j][leaf] == request.epochs[0]:
            self.leaf_count[j][leaf] -= 1

    def at_leaf(self, request: Request) -> None:
        """Hand it to a server."""
        j, p = request.cell, self.p
        if request.leaf < 0:
            turn = self.turn[j] % p.leaves
            self.turn[j] += 1
            back = self.leaf_crash[j][turn] + p.leaf_timeout
            if not self.leaf_alive[j][turn] and self.now < back:
                request.leaf = turn
                self.push(back, LEAF, request)
                return
        else:
            turn = request.leaf
        self.wire[j] -= 1
        alive = [(turn + step) % p.leaves for step in range(p.leaves) if self.leaf_alive[j][(turn + step) % p.leaves]]
        if not alive:
            self.fail(request)
            return
        request.leaf = alive[0]
        if self.failing[j] > 0 and uniform(request.key, 2) < self.failing[j]:
            self.fail(request)
            return
        held = self.holder(request)
        server = self.servers[j][held] if held >= 0 else self.choose_server(request)
        if server.engine and p.queue is not None and len(server.queue) >= p.queue:
            self.fail(request)
            return
        request.server = self.servers[j].index(server)
        request.accepted = self.now
        if request.session >= 0:
            if self.holders.get((j, request.session)) == request.server:
                request.hit = True
                request.prefill = max(1, math.ceil(request.prefill * (1 - request.saving)))
            self.holders[j, request.session] = request.server
        request.epochs = (self.leaf_epoch[j][request.leaf], request.epochs[1])
        self.leaf_count[j][request.leaf] += 1
        request.phase = "waiting"
        server.queue.append(request)
        request.load = self.rif(j) / self.active[j]
        self.engine(request.cell, server)

    def choose_server(self, request: Request) -> Server:
        """Least backlog among distinct picks; ties: the first pick."""
        left = list(self.servers[request.cell][: self.active[request.cell]])
        picks = []
        for c in range(min(self.p.choices, len(left))):
            picks.append(left.pop(int(uniform(request.key, 8 + c) * len(left))))

        def backlog(server: Server) -> int:
            tokens = sum(r.prefill for r in server.queue)
            if server.engine and server.engine.phase == "prefill" and self.p.count_service:
                tokens += server.engine.prefill
            return tokens

        return min(picks, key=backlog)

    def engine(self, j: int, server: Server) -> None:
        """Start a prefill where the engine is free."""
        if server.engine is None and server.queue:
            server.engine = server.queue.pop(0)
            server.engine.phase = "prefill"
            self.push(self.now + server.engine.prefill * self.times[j][0], PREFILL, server.engine)

    def decode(self, j: int, server: Server) -> None:
        """Start the decode of a request that holds the engine, where a slot is free."""
        request = server.engine
        if request and request.phase == "blocked" and len(server.slots) < self.p.slots:
            server.engine, request.phase = None, "decode"
            server.slots.append(request)
            self.push(self.now + request.decode * self.times[j][1], DECODE, request)
            self.engine(j, server)

    def prefilled(self, request: Request) -> None:
        """End of prefill."""
        request.phase = "blocked"
        self.decode(request.cell, self.servers[request.cell][request.server])

    def decoded(self, request: Request) -> None:
        """End of decode."""
        server = self.servers[request.cell][request.server]
        server.slots.remove(request)
        request.phase, request.finished = "back", self.now
        self.forget(request)
        self.outcome(request.cell, 0.0)
        self.push(self.now + self.s.latency[request.source, request.cell], CLIENT, request)
        self.decode(request.cell, server)
        if self.estimated:
            b = min(int(request.load / self.p.bin_width), self.p.bins - 1)
            latency, key = self.now - request.accepted, (request.cell, b)
            self.bins[key] = self.bins[key] + self.p.smoothing * (latency - self.bins[key]) if key in self.bins else latency
            self.window.append((self.fits, request.cell, b))

    def at_client(self, request: Request) -> None:
        """The answer is there."""
        request.returned = self.now
        if self.root_epoch[request.root] == request.epochs[1]:
            self.open[request.root, request.cell] -= 1
        if request.phase == "back":
            request.phase = "done"
            if request.session >= 0:
                self.kept[request.root, request.session] = request.cell
            self.done += 1
        else:
            request.phase = "failed"
            self.failed += 1


def draw(score: dict[int, float], refused: set[int], u: float) -> int:
    """A cell in proportion to its weight."""
    left = [j for j in score if j not in refused]
    goal, last = u * sum(score[j] for j in left), -1
    for j in left:
        if score[j] > 0:
            last = j
            goal -= score[j]
            if goal < 0:
                return j
    return last
