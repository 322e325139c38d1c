"""The worst single decision of a rule against exact IO_0, by search: a lower bound on its worst case.

Symbols: ``c_g`` free slots, ``U = Σ_g c_g``, ``s`` largest size, ``I = G max_g L_g − Σ_g L_g`` after admission, ``I*`` its
least value over all maximal assignments.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lbtheory.core import ParameterError, PolicyError, generator, readonly, whole_number
from lbtheory.decode.exact import decide_io
from lbtheory.decode.once import decide_once
from lbtheory.decode.policies.base import InformationSet, Policy

ROUNDS = 8
"""Levels and groups of workers that IO_0 tries: 200 take three times as long here and prove hardly more."""


def largest_gap(free: Sequence[int], largest: int, queue: int) -> int:
    """Bound of ``I − I*`` of any maximal assignment, sizes ``1 … s``, ``R ≥ U`` waiting (ours; proved).

    ``I − I* ≤ (s − 1) min{(G − 2) c + U, G c + R − U}``, ``c = max_g c_g``. Proof: let ``L`` be the loads of the assignment,
    ``M`` their largest, on worker ``k``, and ``L*, M*`` those of an optimum. As ``R ≥ U``, both fill every slot: the loads of
    worker ``g`` differ by at most ``c_g (s − 1)``, and ``M − M* ≤ L_k − L*_k ≤ c_k (s − 1)``. In ``I − I* = Σ_g [(M − L_g) −
    (M* − L*_g)]`` the term of ``k`` is at most 0 and the others are ``(M − M*) + (L*_g − L_g)``: at most ``(s − 1) ((G − 1) c_k
    + U − c_k)``. Also ``I − I* = G (M − M*) + Σ_g L*_g − Σ_g L_g``, and the requests admitted differ in at most ``R − U``.

    The first part is attained in long queues, by first come to the worker with fewest tokens too: all ``c_g = c``, worker ``k``
    has ``s c`` tokens, the others ``c``, and ``U − c`` ones, ``c`` requests of ``s`` and enough of both follow. The others are
    filled by ones and ``k`` by ``s``, while ``I* = 0``.

    Parameters
    ----------
    free : sequence of G whole numbers ≥ 0
    largest, queue : int
        ``s`` and ``R``.
    """
    workers, most, admissions = len(free), max(free), sum(free)
    if workers == 1:
        return 0
    return (largest - 1) * min((workers - 2) * most + admissions, workers * most + queue - admissions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The worst decision that a search met.

    Attributes
    ----------
    loads, free, waiting : int arrays (G,), (G,), (R,)
        The instance.
    value, optimum : int
        ``I`` of the rule and ``I*``, proved.
    mean : float or None
        Mean gap of the random starts whose optimum was proved, None where none was.
    evaluations : int
        Instances that the rule was asked for.
    solved, unproved : int
        Instances that IO_0 was asked for, and how many of them it left unproved: these never count.
    """

    loads: np.ndarray
    free: np.ndarray
    waiting: np.ndarray
    value: int
    optimum: int
    mean: float | None
    evaluations: int
    solved: int
    unproved: int

    @property
    def gap(self) -> int:
        """``I − I*``, tokens."""
        return self.value - self.optimum


@dataclass(slots=True)
class _Point:
    """An instance and what is known of it."""

    loads: np.ndarray
    waiting: np.ndarray
    value: int = 0
    optimum: int = 0

    @property
    def gap(self) -> int:
        return self.value - self.optimum


def search_worst(
    policy: Policy, free: Sequence[int], largest: int, queue: int, *, starts: int, climbs: int, moves: int, seed: int
) -> Found:
    """Random instances, then local moves from the worst of them, kept when the gap does not fall.

    Loads are at most ``s (max_g c_g + 1)``: only their differences count, and the largest gap of all needs no more.

    Parameters
    ----------
    policy : Policy
        Without forecasts and draws; it must be maximal.
    free : sequence of G ≥ 2 whole numbers ≥ 0
        Free slots ``c_g``, some of them positive.
    largest, queue : int
        ``s ≥ 2``, and the requests that wait, at least ``U``.
    starts, climbs, moves : int
        Random instances, how many of them (the worst) are improved, and local moves of each.
    seed : int
        Equal seeds give equal answers, and equal random instances to all rules.

    Raises
    ------
    ParameterError
    PolicyError
        A decision of the policy is better than the optimum, so it left free slots.
    """
    slots = _check(policy, free, largest, queue, starts, climbs, moves)
    rng = generator(whole_number("seed", "search_worst", seed, 0), "worst-gap")
    ask = _Asker(policy, slots)
    points = [p for p in (ask(*_start(rng, slots, largest, queue)) for _ in range(starts)) if p is not None]
    mean = sum(p.gap for p in points) / len(points) if points else None
    points.sort(key=lambda p: -p.gap)
    if not points:  # equal requests fill the slots: there is one imbalance
        only = len(slots) * int(slots.max()) - int(slots.sum())
        points = [_Point(np.zeros(len(slots), np.int64), np.ones(queue, np.int64), only, only)]
    worst = points[0]
    for point in points[:climbs]:
        best = point
        for _ in range(moves):
            more = ask(*_moved(rng, best, slots, largest), least=best.gap)
            best = best if more is None else more
        worst = max(worst, best, key=lambda p: p.gap)
    return Found(
        loads=readonly(worst.loads),
        free=readonly(slots),
        waiting=readonly(worst.waiting),
        value=worst.value,
        optimum=worst.optimum,
        mean=mean,
        evaluations=ask.evaluations,
        solved=ask.solved,
        unproved=ask.unproved,
    )


