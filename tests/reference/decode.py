"""Plain oracles of the decode system, written from the model's definitions: everything is recomputed from scratch.

A rule is a function of a `Moment` that returns (request, worker) pairs in the order of admission; it is asked at every
iteration. Scores are exact fractions; levels are exact fractions, or doubles in the order of the written formula where asked.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np


@dataclass
class Moment:
    """What there is to know before admission at iteration ``k``; ``memory`` is the rule's own."""

    k: int
    slots: int
    prompts: list[int]
    outputs: list[int]
    queue: list[int]
    flight: list[list[int]]
    since: dict[int, int]
    admitted: int
    released: list[int]
    coins: np.ndarray
    memory: dict[str, Any]

    @property
    def workers(self) -> int:
        """``G``."""
        return len(self.flight)

    @property
    def free(self) -> list[int]:
        """Free slots ``c_g``."""
        return [self.slots - len(requests) for requests in self.flight]

    @property
    def admissions(self) -> int:
        """``U``."""
        return min(len(self.queue), sum(self.free))

    def age(self, i: int) -> int:
        """Tokens that a request in flight has generated before this iteration."""
        return self.k - self.since[i]

    def loads(self) -> list[int]:
        """Survivors' workload ``a_g``."""
        return [sum(self.prompts[i] + self.age(i) for i in requests) for requests in self.flight]


Rule = Callable[[Moment], list[tuple[int, int]]]


@dataclass
class Trajectory:
    """What happened: by iteration, and by request (0 or −1: never)."""

    loads: list[list[int]] = field(default_factory=list)
    start: list[float] = field(default_factory=list)
    end: list[float] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    active: list[list[int]] = field(default_factory=list)
    worker: list[int] = field(default_factory=list)
    admitted: list[int] = field(default_factory=list)
    released: list[int] = field(default_factory=list)


def simulate(
    prompts: list[int],
    outputs: list[int],
    rule: Rule,
    *,
    workers: int,
    slots: int,
    kind: str,
    queue: int = 0,
    times: list[float] | None = None,
    coins: np.ndarray | None = None,
    step_time: Callable[[list[int]], float] = lambda loads: 0.0523 + 3.9e-7 * max(loads),
) -> Trajectory:
    """Run a rule until every request has finished or (saturated) the stream cannot fill the queue any more."""
    n = len(prompts)
    out = Trajectory(worker=[-1] * n, admitted=[0] * n, released=[0] * n)
    coins = np.zeros((n, 3)) if coins is None else coins
    memory: dict[str, Any] = {}
    waiting: list[int] = []
    k, now, upcoming = 0, 0.0, 0
    while True:
        k += 1
        alive = [i for i in range(n) if out.admitted[i] and out.admitted[i] <= k <= out.admitted[i] + outputs[i] - 1]
        flight = [[i for i in alive if out.worker[i] == g] for g in range(workers)]
        if kind == "saturated":
            joining = queue + workers * slots - len(alive) - len(waiting)
            if upcoming + joining > n:
                return out
        else:
            if upcoming == n and not waiting and not alive:
                return out
            assert times is not None
            if kind == "clock" and not waiting and not alive:
                now = max(now, times[upcoming])
            joining = sum(1 for t in times[upcoming:] if t <= (k if kind == "iteration" else now))
        for i in range(upcoming, upcoming + joining):
            out.released[i] = k
            waiting.append(i)
        upcoming += joining
        since = {i: out.admitted[i] for i in alive}
        moment = Moment(k, slots, prompts, outputs, list(waiting), flight, since, 0, list(range(upcoming)), coins, memory)
        moment.admitted = upcoming - len(waiting)
        chosen = rule(moment)
        assert len({i for i, _ in chosen}) == len(chosen) == moment.admissions
        for i, g in chosen:
            waiting.remove(i)
            flight[g].append(i)
            out.worker[i], out.admitted[i] = g, k
        assert all(len(requests) <= slots for requests in flight)
        loads = [sum(prompts[i] + k - out.admitted[i] for i in requests) for requests in flight]
        out.loads.append(loads)
        out.waiting.append(len(waiting))
        out.active.append([len(requests) for requests in flight])
        out.start.append(now)
        now += step_time(loads)
        out.end.append(now)


# --- first come, first served -------------------------------------------------------------------------------------------------


def first_come(choose: Callable[[Moment, int, list[int], list[int]], int]) -> Rule:
    """The ``U`` oldest one by one; ``choose(moment, request, workers with a free slot, counts)`` picks the worker."""

    def rule(m: Moment) -> list[tuple[int, int]]:
        counts, pairs = [len(requests) for requests in m.flight], []
        for i in m.queue[: m.admissions]:
            g = choose(m, i, [g for g in range(m.workers) if counts[g] < m.slots], counts)
            counts[g] += 1
            pairs.append((i, g))
        return pairs

    return rule


