"""The LEVEL family, plain (``level.md``; ours, empirical).

Imbalance is one-sided: minimising it fills every worker up to today's maximum, the level drifts up, and little is left to
correct with. These rules steer every worker to a common target

    ``T = (Σ_g E_g + U S̄) / G``,   raised by ``λ (max_g E_g − T)_+``,

``E_g`` a worker's load, ``S̄`` the mean size of the waiting requests. They use observed loads and sizes, no forecast.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lbtheory.core import InformationError
from lbtheory.decode.instance import Assignment
from lbtheory.decode.policies.base import CompiledRule, InformationSet, Policy, View, check_cap, oldest_overdue


@dataclass(slots=True, kw_only=True)
class LevellingPolicy(Policy):
    """Base of LEVEL, LEVEL+ and LEVEL-H+; ``overtake`` and ``patience`` are their caps on waiting."""

    overtake: int | None = 64
    patience: int | None = None
    sized: ClassVar[bool] = True
    information: ClassVar[InformationSet] = InformationSet.LOADS | InformationSet.AGES | InformationSet.PROMPTS
    fixed_order: ClassVar[bool] = False
    largest_first: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_cap(self.name, self.overtake, self.patience)

    @abstractmethod
    def settings(self) -> tuple[int, float, float, bool]:
        """Window (0: all), ``λ``, ``φ``, pairs."""

    @property
    def window_weights(self) -> list[float]:
        """``γ^h`` over the look-ahead window; one entry without one."""
        return [1.0]

    def levels(self, view: View) -> list[float]:
        """``E_g``."""
        _, _, phi, _ = self.settings()
        return [load - phi * age for load, age in zip(view.loads, view.ages, strict=True)]

    def assign(self, view: View, rng: np.random.Generator) -> Assignment:
        """Steer, or below saturation place the largest first."""
        step = _Step(self, view)
        if view.admissions == 0:
            pass
        elif self.largest_first and len(view.order) <= sum(view.free):
            step.place_largest_first()
        else:
            step.steer()
        return Assignment(workers=tuple(tuple(sorted(c)) for c in step.chosen))

    def compiled(self, workers: int) -> CompiledRule:
        """The compiled rule."""
        from lbtheory.decode.kernels import levelling

        window, lam, phi, pairs = self.settings()
        weights = np.array(self.window_weights)
        rule = levelling.LevelRule(
            window=window,
            lam=lam,
            phi=phi,
            pairs=pairs,
            fixed_order=self.fixed_order,
            largest_first=self.largest_first,
            weights=weights,
            sums=np.zeros((3, len(weights) + 1)),
            projected=np.zeros((workers, len(weights)), np.int64),
            peak=np.zeros(len(weights), np.int64),
        )
        return CompiledRule(run=levelling.run, rule=rule, indexed=window == 0 or self.largest_first)


class _Step:
    """One step in progress."""

    def __init__(self, policy: LevellingPolicy, view: View) -> None:
        self.policy, self.view = policy, view
        self.sizes: list[int] = view.prompts
        self.queue = list(range(len(view.order)))
        self.admitted, self.left = view.admitted, view.admissions
        self.chosen: list[list[int]] = [[] for _ in view.free]
        self.level = policy.levels(view) if view.admissions else []

    def overdue(self) -> bool:
        """Whether the overtaking cap forces the oldest request."""
        return oldest_overdue(self.view, self.policy, self.admitted, self.queue)

    def take(self, position: int, g: int) -> None:
        """Admit the request at this position of the original queue."""
        self.queue.remove(position)
        self.chosen[g].append(position)
        self.admitted += 1
        self.left -= 1

    def place_largest_first(self) -> None:
        """All waiting requests go: by decreasing size (ties: oldest) to the worker with least ``E_g`` (ties: lowest)."""
        free = list(self.view.free)
        for position in sorted(self.queue, key=lambda i: (-self.sizes[i], i)):
            g = min((g for g, c in enumerate(free) if c > 0), key=lambda j: (self.level[j], j))
            free[g] -= 1
            self.level[g] += self.sizes[position]
            self.take(position, g)

    def quotas(self) -> list[int]:
        """Free slots, or Count-JSQ's numbers when fewer wait than slots are free."""
        if self.left == sum(self.view.free):
            return list(self.view.free)
        quota = [0] * len(self.view.free)
        for _ in range(self.left):
            room = [g for g, c in enumerate(self.view.free) if quota[g] < c]
            quota[min(room, key=lambda j: (self.view.active[j] + quota[j], j))] += 1
        return quota

    def steer(self) -> None:
        """Worker by worker, the most urgent first."""
        window, lam, _, pairs = self.policy.settings()
        quota = self.quotas()
        size = sum(self.sizes) / len(self.sizes)
        total = 0.0
        for level in self.level:
            total += level
        target = (total + self.left * size) / len(quota)
        target += lam * max(0.0, max(self.level) - target)
        need = [target - level for level in self.level]

        def urgency(g: int) -> float:
            return abs(need[g] - quota[g] * size) / math.sqrt(quota[g])

        fixed = {g: urgency(g) for g, c in enumerate(quota) if c > 0} if self.policy.fixed_order else None

        def give(position: int, g: int) -> None:
            need[g] -= self.sizes[position]
            quota[g] -= 1
            self.take(position, g)

        current = -1
        while self.left > 0:
            open_ = [g for g, c in enumerate(quota) if c > 0]
            if self.overdue():
                oldest = self.queue[0]
                give(oldest, min(open_, key=lambda g: (abs(self.sizes[oldest] - need[g] / quota[g]), g)))
                continue
            if current < 0 or quota[current] == 0:
                current = min(open_, key=lambda g: (-(fixed[g] if fixed is not None else urgency(g)), g))
            seen = self.queue[:window] if window else self.queue
            if pairs and quota[current] == 2 and len(seen) >= 2:
                first, second = self.best_pair(seen, need[current])
                give(first, current)
                if self.overdue() and self.queue[0] != second:
                    continue
                give(second, current)
                continue
            want = need[current] / quota[current]
            give(min(seen, key=lambda i: (abs(self.sizes[i] - want), i)), current)

    def best_pair(self, seen: list[int], want: float) -> tuple[int, int]:
        """The pair with the sum nearest to ``want``; ties: oldest first, then oldest second."""
        pairs = ((i, j) for a, i in enumerate(seen) for j in seen[a + 1 :])
        return min(pairs, key=lambda p: (abs(self.sizes[p[0]] + self.sizes[p[1]] - want), p))


