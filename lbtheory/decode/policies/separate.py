"""Separate queues: each request is bound to a worker when it is released, and waits for that worker alone (a comparator).

The decode paper's router holds requests in one common queue and admits as many as fit (every policy there is maximal). Here a
request is bound at its release, in release order, to the worker with least

    ``jsq``: active requests + requests in its queue,   ``tokens``: load + prompt tokens in its queue   (ties: lowest index),

or in turn (``rr``), and each worker admits from its own queue, first come, first served. A slot stays empty while its worker's
queue is empty, whatever waits elsewhere, so the rule is not maximal.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from lbtheory.decode.instance import Assignment
from lbtheory.decode.policies.base import CompiledRule, InformationSet, Policy, View, check_choice

BINDS = ("jsq", "rr", "tokens")


@dataclass(slots=True, kw_only=True)
class SeparateQueues(Policy):
    """A queue a worker; requests are bound on release.

    Options
    -------
    bind : jsq | rr | tokens
        Where a request is bound.
    """

    name: ClassVar[str] = "separate"
    maximal: ClassVar[bool] = False
    bind: str = "jsq"
    _queues: list[deque[int]] = field(default_factory=list, repr=False, compare=False)
    _tokens: list[int] = field(default_factory=list, repr=False, compare=False)
    _bound: int = field(default=0, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_choice(self.name, "bind", self.bind, BINDS)

    @property
    def information(self) -> InformationSet:  # type: ignore[override]
        """Counts; loads and prompts where tokens decide."""
        return InformationSet.LOADS | InformationSet.PROMPTS if self.bind == "tokens" else InformationSet.NOTHING

    def reset(self, workers: int, slots: int) -> None:
        """Empty the queues."""
        self._queues, self._tokens, self._bound = [deque() for _ in range(workers)], [0] * workers, 0

    def observe(self, view: View) -> None:
        """Bind what was released since the last iteration."""
        if len(self._queues) != len(view.free):
            self.reset(len(view.free), view.slots)
        for position, i in enumerate(view.order):
            if i >= self._bound:
                g = self._worker(view)
                self._queues[g].append(i)
                self._tokens[g] += view.prompts[position] if self.bind == "tokens" else 0
                self._bound = i + 1

    def _worker(self, view: View) -> int:
        """The worker that the next request is bound to."""
        if self.bind == "rr":
            return self._bound % len(self._queues)
        if self.bind == "tokens":
            scores = [load + waits for load, waits in zip(view.loads, self._tokens, strict=True)]
        else:
            scores = [active + len(queue) for active, queue in zip(view.active, self._queues, strict=True)]
        return scores.index(min(scores))

    def assign(self, view: View, rng: np.random.Generator) -> Assignment:
        """Each worker admits from its own queue."""
        self.observe(view)
        place = {i: position for position, i in enumerate(view.order)}
        chosen: list[tuple[int, ...]] = []
        for g, (queue, free) in enumerate(zip(self._queues, view.free, strict=True)):
            chosen.append(tuple(place[queue.popleft()] for _ in range(min(free, len(queue)))))
            if self.bind == "tokens":
                self._tokens[g] -= sum(view.prompts[position] for position in chosen[-1])
        return Assignment(workers=tuple(chosen))

    def compiled(self, workers: int) -> CompiledRule:
        """The compiled rule."""
        from lbtheory.decode.kernels import separate

        empty = [np.full(workers, value, np.int64) for value in (-1, -1, 0, 0)]
        rule = separate.SeparateRule(BINDS.index(self.bind), np.zeros(1, np.int64), *empty)
        return CompiledRule(run=separate.run, rule=rule)
