"""State of the plain oracle, what probes answer, and what roots see. Views are kept as the whole history of snapshots."""

import heapq
import math
from typing import Any

import numpy as np

from lbtheory.cells.parameters import Parameters
from lbtheory.cells.policies import PolicySchedule
from lbtheory.cells.scenario import Scenario
from lbtheory.cells.stream import CellStream
from lbtheory.fluid.rates import Softplus
from tests.reference.cell_parts import CLIENT, Request, Server, softplus_cost


class SystemState:
    """A run under a policy schedule, before its first event."""

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
            request = Request(
                r, float(stream.arrivals[r]), int(stream.keys[r]), i, root, int(stream.prefill[r]), int(stream.decode[r])
            )
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

    def push(self, time: float, kind: int, what: Any) -> None:
        """Enter an event."""
        self.entered += 1
        heapq.heappush(self.heap, (time, kind, self.entered, what))

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
