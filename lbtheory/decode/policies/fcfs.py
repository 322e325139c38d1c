"""Global FCFS admission with a destination rule that sees counts only (decode paper, section 2.4 and EC.2).

Take the earliest waiting request, choose a worker with a free slot, update the counts, repeat ``U`` times. Count-JSQ, round
robin, random and power of two are the paper's baselines; ``vllm`` is the score ``4 · waiting + running`` of the vLLM router,
where a request routed since the last refresh of the counts still waits.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lbtheory.decode.instance import Assignment
from lbtheory.decode.policies._choose import TIES, TieBreaker, draw, first_from
from lbtheory.decode.policies.base import CompiledRule, InformationSet, Policy, View, check_choice, check_pause, check_range


@dataclass(slots=True, kw_only=True)
class FcfsPolicy(Policy):
    """First come, first served; subclasses choose the worker.

    Options
    -------
    ties : lowest | rotating | random
    stale : int
        Counts are refreshed every so many iterations.
    local : bool
        Whether the router adds its own assignments since the refresh.
    pause : float
        Relax the barrier: a worker above ``1 + pause`` times the mean load leaves requests out of the step.
    """

    ties: str = "lowest"
    stale: int = 1
    local: bool = True
    pause: float | None = None
    _seen: list[int] | None = None
    _new: list[int] | None = None
    _breaker: TieBreaker | None = None

    tie_rules: ClassVar[tuple[str, ...]] = TIES
    code: ClassVar[int]

    def __post_init__(self) -> None:
        check_choice(self.name, "ties", self.ties, self.tie_rules)
        check_range(self.name, "stale", self.stale, 1)
        check_pause(self.name, self.pause)

    @property
    def information(self) -> InformationSet:  # type: ignore[override]
        """Counts; coins where a draw is made."""
        return InformationSet.COINS if self.ties == "random" else InformationSet.NOTHING

    def reset(self, workers: int, slots: int) -> None:
        """Forget the counts seen and the pointers."""
        self._seen, self._new, self._breaker = None, None, TieBreaker(self.ties, workers)

    def measure(self, view: View) -> list[int]:
        """What the rule compares, as it stands at a refresh."""
        return list(view.active)

    def gain(self, view: View, position: int) -> int:
        """What an assigned request adds to it."""
        return 1

    @abstractmethod
    def choose(self, free: Sequence[int], seen: Sequence[int], coins: np.ndarray | None) -> int:
        """A worker among ``free`` (ascending)."""

    def observe(self, view: View) -> None:
        """Refresh what the router sees, every ``stale`` iterations."""
        if self._seen is None or (view.iteration - 1) % self.stale == 0:
            self._seen, self._new = self.measure(view), [0] * len(view.free)

    def assign(self, view: View, rng: np.random.Generator) -> Assignment:
        """Assign the ``U`` oldest requests one by one."""
        if self._breaker is None:
            self.reset(len(view.free), view.slots)
        if self._seen is None:
            self.observe(view)
        assert self._new is not None and self._seen is not None
        slots = list(view.free)
        chosen: list[list[int]] = [[] for _ in slots]
        coins = view.coins if InformationSet.COINS in self.information else None
        for position in range(view.admissions):
            free = [g for g, c in enumerate(slots) if c > 0]
            g = self.choose(free, self._seen, None if coins is None else coins[position])
            chosen[g].append(position)
            slots[g] -= 1
            if self.local:
                self._seen[g] += self.gain(view, position)
                self._new[g] += 1
        return Assignment(workers=tuple(map(tuple, chosen)))

    def least(self, values: Sequence[int], free: Sequence[int], coins: np.ndarray | None) -> int:
        """Worker with the least value; ties by the tie rule."""
        assert self._breaker is not None
        low = min(values[g] for g in free)
        return self._breaker.choose([g for g in free if values[g] == low], coins)

    def compiled(self, workers: int) -> CompiledRule:
        """The compiled rule."""
        from lbtheory.decode.kernels import fcfs

        ties = {"lowest": fcfs.LOWEST, "rotating": fcfs.ROTATING, "random": fcfs.RANDOM_TIE, "first": fcfs.FIRST_DRAW}
        rule = fcfs.FcfsRule(rule=self.code, ties=ties[self.ties], stale=self.stale, local=self.local)
        return CompiledRule(run=fcfs.run, rule=rule)


@dataclass(slots=True, kw_only=True)
class CountJsq(FcfsPolicy):
    """Join the shortest queue: fewest active requests."""

    name: ClassVar[str] = "jsq"
    code: ClassVar[int] = 0

    def choose(self, free: Sequence[int], seen: Sequence[int], coins: np.ndarray | None) -> int:
        """Fewest active requests."""
        return self.least(seen, free, coins)


@dataclass(slots=True, kw_only=True)
class VllmScore(FcfsPolicy):
    """vLLM's data-parallel router: least ``4 · waiting + running``."""

    name: ClassVar[str] = "vllm"
    code: ClassVar[int] = 5

    def choose(self, free: Sequence[int], seen: Sequence[int], coins: np.ndarray | None) -> int:
        """Least score; ``seen`` counts running and new requests, the new ones weigh 4."""
        assert self._new is not None
        return self.least([s + 3 * w for s, w in zip(seen, self._new, strict=True)], free, coins)


@dataclass(slots=True, kw_only=True)
class RoundRobin(FcfsPolicy):
    """Fixed cyclic order; full workers are skipped and the pointer moves behind each choice."""

    name: ClassVar[str] = "rr"
    code: ClassVar[int] = 1
    tie_rules: ClassVar[tuple[str, ...]] = ("lowest",)

    def choose(self, free: Sequence[int], seen: Sequence[int], coins: np.ndarray | None) -> int:
        """Next free worker."""
        assert self._breaker is not None
        g = first_from(free, self._breaker.pointer)
        self._breaker.pointer = (g + 1) % self._breaker.workers
        return g


@dataclass(slots=True, kw_only=True)
class RandomWorker(FcfsPolicy):
    """Uniform among the workers with a free slot."""

    name: ClassVar[str] = "random"
    code: ClassVar[int] = 2
    tie_rules: ClassVar[tuple[str, ...]] = ("lowest",)

    @property
    def information(self) -> InformationSet:  # type: ignore[override]
        """Coins."""
        return InformationSet.COINS

    def choose(self, free: Sequence[int], seen: Sequence[int], coins: np.ndarray | None) -> int:
        """A uniform draw."""
        assert coins is not None
        return free[draw(coins[0], len(free))]


@dataclass(slots=True, kw_only=True)
class PowerOfTwo(FcfsPolicy):
    """Two uniform draws with replacement among the workers with a free slot; fewer active requests wins.

    Ties: the first draw by default.
    """

    name: ClassVar[str] = "p2c"
    code: ClassVar[int] = 3
    ties: str = "first"
    tie_rules: ClassVar[tuple[str, ...]] = ("first", *TIES)

    @property
    def information(self) -> InformationSet:  # type: ignore[override]
        """Counts and coins."""
        return InformationSet.COINS

    def choose(self, free: Sequence[int], seen: Sequence[int], coins: np.ndarray | None) -> int:
        """The less busy of two draws."""
        assert coins is not None and self._breaker is not None
        a, b = free[draw(coins[0], len(free))], free[draw(coins[1], len(free))]
        if seen[a] != seen[b] or a == b:
            return a if seen[a] <= seen[b] else b
        if self.ties == "first":
            return a
        if self.ties == "random":
            return a if coins[2] < 0.5 else b
        return self._breaker.choose(sorted((a, b)), coins)
