"""LEVEL-X: first-come admission, improved by exchanges toward a common level (ours, empirical)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lbtheory.decode.instance import Assignment
from lbtheory.decode.policies.base import CompiledRule, InformationSet, Policy, View, check_cap, check_range
from lbtheory.decode.policies.level_plus import age_discount
from lbtheory.decode.predictors import History

LIMIT = 512
"""Admissions of one iteration that exchanges improve; of more the oldest go to the workers with most free slots."""
LEAST = 1e-9
"""An exchange must lower ``J`` by more than this times the variance of the sizes."""


@dataclass(slots=True, kw_only=True)
class LevelX(Policy):
    """Exchange requests between workers, and with the queue, as long as that lowers

    ``J = Σ_g (L_g − T)² + κ σ (U/G) I + Σ_admitted [α σ² r/n − ζ (S − S̄)²]``,   ``I = G max_g L_g − Σ_g L_g``,

    ``L_g = Σ (S + (1−φ) age)`` after admission, ``E_g`` before it, and ``T = T₀ + λ (max_g (E_g + c_g S_min) − T₀)_+``, ``T₀ =
    (Σ_g E_g + U S̄)/G``: LEVEL's target, pulled up toward the least load that the largest can have. Candidates are the ``U``
    oldest and ``window`` more, ``n`` in all, of ranks ``r = 0, 1, …``; ``S̄`` is the mean of all waiting sizes, ``σ²`` the
    candidates' mean square about it, at least 1.

    The start is first-come admission: the ``U`` oldest, largest first, each to the worker with the largest mean need ``(T −
    E_g)/c_g`` (below saturation: with the least level). Then, request by request: the best exchange with one that is left, and
    every exchange of workers with an earlier one that lowers ``J``; at most ``sweeps`` rounds.

    No forecast is used. Where control is weak the squares decide, as in LEVEL; where ``U/G`` requests a worker can move a load
    far in one iteration, today's imbalance does, as in IO_0 (``κ = ∞``): in small systems the exact long-run optimum is nearer
    to IO_0 than LEVEL+ is. The price of rank keeps old requests from coming due, which are then placed where they do not fit;
    ``ζ`` takes sizes far from the mean while they fit. The rule is empirical: nothing is proved of it beyond the caps, and
    that ``J`` is at most that of its start.

    Options
    -------
    window : int
        Waiting requests that are looked at beside the ``U`` oldest.
    lam, kappa, alpha, zeta : float
        ``λ`` in [0, 1]; ``κ, α, ζ ≥ 0``.
    phi : float
        ``φ`` in [0, 1]; by default from history as for LEVEL+, 0 without history.
    sweeps : int
        Most rounds of exchanges in an iteration.
    overtake, patience : int
        Cap ``D``, and cap on the iterations that a request waits.
    """

    name: ClassVar[str] = "level-x"
    information: ClassVar[InformationSet] = InformationSet.LOADS | InformationSet.AGES | InformationSet.PROMPTS
    sized: ClassVar[bool] = True
    overtake: int | None = 64
    patience: int | None = None
    window: int = 64
    lam: float = 0.15
    kappa: float = 1.0
    alpha: float = 2.0
    zeta: float = 0.12
    phi: float | None = None
    sweeps: int = 8
    history: History | None = None

    def __post_init__(self) -> None:
        check_cap(self.name, self.overtake, self.patience)
        check_range(self.name, "window", self.window, 0, 100_000)
        check_range(self.name, "sweeps", self.sweeps, 0)
        check_range(self.name, "lam", self.lam, 0.0, 1.0)
        for name in ("kappa", "alpha", "zeta"):
            check_range(self.name, name, getattr(self, name), 0.0, 1e6)
        if self.phi is None:
            self.phi = 0.0 if self.history is None else age_discount(self.history)
        check_range(self.name, "phi", self.phi, 0.0, 1.0)

    def assign(self, view: View, rng: np.random.Generator) -> Assignment:
        """First come, then exchanges."""
        if view.admissions == 0:
            return Assignment(workers=tuple(() for _ in view.free))
        step = _Step(self, view)
        step.start()
        step.exchange()
        return step.assignment()

    def compiled(self, workers: int) -> CompiledRule:
        """The compiled rule."""
        from lbtheory.decode.kernels import exchange

        assert self.phi is not None
        rule = exchange.ExchangeRule(
            lam=float(self.lam),
            phi=float(self.phi),
            kappa=float(self.kappa),
            alpha=float(self.alpha),
            zeta=float(self.zeta),
            spare=self.window,
            limit=LIMIT,
            sweeps=self.sweeps,
            request=np.zeros(LIMIT + self.window, np.int64),
            rank=np.zeros(LIMIT + self.window, np.int64),
            worker=np.zeros(LIMIT, np.int64),
            top=np.zeros(3, np.int64),
        )
        return CompiledRule(run=exchange.run, rule=rule)


class _Step:
    """One iteration in progress, by positions in the queue."""

    def __init__(self, policy: LevelX, view: View) -> None:
        assert policy.phi is not None
        self.policy, self.view = policy, view
        self.sizes: list[int] = view.prompts
        self.level = [load - policy.phi * age for load, age in zip(view.loads, view.ages, strict=True)]
        self.quota = list(view.free)
        self.full = view.admissions == sum(view.free)
        self.mean = sum(self.sizes) / len(self.sizes)
        self.target = self._target()
        self.early: list[tuple[int, int]] = []
        self.chosen: list[int] = []
        self.worker: list[int] = []
        self.left: list[int] = []

    def _target(self) -> float:
        seen = self.view.admissions + self.policy.window
        smallest = min(self.sizes[:seen])
        total = 0.0
        for level in self.level:
            total += level
        peak = max(level + c * smallest for level, c in zip(self.level, self.quota, strict=True))
        target = (total + self.view.admissions * self.mean) / len(self.level)
        return target + self.policy.lam * max(0.0, peak - target)

    def put(self, i: int, worth: Callable[[int], float]) -> int:
        """Send a request to the worker with the largest worth (ties: lowest index), which is returned."""
        worker = max((g for g, c in enumerate(self.quota) if c > 0), key=lambda g: (worth(g), -g))
        self.level[worker] += self.sizes[i]
        self.quota[worker] -= 1
        return worker

    def need(self, g: int) -> float:
        """Mean need of a free slot, or below saturation of the worker."""
        value = self.target - self.level[g]
        return value / self.quota[g] if self.full else value

    def start(self) -> None:
        """First-come admission."""
        surplus = max(0, self.view.admissions - LIMIT)
        self.early = [(i, self.put(i, lambda g: self.quota[g])) for i in range(surplus)]
        last = self.view.admissions
        self.chosen = sorted(range(surplus, last), key=lambda i: (-self.sizes[i], i))
        self.worker = [self.put(i, self.need) for i in self.chosen]
        self.left = list(range(last, min(len(self.sizes), last + self.policy.window)))

    def exchange(self) -> None:
        """Exchanges with what is left and between workers, until none lowers ``J``."""
        first = len(self.early)
        candidates = self.sizes[first : first + len(self.chosen) + len(self.left)]
        variance = _square_mean(candidates, self.mean)
        forced = self.view.forced(self.policy.overtake, self.policy.patience)
        price = self.policy.alpha * variance / len(candidates)
        workers = len(self.level)
        weight = self.policy.kappa * math.sqrt(variance) * len(self.chosen) / workers if workers > 1 else 0.0

        def taking(i: int) -> float:
            away = self.sizes[i] - self.mean
            return price * (i - first) - self.policy.zeta * (away * away)

        for _ in range(self.policy.sweeps):
            changed = False
            for j, g in enumerate(self.worker):
                if self.chosen[j] >= forced and self.left:
                    changed |= self._with_left(j, g, taking, weight, variance)
                for k in range(j):
                    changed |= self._between(j, k, weight, variance)
            if not changed:
                break

    def _with_left(self, j: int, g: int, taking: Callable[[int], float], weight: float, variance: float) -> bool:
        """Exchange the ``j``-th with the best that is left, if one lowers ``J``."""
        out = self.chosen[j]
        peak = self._peak_without(g, g)

        def cost(i: int) -> float:
            level = self.level[g] - self.sizes[out] + self.sizes[i]
            value = (level - self.target) ** 2
            if weight > 0.0:
                value += weight * (len(self.level) * max(0.0, level - peak) - (level - peak))
            return value + taking(i)

        costs = [cost(i) for i in self.left]
        best = min(range(len(costs)), key=lambda k: (costs[k], k))
        if not costs[best] < cost(out) - LEAST * variance:
            return False
        into = self.left[best]
        self.level[g] += self.sizes[into] - self.sizes[out]
        self.chosen[j], self.left[best] = into, out
        return True

    def _between(self, j: int, k: int, weight: float, variance: float) -> bool:
        """Exchange the workers of the ``j``-th and the ``k``-th, if that lowers ``J``."""
        g, h = self.worker[j], self.worker[k]
        more = self.sizes[self.chosen[k]] - self.sizes[self.chosen[j]]
        if g == h or more == 0:
            return False
        a, b, t = self.level[g], self.level[h], self.target
        gain = (a - t) ** 2 + (b - t) ** 2 - (a + more - t) ** 2 - (b - more - t) ** 2
        if weight > 0.0:
            peak = self._peak_without(g, h)
            gain += weight * len(self.level) * (max(peak, max(a, b)) - max(peak, max(a + more, b - more)))
        if not gain > LEAST * variance:
            return False
        self.level[g] += more
        self.level[h] -= more
        self.chosen[j], self.chosen[k] = self.chosen[k], self.chosen[j]
        return True

    def _peak_without(self, g: int, h: int) -> float:
        return max((level for w, level in enumerate(self.level) if w not in (g, h)), default=-math.inf)

    def assignment(self) -> Assignment:
        """Who goes where."""
        workers: list[list[int]] = [[] for _ in self.level]
        for i, g in [*self.early, *zip(self.chosen, self.worker, strict=True)]:
            workers[g].append(i)
        return Assignment(workers=tuple(tuple(sorted(chosen)) for chosen in workers))


def _square_mean(sizes: list[int], mean: float) -> float:
    """Mean square about ``mean``, at least 1."""
    total = 0.0
    for size in sizes:
        total += (size - mean) * (size - mean)
    return max(1.0, total / len(sizes))
