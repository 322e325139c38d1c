"""The plain engine: any Python policy, loads recomputed from the requests in flight, nothing clever.

It is the oracle of the compiled engine and the engine of policies that have no compiled rule.
"""

from collections import deque
from collections.abc import Callable

import numpy as np

from lbtheory.core import PolicyError, generator
from lbtheory.decode.instance import Assignment
from lbtheory.decode.known import check_hazard_run, known_at, known_requests
from lbtheory.decode.policies.base import ForecastNeed, InformationSet, Policy, View
from lbtheory.decode.predictors import CurveTable, Forecast, InFlight
from lbtheory.decode.predictors.base import MEDIAN, ONE
from lbtheory.decode.stream import RequestStream
from lbtheory.decode.timing import StepTime

STEPS, DRAINED, EXHAUSTED = 0, 1, 2


def run(
    stream: RequestStream,
    policy: Policy,
    workers: int,
    slots: int,
    timing: StepTime,
    steps: int | None,
    keep_loads: bool,
    seed: int,
    progress: Callable[[int, int], None] | None,
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Run any policy; see `lbtheory.decode.engine.simulate`. Returns what the compiled driver returns."""
    system = PlainSystem(stream, policy, workers, slots)
    policy.reset(workers, slots)
    rng = generator(seed, "policy", policy.name)
    rows: list[tuple[float, ...]] = []
    loads: list[list[int]] = []
    stop = STEPS
    while steps is None or len(rows) < steps:
        system.depart()
        reason = system.release()
        if reason is not None:
            stop = reason
            break
        system.look()
        view = system.view()
        before = system.count_admitted
        policy.observe(view)
        system.admit(policy.assign(view, rng) if view.admissions else Assignment(workers=((),) * workers))
        paused = system.relax()
        load = system.loads(paused)
        duration = timing.t_fixed + timing.t_token * max(load) + timing.t_mean * (sum(load) / workers)
        active = [len(requests) for requests in system.flight]
        square = 0.0
        for tokens in load:
            square += float(tokens) * tokens
        rows.append(
            (
                max(load),
                min(load),
                sum(load),
                square,
                system.count_admitted - before,
                len(system.queue),
                sum(active),
                max(active),
                system.now,
                duration,
                len(paused),
            )
        )
        if keep_loads:
            loads.append(load)
        system.now += duration
        system.stand_still(paused)
        if progress is not None and len(rows) % 256 == 0:
            progress(len(rows), len(system.finished))
    return _table(rows, loads, workers), system.worker, system.admitted, system.released, system.paused, stop


def _table(rows: list[tuple[float, ...]], loads: list[list[int]], workers: int) -> dict[str, np.ndarray]:
    counts = ("maximum", "minimum", "total", "square", "admitted", "waiting", "active", "fullest")
    names = (*counts, "start", "duration", "paused")
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    table = {
        name: np.array(column, float if name in ("square", "start", "duration") else np.int64)
        for name, column in zip(names, columns, strict=True)
    }
    table["loads"] = np.array(loads, np.int64).reshape(-1, workers)
    return table


class PlainSystem:
    """The decode system in plain lists."""

    def __init__(self, stream: RequestStream, policy: Policy, workers: int, slots: int) -> None:
        self.stream, self.policy, self.workers, self.slots = stream, policy, workers, slots
        self.prompts, self.outputs = stream.prompts.tolist(), stream.outputs.tolist()
        self.times = None if stream.releases.times is None else stream.releases.times.tolist()
        self.k, self.now, self.next = 0, 0.0, 0
        self.queue: deque[int] = deque()
        self.flight: list[list[int]] = [[] for _ in range(workers)]
        self.finished: list[int] = []
        n = len(stream)
        self.worker, self.admitted, self.released = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.paused, self.paused_at = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.count_admitted, self.sum_released = 0, 0
        self.coins = stream.coins() if InformationSet.COINS in policy.information else None
        self.tracker = None if (need := policy.forecast_need()) is None else _Tracker(need, self)

    def depart(self) -> None:
        """Requests whose last iteration was the previous one leave."""
        self.k += 1
        for g, requests in enumerate(self.flight):
            gone = [i for i in requests if self.age(i) >= self.outputs[i]]
            self.finished += gone
            self.flight[g] = [i for i in requests if self.age(i) < self.outputs[i]]

    def release(self) -> int | None:
        """New requests join the queue; a reason to stop, or None."""
        kind, n = self.stream.releases.kind, len(self.stream)
        free = self.workers * self.slots - sum(map(len, self.flight))
        if kind == "saturated":
            want = self.stream.releases.queue + free
            if len(self.queue) + n - self.next < want:
                return EXHAUSTED
            while len(self.queue) < want:
                self.join()
            return None
        if len(self.finished) == n:
            return DRAINED
        assert self.times is not None
        if kind == "clock" and free == self.workers * self.slots and not self.queue:
            self.now = max(self.now, self.times[self.next])
        while self.next < n and self.times[self.next] <= (self.k if kind == "iteration" else self.now):
            self.join()
        return None

    def join(self) -> None:
        """The next request of the stream joins the queue."""
        self.released[self.next] = self.k
        self.sum_released += self.prompts[self.next]
        self.queue.append(self.next)
        self.next += 1

    def age(self, i: int) -> int:
        """Tokens that a request in flight has generated before this iteration."""
        return self.k - int(self.admitted[i]) - int(self.paused[i])

    def loads(self, without: frozenset[int] = frozenset()) -> list[int]:
        """``L_g``, from the requests in flight, without the paused ones."""
        return [sum(self.prompts[i] + self.age(i) for i in requests if i not in without) for requests in self.flight]

    def relax(self) -> frozenset[int]:
        """The requests paused in this iteration, see `lbtheory.decode.engine.simulate`; none without ``pause``."""
        if self.policy.pause is None:
            return frozenset()
        limit = (1.0 + self.policy.pause) * (sum(self.loads()) / self.workers)
        found: set[int] = set()
        for g, requests in enumerate(self.flight):
            free = [i for i in requests if self.admitted[i] < self.k and not 0 < self.paused_at[i] >= self.k - 1]
            sizes = {i: self.prompts[i] + self.age(i) for i in free}
            running = len(requests)
            while (excess := self.loads(frozenset(found))[g] - limit) > 0 and sizes and running > 1:
                enough = [i for i, size in sizes.items() if size >= excess]
                i = min(enough, key=lambda i: (sizes[i], i)) if enough else max(sizes, key=lambda i: (sizes[i], -i))
                found.add(i)
                del sizes[i]
                running -= 1
        return frozenset(found)

    def stand_still(self, paused: frozenset[int]) -> None:
        """After the step, paused requests are an iteration behind."""
        for i in paused:
            self.paused[i] += 1
            self.paused_at[i] = self.k

    def look(self) -> None:
        """Keep forecasts up to date."""
        if self.tracker is not None:
            self.tracker.refresh()

    def view(self) -> View:
        """What the policy may see."""
        order = list(self.queue)
        return View(
            self.policy.information,
            iteration=self.k,
            slots=self.slots,
            admitted=self.count_admitted,
            free=[self.slots - len(requests) for requests in self.flight],
            active=[len(requests) for requests in self.flight],
            order=order,
            waited=[self.k - int(self.released[i]) for i in order],
            weights=[1] * len(order) if self.stream.weights is None else self.stream.weights[order].tolist(),
            loads=self.loads(),
            ages=[sum(map(self.age, requests)) for requests in self.flight],
            prompts=[self.prompts[i] for i in order],
            prompt_mean=self.sum_released / self.next if self.next else 0.0,
            forecast=None if self.tracker is None else self.tracker.forecast(),
            coins=None if self.coins is None else self.coins[order],
        )

    def admit(self, assignment: Assignment) -> None:
        """Check the assignment and carry it out."""
        order = list(self.queue)
        if not isinstance(assignment, Assignment) or any(
            not isinstance(position, int | np.integer) for positions in assignment.workers for position in positions
        ):
            raise PolicyError(
                f"policy {self.policy.name!r} must return an Assignment of whole positions in the queue; got {assignment!r}."
            )
        chosen = [position for positions in assignment.workers for position in positions]
        free = [self.slots - len(requests) for requests in self.flight]
        name = self.policy.name
        if len(assignment.workers) != self.workers or len(set(chosen)) != len(chosen):
            raise PolicyError(f"policy {name!r} must name each request at most once, for {self.workers} workers.")
        if any(not 0 <= position < len(order) for position in chosen):
            raise PolicyError(f"policy {name!r} named a request that does not wait.")
        if any(len(positions) > c for positions, c in zip(assignment.workers, free, strict=True)):
            raise PolicyError(f"policy {name!r} gave a worker more requests than it has free slots.")
        if self.policy.maximal and len(chosen) != min(len(order), sum(free)):
            raise PolicyError(f"policy {name!r} must admit {min(len(order), sum(free))} requests; it admitted {len(chosen)}.")
        for g, positions in enumerate(assignment.workers):
            for position in positions:
                i = order[position]
                self.worker[i], self.admitted[i] = g, self.k
                self.flight[g].append(i)
        taken = set(chosen)
        self.queue = deque(i for position, i in enumerate(order) if position not in taken)
        self.count_admitted += len(chosen)


class _Tracker:
    """Forecasts of the requests in flight and the loads that they project."""

    def __init__(self, need: ForecastNeed, system: PlainSystem) -> None:
        self.need, self.system, self.predictor = need, system, need.predictor
        self.made_at = 0
        self.forecasts: dict[int, float] = {}
        self.curves: CurveTable | None = None
        if need.hazard:
            check_hazard_run(system.stream, need, system.slots)

    def refresh(self) -> None:
        """Fit anew when it is time; forecast every request in flight, every iteration or every ``H`` iterations."""
        s, need = self.system, self.need
        refit = need.predictor.refit
        if refit and s.k > 1 and (s.k - 1) % refit == 0:
            self.predictor = need.predictor.learn(known_at(s.stream, s.admitted, s.k))
            self.curves = None
        if need.hazard:
            self.made_at = s.k
            if self.curves is None:
                self.curves = self.predictor.curve_table(known_requests(s.stream, self.predictor))
            return
        if not need.every_iteration and self.made_at and s.k - self.made_at < need.horizon:
            return
        self.made_at = s.k
        ids = np.array([i for requests in s.flight for i in requests], np.int64)
        ages = s.k - s.admitted[ids]
        flight = InFlight(
            ids=ids,
            ages=ages,
            prompts=s.stream.prompts[ids],
            keys=None if s.stream.keys is None else s.stream.keys[ids],
            remaining=s.stream.outputs[ids] - ages if self.predictor.oracle else None,
        )
        values = self.predictor.predict(flight, need.cap) if len(ids) else np.zeros(0)
        self.forecasts = {int(i): float(c) for i, c in zip(ids, values, strict=True)}

    def forecast(self) -> Forecast:
        """``A_{g,h}`` for what is left of the window; requests admitted since the refresh stay."""
        if self.need.hazard:
            return self.expected()
        s, need = self.system, self.need
        since = s.k - self.made_at
        reach = need.horizon - since
        loads = [[0] * s.workers for _ in range(reach + 1)]
        first, leaving = [reach + 1] * s.workers, [0] * (reach + 1)
        for g, requests in enumerate(s.flight):
            for i in requests:
                made = self.forecasts.get(i, float(need.cap))
                left = float("inf") if made >= need.cap else max(1.0, made - since)
                for h in range(reach + 1):
                    if h < left:
                        loads[h][g] += s.prompts[i] + s.k - int(s.admitted[i]) + h
                    else:
                        first[g] = min(first[g], h)
                        leaving[h] += 1
                        break
        return Forecast(loads=loads, next_departure=first, leaving=leaving)

    def expected(self) -> Forecast:
        """``Σ_i (W_i + h) P̂(r_i > h)``, rounded to whole tokens."""
        s, reach = self.system, self.need.horizon
        assert self.curves is not None
        loads = [[0] * s.workers for _ in range(reach + 1)]
        gone = [[0] * s.workers for _ in range(reach + 1)]
        for g, requests in enumerate(s.flight):
            for i in requests:
                age = s.k - int(s.admitted[i])
                stays = self.curves.surviving(i, age, reach)
                for h, chance in enumerate(stays):
                    loads[h][g] += (s.prompts[i] + age + h) * chance
                    gone[h][g] += (stays[h - 1] if h else ONE) - chance
        first = [reach + 1] * s.workers
        for g in range(s.workers):
            so_far = 0
            for h in range(reach + 1):
                so_far += gone[h][g]
                if so_far >= MEDIAN:
                    first[g] = h
                    break
        whole = [[(load + ONE // 2) // ONE for load in row] for row in loads]
        return Forecast(loads=whole, next_departure=first, leaving=[sum(row) / ONE for row in gone])