def count_jsq() -> Rule:
    """Fewest active requests, lowest index."""
    return first_come(lambda m, i, free, counts: min(free, key=lambda g: (counts[g], g)))


def stale_jsq(every: int, local: bool) -> Rule:
    """Count-JSQ on counts as they were before admission at iterations 1, 1 + m, …, plus own assignments since if ``local``."""

    def choose(m: Moment, i: int, free: list[int], counts: list[int]) -> int:
        seen = m.memory["seen"]
        g = min(free, key=lambda j: (seen[j], j))
        seen[g] += local
        return g

    def rule(m: Moment) -> list[tuple[int, int]]:
        if (m.k - 1) % every == 0:
            m.memory["seen"] = [len(requests) for requests in m.flight]
        return first_come(choose)(m)

    return rule


def round_robin() -> Rule:
    """Cyclic order, full workers skipped, the pointer behind each choice."""

    def choose(m: Moment, i: int, free: list[int], counts: list[int]) -> int:
        pointer = m.memory.get("pointer", 0)
        g = next(j % m.workers for j in range(pointer, pointer + m.workers) if j % m.workers in free)
        m.memory["pointer"] = g + 1
        return g

    return first_come(choose)


def uniform() -> Rule:
    """Uniform among the workers with a free slot, by the request's first coin."""
    return first_come(lambda m, i, free, counts: free[int(m.coins[i, 0] * len(free))])


def power_of_two() -> Rule:
    """Two draws with replacement; fewer active requests, the first draw on ties."""

    def choose(m: Moment, i: int, free: list[int], counts: list[int]) -> int:
        a, b = (free[int(m.coins[i, d] * len(free))] for d in (0, 1))
        return b if counts[b] < counts[a] else a

    return first_come(choose)


def token_jsq() -> Rule:
    """Fewest resident tokens, those of this step included."""

    def rule(m: Moment) -> list[tuple[int, int]]:
        loads = m.loads()

        def choose(_: Moment, i: int, free: list[int], counts: list[int]) -> int:
            g = min(free, key=lambda j: (loads[j], j))
            loads[g] += m.prompts[i]
            return g

        return first_come(choose)(m)

    return rule


def vllm() -> Rule:
    """Least ``4 · waiting + running``: what is running before the step, and what was routed in it."""

    def choose(m: Moment, i: int, free: list[int], counts: list[int]) -> int:
        running = [len(requests) for requests in m.flight]
        return min(free, key=lambda g: (running[g] + 4 * (counts[g] - running[g]), g))

    return first_come(choose)


# --- BalanceRoute -------------------------------------------------------------------------------------------------------------


def project(m: Moment, horizon: int, cap: int, each: bool, forecast: Callable[[int, int, int], Any]) -> list[list[int]]:
    """``A_{g,h}`` for what is left of the window; ``forecast(age, remaining, cap)`` gives ``ĉ``."""
    if each or "made" not in m.memory or m.k - m.memory["made"] >= horizon:
        m.memory["made"] = m.k
        m.memory["forecasts"] = {
            i: forecast(m.age(i), m.since[i] + m.outputs[i] - m.k, cap) for requests in m.flight for i in requests
        }
    j = m.k - m.memory["made"]
    rows = []
    for h in range(horizon - j + 1):
        row = [0] * m.workers
        for g, requests in enumerate(m.flight):
            for i in requests:
                c = m.memory["forecasts"].get(i, cap)
                if c >= cap or h < max(1, c - j):
                    row[g] += m.prompts[i] + m.age(i) + h
        rows.append(row)
    return rows


def score(margins: list[int], sizes: list[int], beta: Fraction, gamma: Fraction, exact: bool) -> Fraction:
    """``Σ_h γ^h [x_h − β (x_h − m_h)_+]``, ``x_h = Σ S`` or (exact form) ``Σ (S + h)``."""
    total = Fraction(0)
    for h, margin in enumerate(margins):
        x = sum(s + h if exact else s for s in sizes)
        total += gamma**h * (x - beta * max(x - margin, 0))
    return total


