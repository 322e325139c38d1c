"""BalanceRoute, plain: what BR-0 and BR-H share (decode paper, section 5 and EC.3).

For worker ``g`` with margins ``m_h = M_h − ℓ_{g,h}``, a set ``Q`` of ``n`` waiting requests with total ``b`` scores

    ``Σ_h γ^h [ x_h − β (x_h − m_h)_+ ]``,   ``x_h = b`` (simplified) or ``b + h n`` with ``β = G`` (before simplification).

Two stages. While more than ``S_greedy`` slots are free: the worker with most free slots (ties: smallest load, lowest index)
gets the one waiting request with the largest score. Otherwise: the worker first in descending (free slots, least margin) gets
the best subset of the first ``R_max`` waiting requests; if no subset scores above 0, the best single one.

Here scores are integers, so ties are true ties: with ``γ = a/b`` and ``β = c/d`` everything is multiplied by ``b^H d``. The
compiled rule works in doubles and takes scores for equal that rounding could not tell apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np

from lbtheory.core import ParameterError
from lbtheory.decode.instance import Assignment
from lbtheory.decode.policies.base import (
    CompiledRule,
    InformationSet,
    Policy,
    View,
    check_cap,
    check_choice,
    check_range,
    oldest_overdue,
)

SCORES = ("simplified", "exact")
SEARCHES = ("enumeration", "reachable-sums")


@dataclass(slots=True, kw_only=True)
class BalancePolicy(Policy):
    """Base of BR-0 and BR-H.

    Options
    -------
    greedy : int
        ``S_greedy``: stage 1 works while more slots than this are free.
    window : int
        ``R_max``: requests at the head of the queue that stage 2 considers.
    search : enumeration | reachable-sums
        How stage 2 finds its subset; both are exact.
    overtake, patience : int
        Cap ``D``, and cap on the iterations that a request waits; none by default.
    bonus : float
        Tokens that the score of a request gains for each iteration that it has waited, times the weight of its tenant: a
        penalty on waiting (ours). With one, the rule runs in plain Python.
    """

    overtake: int | None = None
    patience: int | None = None
    bonus: float = 0.0
    greedy: int = 4
    window: int = 4
    search: str = "enumeration"
    sized: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_range(self.name, "greedy", self.greedy, 0)
        check_range(self.name, "window", self.window, 1, 20)
        check_choice(self.name, "search", self.search, SEARCHES)
        check_cap(self.name, self.overtake, self.patience)
        check_range(self.name, "bonus", self.bonus, 0.0, 1e9)
        if self.bonus and self.search != "enumeration":
            raise ParameterError(f"`bonus` of policy {self.name!r} needs search=enumeration; got {self.search!r}.")

    @property
    def information(self) -> InformationSet:  # type: ignore[override]
        """Loads and prompts; forecasts where there is a window."""
        more = InformationSet.FORECAST if self.offsets > 0 else InformationSet.NOTHING
        return InformationSet.LOADS | InformationSet.PROMPTS | more

    @property
    def offsets(self) -> int:
        """``H``."""
        return 0

    def penalty(self, workers: int) -> float:
        """``β``."""
        return float(workers)

    @property
    def discount(self) -> float:
        """``γ``."""
        return 1.0

    @property
    def exact_score(self) -> bool:
        """Whether the score before simplification is used."""
        return False

    def assign(self, view: View, rng: np.random.Generator) -> Assignment:
        """Run both stages."""
        return self.decide(BalanceStep(self, view, self.rows(view)))

    def rows(self, view: View) -> list[list[int]]:
        """Projected loads by offset, or the loads alone."""
        return [list(row) for row in view.forecast.loads] if self.offsets > 0 else [list(view.loads)]

    def decide(self, step: "BalanceStep") -> Assignment:
        """Run both stages of a step."""
        while step.left > 0:
            if step.overdue() or sum(step.free) > self.greedy:
                g = min(step.open(), key=lambda j: (-step.free[j], step.loads[0][j], j))
                pick = 0 if step.overdue() else step.best_single(g)
                step.place(step.queue[pick], g)
            else:
                g = min(step.open(), key=lambda j: (-step.free[j], -min(step.margins(j)), j))
                for n, position in enumerate(step.best_subset(g)):
                    if n > 0 and step.overdue() and step.queue[0] != position:
                        break
                    step.place(position, g)
        return Assignment(workers=tuple(tuple(sorted(c)) for c in step.chosen))

    def _tolerance(self, workers: int) -> float:
        """Largest rounding error of a score in doubles, as a multiple of ``b``; 0 where all terms are whole numbers."""
        beta, weights = self.penalty(workers), powers(self.discount, self.offsets)
        if self.discount == 1 and beta.is_integer():
            return 0.0
        return 4 * (len(weights) + 1) * float(np.finfo(float).eps) * sum(weights) * (1 + beta)

    def compiled(self, workers: int) -> CompiledRule | None:
        """The compiled rule; none with a bonus, since the best request is then no matter of its size alone."""
        if self.bonus:
            return None
        from lbtheory.decode.kernels import balance

        h = self.offsets
        rule = balance.BalanceRule(
            beta=self.penalty(workers),
            tolerance=self._tolerance(workers),
            greedy=self.greedy,
            window=self.window,
            exact=self.exact_score,
            weights=np.array(powers(self.discount, h)),
            projected=np.zeros((workers, h + 1), np.int64),
            peak=np.zeros(h + 1, np.int64),
            margin=np.zeros(h + 1),
            picks=np.zeros(self.window, np.int64),
        )
        return CompiledRule(run=balance.run, rule=rule, indexed=True)


def decimal(value: float) -> Fraction:
    """The fraction that a decimal such as 0.86 stands for."""
    return Fraction(repr(value))


def powers(gamma: float, horizon: int) -> list[float]:
    """``γ^h`` for ``h = 0 … H``, by repeated multiplication."""
    values = [1.0]
    for _ in range(horizon):
        values.append(values[-1] * gamma)
    return values


class BalanceStep:
    """One step in progress: loads by offset, free slots, the queue (positions), what was chosen."""

    def __init__(self, policy: BalancePolicy, view: View, loads: list[list[int]]) -> None:
        self.policy, self.view, self.loads = policy, view, loads
        self.free, self.queue, self.left = list(view.free), list(range(len(view.order))), view.admissions
        self.admitted = view.admitted
        self.chosen: list[list[int]] = [[] for _ in view.free]
        gamma, beta, horizon = decimal(policy.discount), decimal(policy.penalty(len(view.free))), len(loads) - 1
        self.over, self.under = beta.numerator, beta.denominator
        self.scale = gamma.denominator**horizon * beta.denominator
        self.bonus = decimal(policy.bonus) * self.scale
        self.weights = [gamma.numerator**h * gamma.denominator ** (horizon - h) for h in range(horizon + 1)]

    def open(self) -> list[int]:
        """Workers with a free slot."""
        return [g for g, c in enumerate(self.free) if c > 0]

    def overdue(self) -> bool:
        """Whether the overtaking cap forces the oldest request."""
        return oldest_overdue(self.view, self.policy, self.admitted, self.queue)

    def place(self, position: int, g: int) -> None:
        """Admit; the request is taken to stay through the window."""
        self.queue.remove(position)
        self.chosen[g].append(position)
        self.free[g] -= 1
        self.left -= 1
        self.admitted += 1
        for h, row in enumerate(self.loads):
            row[g] += self.view.prompts[position] + h

    def margins(self, g: int) -> list[int]:
        """``m_h = M_h − ℓ_{g,h}``."""
        return [max(row) - row[g] for row in self.loads]

    def score(self, g: int, total: int, requests: int) -> int:
        """Score of so many requests with this total, times ``scale = b^H d``."""
        growth = requests if self.policy.exact_score else 0
        value = 0
        for h, (weight, margin) in enumerate(zip(self.weights, self.margins(g), strict=True)):
            x = total + h * growth
            value += weight * (self.under * x - self.over * max(x - margin, 0))
        return value

    def best_single(self, g: int) -> int:
        """Place in the queue of the request with the largest score; ties: earliest."""
        sizes = self.view.prompts
        scores = {s: self.score(g, s, 1) for s in {sizes[i] for i in self.queue}}
        return max(range(len(self.queue)), key=lambda j: (scores[sizes[self.queue[j]]] + self.gain(self.queue[j]), -j))

    def gain(self, position: int) -> Fraction | int:
        """What a waiting request's score gains by its wait, in the units of `score`."""
        return self.bonus * self.view.weights[position] * self.view.waited[position] if self.bonus else 0

    def best_subset(self, g: int) -> Sequence[int]:
        """Best subset of the window; equal scores: fewest requests, then earliest released."""
        window = self.queue[: self.policy.window]
        room = min(self.free[g], len(window))
        find = self._enumerate if self.policy.search == "enumeration" else self._reachable
        value, subset = max(find(g, window, room), key=lambda c: (c[0], -len(c[1]), [-i for i in c[1]]))
        if value > 0:
            return subset
        singles = [(self.score(g, self.view.prompts[i], 1) + self.gain(i), -i) for i in window]
        return (-max(singles)[1],)

    def _enumerate(self, g: int, window: Sequence[int], room: int) -> Iterator[tuple[Fraction | int, Sequence[int]]]:
        for n in range(1, room + 1):
            for subset in combinations(window, n):
                yield self.score(g, sum(self.view.prompts[i] for i in subset), n) + sum(map(self.gain, subset)), subset

    def _reachable(self, g: int, window: Sequence[int], room: int) -> Iterator[tuple[int, Sequence[int]]]:
        """Probe the totals that can be reached, for each number of requests.

        The score is concave and affine between breakpoints, so a maximiser is among the nearest totals on both sides of each
        breakpoint and the two ends; equal scores fill an interval of totals, which is walked through for the tie rule.
        """
        reach: list[dict[int, tuple[int, ...]]] = [{} for _ in range(room + 1)]
        reach[0][0] = ()
        for i in window:
            for n in range(room, 0, -1):
                for total, subset in reach[n - 1].items():
                    new = (*subset, i)
                    at = total + self.view.prompts[i]
                    if at not in reach[n] or new < reach[n][at]:
                        reach[n][at] = new
        for n in range(1, room + 1):
            growth = n if self.policy.exact_score else 0
            totals = sorted(reach[n])
            if not totals:
                continue
            probes = {0, len(totals) - 1}
            for h, margin in enumerate(self.margins(g)):
                at = int(np.searchsorted(totals, margin - h * growth))
                probes |= {min(max(at + d, 0), len(totals) - 1) for d in (-1, 0)}
            best = max(self.score(g, totals[j], n) for j in probes)
            for j in [j for j in probes if self.score(g, totals[j], n) == best]:
                for side in (-1, 1):
                    at = j
                    while 0 <= at < len(totals) and self.score(g, totals[at], n) == best:
                        yield best, reach[n][totals[at]]
                        at += side
