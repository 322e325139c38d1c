"""Trajectories driven by ghost coins: one coin a slot and iteration, flipped also for empty slots (decode paper, appendix).

The engine is the plain one; only the source of output lengths differs. A request that is put into slot ``(g, b)`` at iteration
``k`` leaves at the first later iteration whose coin of that slot succeeds: its length is ``Geo(p)``, independent of all before.
Coins, prompts and release times are drawn beforehand and do not depend on the policy.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lbtheory.core import generator, readonly
from lbtheory.decode.engine_plain import PlainSystem
from lbtheory.decode.instance import Assignment
from lbtheory.decode.policies import Policy
from lbtheory.decode.stream import RequestStream, request_stream
from lbtheory.decode.traces.releases import Releases, at_iterations
from lbtheory.theory.theorem1 import System

NEVER = 2**20
"""Length of a request whose slot has no further success before the horizon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GhostRun:
    """A trajectory with everything that the proof speaks of; ``K`` iterations, index 0 is the empty start.

    Attributes
    ----------
    system : System
    coins : bool array (K+1, G, B)
        ``ξ_gb(k)``; row 0 is not used.
    ghost_ages : int array (K+1, G, B)
        ``X(k) = (1−ξ)(X(k−1)+1)``, ``X(0) = 0``.
    workloads : int array (K+1, G, B)
        ``w_gb(k)`` after admission, 0 where empty.
    ages : int array (K+1, G, B)
        Iterations since admission; −1 where empty.
    survivors, free : int arrays (K+1, G)
        ``a_g``, ``c_g`` before admission.
    loads : int array (K+1, G)
        ``L_g`` after admission.
    waiting : int array (K+1, s+1)
        ``R_k`` by size before admission.
    admitted_total : int array (K+1,)
        Requests admitted up to and including iteration ``k``.
    arrivals : int array (K+1,)
        ``A(k)``, requests released up to ``k``.
    prompts : int array (m,)
        Sizes in release order.
    smallest, largest, total : int arrays (K+1, G)
        Of the sizes admitted to a worker in the iteration (0 where none).
    """

    system: System
    coins: np.ndarray
    ghost_ages: np.ndarray
    workloads: np.ndarray
    ages: np.ndarray
    survivors: np.ndarray
    free: np.ndarray
    loads: np.ndarray
    waiting: np.ndarray
    admitted_total: np.ndarray
    arrivals: np.ndarray
    prompts: np.ndarray
    smallest: np.ndarray
    largest: np.ndarray
    total: np.ndarray

    @property
    def iterations(self) -> int:
        """``K``."""
        return len(self.coins) - 1

    @property
    def slots_free(self) -> np.ndarray:
        """``C(k) = Σ_g c_g(k)``, int array (K+1,)."""
        return np.asarray(self.free.sum(axis=1))

    @property
    def imbalance(self) -> np.ndarray:
        """``I(k)``, int array (K+1,)."""
        return np.asarray(self.system.workers * self.loads.max(axis=1) - self.loads.sum(axis=1))

    @property
    def spread(self) -> np.ndarray:
        """``D(k) = max_g L_g − min_g L_g``, int array (K+1,)."""
        return np.asarray(self.loads.max(axis=1) - self.loads.min(axis=1))

    @property
    def full(self) -> np.ndarray:
        """Whether every slot is busy after admission, bool array (K+1,)."""
        return np.asarray((self.workloads > 0).all(axis=(1, 2)))

    @property
    def supplied(self) -> np.ndarray:
        """Whether ``|R_k∖{S=t}| ≥ C(k)`` for every ``t``, bool array (K+1,)."""
        most = self.waiting.max(axis=1)
        return np.asarray(self.waiting.sum(axis=1) - most >= self.slots_free)

    def noise(self, t: int) -> np.ndarray:
        """``E_g(t) = Σ_b (ξ_gb(k) − p)(t − w_gb(k−1) − 1)``, float array (K, G), for ``k = 1 … K``."""
        return np.asarray(((self.coins[1:] - float(self.system.p)) * (t - self.workloads[:-1] - 1)).sum(axis=2))


