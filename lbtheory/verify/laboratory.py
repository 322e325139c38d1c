"""What the checks share: scale, seed, and trajectories that several claims look at, made once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np

from lbtheory.core import ParameterError, generator, whole_number
from lbtheory.decode.engine import simulate
from lbtheory.decode.policies import Policy, make_policy
from lbtheory.decode.stream import request_stream
from lbtheory.decode.traces.releases import at_iterations, saturated
from lbtheory.theory import uniform
from lbtheory.theory.law import PromptLaw
from lbtheory.theory.theorem1 import System, system
from lbtheory.verify.ghost import GhostRun, draw_coins, ghost_run, overloaded
from lbtheory.verify.policies import HistoryAdaptive, StaleCounts

SCALES = ("quick", "full")

OWN_POLICIES: dict[str, Callable[[], Policy]] = {"stale-counts": StaleCounts, "history-adaptive": HistoryAdaptive}

OVERLOAD = 1.5
"""Releases of the shared trajectories, in units of the supply rate ``n p/ρ``."""


@dataclass(slots=True, kw_only=True)
class Laboratory:
    """Scale (``quick`` or ``full``), seed, and shared trajectories."""

    scale: str = "quick"
    seed: int = 20260
    _runs: dict[tuple[object, ...], GhostRun] = field(default_factory=dict, repr=False)
    _means: dict[tuple[object, ...], list[float]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise ParameterError(f"`scale` of `Laboratory` must be one of {', '.join(SCALES)}; got {self.scale!r}.")
        whole_number("seed", "Laboratory", self.seed, 0)

    def size(self, quick: int, full: int) -> int:
        """A number of iterations or replications at this scale."""
        return quick if self.scale == "quick" else full

    def rng(self, *names: str | int) -> np.random.Generator:
        """A stream of its own."""
        return generator(self.seed, *names)

    @property
    def systems(self) -> list[System]:
        """Small systems on which trajectories are made: two, three and five workers, long and short outputs, a skewed law."""
        skewed = PromptLaw(sizes=(1, 2, 5, 9), weights=(5, 2, 2, 1))
        return [
            system(Fraction(1, 4), uniform(4), 2, 6),
            system(Fraction(1, 10), uniform(10), 3, 8),
            system(Fraction(2, 5), uniform(3), 5, 3),
            system(Fraction(1, 6), skewed, 3, 6),
        ]

    @property
    def published(self) -> list[System]:
        """The systems whose constants are known to thirty digits (section 6.5)."""
        places = ((4, 4, 8, 64), (10, 10, 16, 1000), (100, 100, 64, 256), (1000, 4000, 32, 128))
        return [system(Fraction(1, a), uniform(s), workers, slots) for a, s, workers, slots in places]

    def run(self, of: System, policy: str, replication: int = 0, iterations: int | None = None) -> GhostRun:
        """A trajectory of a policy at `OVERLOAD`; coins, prompts and releases are the same for every policy."""
        length = iterations or self.size(240, 1500)
        key = (of.p, of.law, of.workers, of.slots, policy, replication, length)
        if key not in self._runs:
            root = partial(self.rng, "ghost", str(of.p), of.s, of.workers, of.slots, replication)
            coins = draw_coins(of, length, root("coins"))
            prompts, releases = overloaded(of, length, OVERLOAD, root("prompts"))
            made = OWN_POLICIES[policy]() if policy in OWN_POLICIES else make_policy(policy)
            self._runs[key] = ghost_run(of, made, prompts, releases, coins, self.seed + replication)
        return self._runs[key]

    def runs(self, *policies: str) -> list[GhostRun]:
        """One trajectory for each system and policy."""
        return [self.run(of, policy) for of in self.systems for policy in policies]

    def short_runs(self, of: System, policy: str, count: int | None = None) -> list[GhostRun]:
        """Independent trajectories of 60 iterations."""
        return [self.run(of, policy, replication, iterations=60) for replication in range(count or self.size(24, 200))]

    def states(self, of: System, policy: str) -> list[np.ndarray]:
        """Independent workloads ``w_gb``, (G, B) each, after 60 iterations."""
        return [run.workloads[-1] for run in self.short_runs(of, policy)]

    def long_runs(
        self, of: System, policy: str, count: int, steps: int, warmup: int, load: float | None = None, queue: int = 64
    ) -> list[float]:
        """Mean imbalances after the warm-up of independent runs of the engine.

        Saturated with ``queue`` requests left waiting; or, with ``load``, released one by one at ``load · n p`` an iteration.
        """
        key = (of.p, of.law, of.workers, of.slots, policy, count, steps, warmup, load, queue)
        if key not in self._means:
            self._means[key] = [self._long_run(of, policy, one, steps, warmup, load, queue) for one in range(count)]
        return self._means[key]

    def _long_run(
        self, of: System, policy: str, replication: int, steps: int, warmup: int, load: float | None, queue: int
    ) -> float:
        rng = self.rng("long", str(of.p), of.s, of.workers, of.slots, replication)
        rate = float(of.n * of.p) * (load or 1.0)
        count = int(rate * steps * 1.2) + 2 * of.n + queue + 100
        prompts = rng.choice(np.array(of.law.sizes), size=count, p=np.array(of.law.weights) / of.law.total)
        outputs = rng.geometric(float(of.p), count)
        releases = saturated(queue) if load is None else at_iterations(1 + (np.arange(count) / rate).astype(np.int64))
        stream = request_stream(prompts, outputs, releases, seed=replication)
        run = simulate(stream, make_policy(policy), workers=of.workers, slots=of.slots, steps=steps)
        return float(run.iterations.imbalance_sum[warmup:].mean())