class _Asker:
    """Asks the rule and the exact solver, and counts."""

    def __init__(self, policy: Policy, free: np.ndarray) -> None:
        self.policy, self.free = policy, free
        self.evaluations = self.solved = self.unproved = 0

    def __call__(self, loads: np.ndarray, waiting: np.ndarray, *, least: int = 0) -> _Point | None:
        """The instance with its gap; None where the gap is below ``least`` or ``I*`` is not proved."""
        self.evaluations += 1
        worker = decide_once(self.policy, loads, self.free, waiting)
        after = loads.copy()
        np.add.at(after, worker[worker >= 0], waiting[worker >= 0])
        value = len(after) * int(after.max()) - int(after.sum())
        if value < least:  # and so is the gap
            return None
        self.solved += 1
        exact = decide_io(loads, self.free, waiting, rounds=ROUNDS)
        if not exact.proved:
            self.unproved += 1
            return None
        if value < exact.value:
            raise PolicyError(
                f"policy {self.policy.name!r} got I = {value} below the proved optimum {exact.value}: it is not maximal."
            )
        found = _Point(loads, waiting, value, exact.value)
        return found if found.gap >= least else None


def _start(rng: np.random.Generator, free: np.ndarray, largest: int, queue: int) -> tuple[np.ndarray, np.ndarray]:
    """Loads level, spread, one heavy or just what some sizes level; sizes uniform, few or extreme; in any order or sorted."""
    workers, reach = len(free), largest * (int(free.max()) + 1)
    match rng.integers(4):
        case 0:
            loads = rng.integers(0, largest + 1, workers)
        case 1:
            loads = rng.integers(0, reach + 1, workers)
        case 2:
            loads = rng.integers(0, largest + 1, workers)
            loads[rng.integers(workers)] = rng.integers(largest, reach + 1)
        case _:
            loads = int(free.max()) * largest - free * rng.integers(1, largest + 1, workers)
    match rng.integers(3):
        case 0:
            waiting = rng.integers(1, largest + 1, queue)
        case 1:
            waiting = rng.choice(rng.integers(1, largest + 1, 3), queue)
        case _:
            waiting = np.where(rng.random(queue) < rng.random(), 1, largest)
    match rng.integers(3):
        case 0:
            waiting = np.sort(waiting)
        case 1:
            waiting = np.sort(waiting)[::-1]
    return loads, np.ascontiguousarray(waiting)


def _moved(rng: np.random.Generator, point: _Point, free: np.ndarray, largest: int) -> tuple[np.ndarray, np.ndarray]:
    """Another load or size, a nudge, an exchange, or a stretch of the queue of one size."""
    loads, waiting, reach = point.loads.copy(), point.waiting.copy(), largest * (int(free.max()) + 1)
    g, h = rng.integers(len(loads), size=2)
    i, j = rng.integers(len(waiting), size=2)
    step = largest >> int(rng.integers(largest.bit_length()))
    nudge = int(rng.integers(-step, step + 1))
    sizes = np.array([1, largest, waiting[j], rng.integers(1, largest + 1), np.clip(waiting[i] + nudge, 1, largest)])
    size = int(rng.choice(sizes))
    match rng.integers(7):
        case 0:
            loads[g] = rng.integers(0, reach + 1)
        case 1:
            loads[g] = np.clip(loads[g] + nudge, 0, reach)
        case 2:
            loads[g], loads[h] = loads[h], loads[g]
        case 3:
            loads[g] = loads[h]
        case 4:
            waiting[i] = size
        case 5:
            waiting[i], waiting[j] = waiting[j], waiting[i]
        case _:
            waiting[min(i, j) : max(i, j) + 1] = size
    return loads, waiting


def _check(policy: Policy, free: Sequence[int], largest: int, queue: int, starts: int, climbs: int, moves: int) -> np.ndarray:
    """The free slots as an array; raises `ParameterError` for what the search does not cover."""

    def number(name: str, value: object, low: int) -> int:
        return whole_number(name, "search_worst", value, low)

    slots = np.array([number(f"free[{g}]", c, 0) for g, c in enumerate(free)], np.int64)
    if len(slots) < 2 or slots.sum() == 0:
        raise ParameterError(
            f"`free` of `search_worst` must have at least two workers and a free slot; got {list(free)}. Without a "
            "choice there is no gap."
        )
    for name, value, low in (("largest", largest, 2), ("starts", starts, 1), ("climbs", climbs, 0), ("moves", moves, 0)):
        number(name, value, low)
    if number("queue", queue, 1) < slots.sum():
        raise ParameterError(
            f"`queue` of `search_worst` must cover the {int(slots.sum())} free slots; got {queue}. Let more requests wait."
        )
    if policy.forecast_need() is not None or InformationSet.COINS in policy.information or not policy.maximal:
        raise ParameterError(
            f"`policy` of `search_worst` must be maximal, without forecasts and draws; got {policy.name!r}. Its gap depends on "
            "more than the instance."
        )
    return slots