def balance(
    *,
    beta: Fraction | None = None,
    gamma: Fraction = Fraction(1),
    horizon: int = 0,
    greedy: int = 4,
    window: int = 4,
    exact: bool = False,
    extra: int = 0,
    each: bool = False,
    overtake: int | None = None,
    forecast: Callable[[int, int, int], Any] = lambda age, remaining, cap: min(remaining, cap),
) -> Rule:
    """BR-0 (``horizon = 0``) and BR-H, both stages; a forced request goes to the worker of stage 1."""

    def rule(m: Moment) -> list[tuple[int, int]]:
        rows = [m.loads()] if horizon == 0 else project(m, horizon, horizon + extra, each, forecast)
        weight = Fraction(m.workers) if beta is None or exact else beta
        free, queue, pairs = m.free, list(m.queue), []

        def margins(g: int) -> list[int]:
            return [max(row) - row[g] for row in rows]

        def value(g: int, chosen: tuple[int, ...]) -> Fraction:
            return score(margins(g), [m.prompts[i] for i in chosen], weight, gamma, exact)

        def admit(i: int, g: int) -> None:
            queue.remove(i)
            pairs.append((i, g))
            free[g] -= 1
            for h, row in enumerate(rows):
                row[g] += m.prompts[i] + h

        def forced() -> bool:
            return overtake is not None and bool(queue) and m.admitted + len(pairs) - queue[0] >= overtake

        while len(pairs) < m.admissions:
            open_ = [g for g in range(m.workers) if free[g]]
            if forced() or sum(free) > greedy:
                g = min(open_, key=lambda j: (-free[j], rows[0][j], j))
                admit(queue[0] if forced() else max(queue, key=lambda i: (value(g, (i,)), -i)), g)
                continue
            g = min(open_, key=lambda j: (-free[j], -min(margins(j)), j))
            head = queue[:window]
            subsets = [q for size in range(1, min(free[g], len(head)) + 1) for q in combinations(head, size)]
            best = min(subsets, key=lambda q: (-value(g, q), len(q), q))
            if value(g, best) <= 0:
                best = min(((i,) for i in head), key=lambda q: (-value(g, q), q))
            for number, i in enumerate(best):
                if number and forced() and queue[0] != i:
                    break
                admit(i, g)
        return pairs

    return rule


# --- the LEVEL family ---------------------------------------------------------------------------------------------------------


def level(*, overtake: int | None = 64, window: int | None = None, pairs: bool = False, exact: bool = True) -> Rule:
    """LEVEL: target ``T = (Σ a + U S̄)/G``; order and ``S̄`` fixed for the step; counts by Count-JSQ when few wait."""

    def rule(m: Moment) -> list[tuple[int, int]]:
        if not m.admissions:
            return []
        number = Fraction if exact else float
        quota = m.free
        if len(m.queue) < sum(quota):
            counts = [len(requests) for requests in m.flight]
            for _ in range(m.admissions):
                counts[min((g for g in range(m.workers) if counts[g] < m.slots), key=lambda j: (counts[j], j))] += 1
            quota = [c - len(requests) for c, requests in zip(counts, m.flight, strict=True)]
        loads = [number(a) for a in m.loads()]
        mean = number(sum(m.prompts[i] for i in m.queue)) / len(m.queue)
        target = (sum(loads) + m.admissions * mean) / m.workers
        need = [target - a for a in loads]
        order = sorted((g for g in range(m.workers) if quota[g]), key=lambda g: (-_urgency(need[g], quota[g], mean), g))
        return _steer(m, need, quota, mean, order, window, pairs, overtake)

    return rule