class GhostSystem(PlainSystem):
    """The plain decode system with lengths from coins."""

    def __init__(self, stream: RequestStream, policy: Policy, coins: np.ndarray) -> None:
        _, workers, slots = coins.shape
        super().__init__(stream, policy, workers, slots)
        last = len(coins) - 1
        self.following = np.full(coins.shape, last + NEVER, np.int64)  # first success after k
        for k in range(last - 1, -1, -1):
            self.following[k] = np.where(coins[k + 1], k + 1, self.following[k + 1])
        self.slot: dict[int, int] = {}

    def admit(self, assignment: Assignment) -> None:
        """New requests take the free slots of their worker in order."""
        super().admit(assignment)
        for g, requests in enumerate(self.flight):
            taken = {self.slot[i] for i in requests if i in self.slot}
            empty = iter(b for b in range(self.slots) if b not in taken)
            for i in requests:
                if i not in self.slot:
                    self.slot[i] = next(empty)
                    self.outputs[i] = int(self.following[self.k, g, self.slot[i]]) - self.k


def draw_coins(system: System, iterations: int, rng: np.random.Generator) -> np.ndarray:
    """Coins of every slot and iteration, bool array (K+1, G, B); row 0 is not used."""
    coins = rng.random((iterations + 1, system.workers, system.slots)) < float(system.p)
    coins[0] = False
    return coins


def overloaded(system: System, iterations: int, factor: float, rng: np.random.Generator) -> tuple[np.ndarray, Releases]:
    """Prompts and releases at ``factor`` times the supply rate ``n p/ρ``, evenly spaced, with ``2n`` released at the start."""
    rate = factor * float(system.n * system.p / (1 - system.law.commonest))
    count = 2 * system.n + int(rate * iterations)
    times = np.maximum(1, np.floor((np.arange(count) - 2 * system.n) / rate).astype(np.int64) + 1)
    return rng.choice(np.array(system.law.sizes), size=count, p=np.array(system.law.weights) / system.law.total), at_iterations(
        times
    )


def ghost_run(
    system: System, policy: Policy, prompts: np.ndarray, releases: Releases, coins: np.ndarray, seed: int
) -> GhostRun:
    """Run a policy on given coins, prompts and releases."""
    k_last, workers, slots = len(coins) - 1, system.workers, system.slots
    stream = request_stream(prompts, np.ones(len(prompts), np.int64), releases, seed=seed)
    run = GhostSystem(stream, policy, coins)
    policy.reset(workers, slots)
    rng = generator(seed, "policy", policy.name)
    shape = (k_last + 1, workers)
    made: dict[str, Any] = {
        name: np.zeros(shape, np.int64) for name in ("survivors", "free", "loads", "smallest", "largest", "total")
    }
    made["workloads"], made["ages"] = np.zeros((*shape, slots), np.int64), np.full((*shape, slots), -1, np.int64)
    made["waiting"] = np.zeros((k_last + 1, system.s + 1), np.int64)
    made["admitted_total"], made["arrivals"] = np.zeros(k_last + 1, np.int64), np.zeros(k_last + 1, np.int64)
    made["free"][0] = slots
    for k in range(1, k_last + 1):
        run.depart()
        run.release()
        view = run.view()
        made["survivors"][k], made["free"][k], made["arrivals"][k] = run.loads(), view.free, run.next
        made["waiting"][k] = np.bincount(stream.prompts[list(run.queue)], minlength=system.s + 1)
        policy.observe(view)
        if view.admissions:
            run.admit(policy.assign(view, rng))
        for g, requests in enumerate(run.flight):
            for i in requests:
                b, age = run.slot[i], k - int(run.admitted[i])
                made["ages"][k, g, b], made["workloads"][k, g, b] = age, run.prompts[i] + age
            new = [run.prompts[i] for i in requests if run.admitted[i] == k]
            if new:
                made["smallest"][k, g], made["largest"][k, g], made["total"][k, g] = min(new), max(new), sum(new)
        made["loads"][k], made["admitted_total"][k] = run.loads(), run.count_admitted
    ages = np.zeros(coins.shape, np.int64)
    for k in range(1, k_last + 1):
        ages[k] = np.where(coins[k], 0, ages[k - 1] + 1)
    return GhostRun(
        system=system,
        coins=readonly(coins),
        ghost_ages=readonly(ages),
        prompts=stream.prompts,
        **{name: readonly(array) for name, array in made.items()},
    )
