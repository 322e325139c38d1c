"""Plain oracle of the cell simulator, written from its rules: one heap of events, Python objects, everything looked up afresh.

`System.step` does one event of a request, or all control loops that are due at one time, as the compiled engine does.
Conservation is recounted from the servers after every step.
"""

import heapq
import math
from typing import Any

from lbtheory.cells.policies import Policy
from tests.reference.cell_loops import ControlledSystem
from tests.reference.cell_parts import (
    CLIENT,
    DECODE,
    DISRUPT,
    ERRORS,
    FIT,
    FLOW,
    LEAF,
    PLAN,
    PREFILL,
    PROBE,
    ROOT,
    SCALE,
    SHARE,
    Request,
    Server,
    draw,
    uniform,
)


class System(ControlledSystem):
    """A run, event by event."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        for request in self.requests:
            self.push(request.arrival, ROOT, request)
        for d in self.disruptions:
            self.push(d[0], DISRUPT, d)
        self.rounds = {kind: 0 for kind in (SHARE, PROBE, SCALE, ERRORS, FIT, PLAN, FLOW)}
        self.probe()
        self.probed = 1
        for root in range(len(self.alpha)):
            self.start_root(root)
        for kind, period in self.periods().items():
            self.push(period, kind, None)

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