def projected_levels(view: View, weights: list[float], phi: float) -> list[float]:
    """``E_g`` of LEVEL-H+: mean load + weighted mean of ``A_{g,h} − mean_g A_{g,h}`` before ``g``'s own next departure.

    Departures of other workers inside the mean are refilled by the mean size seen so far: a request of that size starts where
    one left, and grows.
    """
    forecast, workers = view.forecast, len(view.loads)
    if forecast.next_departure is None:
        raise InformationError("`forecast` has projected loads only; LEVEL-H+ needs to know who leaves when. Use level-plus.")
    weight, growth, mean = [0.0], [0.0], [0.0]
    left, value = 0, 0.0
    for h, row in enumerate(forecast.loads):
        left += forecast.leaving[h]
        value += forecast.leaving[h] * (view.prompt_mean - h)
        weight.append(weight[-1] + weights[h])
        growth.append(growth[-1] + weights[h] * h)
        mean.append(mean[-1] + weights[h] * ((sum(row) + (left * h + value)) / workers))
    levels = []
    for g in range(workers):
        d = forecast.next_departure[g]
        ahead = (view.loads[g] * weight[d] + view.active[g] * growth[d] - mean[d]) / weight[d]
        levels.append(sum(view.loads) / workers + ahead - phi * view.ages[g])
    return levels
