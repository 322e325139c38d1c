"""Two size-blind rules that show how wide the benchmark class is (decode paper, section 6.3)."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from lbtheory.decode.instance import Assignment
from lbtheory.decode.policies.base import InformationSet, Policy, View


def first_come(view: View, choose: Callable[[list[int]], int]) -> Assignment:
    """FCFS admission; ``choose(free)`` gives the worker of each request in turn among those with a free slot."""
    free = list(view.free)
    chosen: list[list[int]] = [[] for _ in view.free]
    for position in range(view.admissions):
        g = choose(free)
        free[g] -= 1
        chosen[g].append(position)
    return Assignment(workers=tuple(map(tuple, chosen)))


@dataclass(slots=True, kw_only=True)
class StaleCounts(Policy):
    """The worker with the fewest active requests as they were ``delay`` iterations ago, among those with a free slot."""

    name: ClassVar[str] = "stale-counts"
    information: ClassVar[InformationSet] = InformationSet.NOTHING
    delay: int = 5
    _seen: deque[list[int]] = field(default_factory=deque, repr=False)

    def reset(self, workers: int, slots: int) -> None:
        """Nothing was active before the start."""
        self._seen = deque([[0] * workers] * self.delay)

    def observe(self, view: View) -> None:
        """Remember today's counts."""
        self._seen.append(list(view.active))

    def assign(self, view: View, rng: np.random.Generator) -> Assignment:
        """By counts of ``delay`` iterations ago; ties: lowest index."""
        while len(self._seen) > self.delay + 1:
            self._seen.popleft()
        old = self._seen[0]
        return first_come(view, lambda free: min((g for g, c in enumerate(free) if c), key=lambda g: (old[g], g)))


@dataclass(slots=True, kw_only=True)
class HistoryAdaptive(Policy):
    """The worker that has been given the fewest requests so far, among those with a free slot."""

    name: ClassVar[str] = "history-adaptive"
    information: ClassVar[InformationSet] = InformationSet.NOTHING
    _given: list[int] = field(default_factory=list, repr=False)

    def reset(self, workers: int, slots: int) -> None:
        """Forget what was given."""
        self._given = [0] * workers

    def assign(self, view: View, rng: np.random.Generator) -> Assignment:
        """By counts of all that was given; ties: highest index."""

        def choose(free: list[int]) -> int:
            g = min((g for g, c in enumerate(free) if c), key=lambda g: (self._given[g], -g))
            self._given[g] += 1
            return g

        return first_come(view, choose)
