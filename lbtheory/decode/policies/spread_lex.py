"""SpreadLex: minimise ``(D, N_max, I)`` lexicographically at every step (ours: the proof's comparator, run as a policy)."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from lbtheory.decode.exact import Solution, solve_spread_lex
from lbtheory.decode.instance import DecodeInstance
from lbtheory.decode.policies.exact import SolvedPolicy


@dataclass(slots=True, kw_only=True)
class SpreadLex(SolvedPolicy):
    """``D = max_g L_g − min_g L_g``, ``N_max`` the number of workers at the maximum."""

    name: ClassVar[str] = "spread-lex"
    _gap: int = field(default=0, init=False, repr=False, compare=False)

    @property
    def gap(self) -> int:
        """Sum over the decisions without proof of ``D`` less its proved bound, tokens."""
        return self._gap

    def reset(self, workers: int, slots: int) -> None:
        """Count anew."""
        SolvedPolicy.reset(self, workers, slots)
        self._gap = 0

    def count(self, solution: Solution) -> None:
        """Count a decision that is not proved, and what it may lose."""
        SolvedPolicy.count(self, solution)
        self._gap += solution.key[0] - solution.key_bound[0]

    def solve(self, instance: DecodeInstance, forced: frozenset[int], rng: np.random.Generator) -> Solution:
        """Solve the lexicographic program."""
        return solve_spread_lex(instance, time_limit=self.time_limit, seed=rng, must_admit=forced)