def level_plus(
    *,
    overtake: int | None = 64,
    window: int | None = None,
    lam: Fraction = Fraction(1, 5),
    phi: Fraction = Fraction(0),
    pairs: bool = True,
    exact: bool = True,
) -> Rule:
    """LEVEL+."""

    def rule(m: Moment) -> list[tuple[int, int]]:
        if not m.admissions:
            return []
        number = Fraction if exact else float
        levels = []
        for requests in m.flight:
            ages = sum(m.age(i) for i in requests)
            levels.append(number(sum(m.prompts[i] + m.age(i) for i in requests)) - number(phi) * ages)
        quota = m.free
        if len(m.queue) <= sum(quota):
            placed = []
            for i in sorted(m.queue, key=lambda j: (-m.prompts[j], j)):
                g = min((g for g in range(m.workers) if quota[g]), key=lambda j: (levels[j], j))
                levels[g] += m.prompts[i]
                quota[g] -= 1
                placed.append((i, g))
            return placed
        mean = number(sum(m.prompts[i] for i in m.queue)) / len(m.queue)
        target = (sum(levels) + m.admissions * mean) / m.workers
        target += number(lam) * max(number(0), max(levels) - target)
        seen = max(4, (64 if overtake is None else overtake) // 2) if window is None else window
        return _steer(m, [target - e for e in levels], quota, mean, None, seen or None, pairs, overtake)

    return rule


def _urgency(need: Any, quota: int, mean: Any) -> Any:
    """``|need − c S̄| / √c``, exactly comparable: its square when exact."""
    if isinstance(need, Fraction):
        return (need - quota * mean) ** 2 / quota
    return abs(need - quota * mean) / math.sqrt(quota)


def _steer(
    m: Moment,
    need: list[Any],
    quota: list[int],
    mean: Any,
    order: list[int] | None,
    window: int | None,
    pairs: bool,
    cap: int | None,
) -> list[tuple[int, int]]:
    """Until ``U`` are admitted: the overdue oldest; else the current worker's best pair or best single."""
    queue, placed, current = list(m.queue), [], -1

    def give(i: int, g: int) -> None:
        queue.remove(i)
        placed.append((i, g))
        need[g] -= m.prompts[i]
        quota[g] -= 1

    def overdue() -> bool:
        return cap is not None and bool(queue) and m.admitted + len(placed) - queue[0] >= cap

    while len(placed) < m.admissions:
        open_ = [g for g in range(m.workers) if quota[g]]
        if overdue():
            give(queue[0], min(open_, key=lambda g: (abs(m.prompts[queue[0]] - need[g] / quota[g]), g)))
            continue
        if current < 0 or not quota[current]:
            if order is not None:
                current = next(g for g in order if quota[g])
            else:
                current = min(open_, key=lambda g: (-_urgency(need[g], quota[g], mean), g))
        seen = queue[:window]
        if pairs and quota[current] == 2 and len(seen) >= 2:
            best = min(combinations(seen, 2), key=lambda q: (abs(m.prompts[q[0]] + m.prompts[q[1]] - need[current]), q))
            give(best[0], current)
            if not (overdue() and queue[0] != best[1]):
                give(best[1], current)
            continue
        want = need[current] / quota[current]
        give(min(seen, key=lambda i: (abs(m.prompts[i] - want), i)), current)
    return placed


def level_x(
    *,
    overtake: int | None = 64,
    window: int = 64,
    lam: float = 0.15,
    kappa: float = 1.0,
    alpha: float = 2.0,
    zeta: float = 0.12,
    phi: float = 0.0,
    sweeps: int = 8,
) -> Rule:
    """LEVEL-X: ``J`` of every exchange that is tried is summed anew from all loads and all admitted requests."""

    def rule(m: Moment) -> list[tuple[int, int]]:
        u = m.admissions
        if not u:
            return []
        seen = m.queue[: u + window]
        start = [sum(m.prompts[i] + m.age(i) - phi * m.age(i) for i in requests) for requests in m.flight]
        mean = sum(m.prompts[i] for i in m.queue) / len(m.queue)
        reach = max(e + c * min(m.prompts[i] for i in seen) for e, c in zip(start, m.free, strict=True))
        target = (sum(start) + u * mean) / m.workers
        target += lam * max(0.0, reach - target)
        variance = max(1.0, sum((m.prompts[i] - mean) ** 2 for i in seen) / len(seen))

        def objective(placed: list[tuple[int, int]]) -> float:
            loads = list(start)
            for i, g in placed:
                loads[g] += m.prompts[i]
            value = sum((load - target) ** 2 for load in loads)
            value += kappa * math.sqrt(variance) * u / m.workers * (m.workers * max(loads) - sum(loads))
            return value + sum(
                alpha * variance * seen.index(i) / len(seen) - zeta * (m.prompts[i] - mean) ** 2 for i, _ in placed
            )

        due = sum(1 for i in m.queue if overtake is not None and i <= m.admitted + u - 1 - overtake)
        placed = _first_come(m, start, target)
        value = objective(placed)
        left = seen[u:]
        for _ in range(sweeps):
            before = list(placed)
            for j in range(u):
                i, g = placed[j]
                if seen.index(i) >= due and left:
                    tried = [(objective([*placed[:j], (other, g), *placed[j + 1 :]]), k) for k, other in enumerate(left)]
                    least, k = min(tried)
                    if value - least > 1e-9 * variance:
                        placed[j], left[k], value = (left[k], g), i, least
                for k in range(j):
                    swapped = list(placed)
                    swapped[j], swapped[k] = (placed[k][0], placed[j][1]), (placed[j][0], placed[k][1])
                    after = objective(swapped)
                    if value - after > 1e-9 * variance:
                        placed, value = swapped, after
            if placed == before:
                break
        return placed

    return rule


def _first_come(m: Moment, start: list[float], target: float) -> list[tuple[int, int]]:
    """The oldest, largest first, each to the worker with the largest mean need (below saturation: the least level)."""
    levels, free, placed = list(start), m.free, []
    full = m.admissions == sum(free)
    for i in sorted(m.queue[: m.admissions], key=lambda j: (-m.prompts[j], j)):
        open_ = [g for g in range(m.workers) if free[g]]
        g = min(open_, key=lambda g: ((levels[g] - target) / (free[g] if full else 1), g))
        levels[g] += m.prompts[i]
        free[g] -= 1
        placed.append((i, g))
    return placed
