"""SpreadLex: minimise ``(D, N_max, I)`` lexicographically at every step (ours: the proof's comparator, run as a policy)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lbtheory.decode.exact import Solution, solve_spread_lex
from lbtheory.decode.instance import DecodeInstance
from lbtheory.decode.policies.exact import SolvedPolicy


@dataclass(slots=True, kw_only=True)
class SpreadLex(SolvedPolicy):
    """``D = max_g L_g − min_g L_g``, ``N_max`` the number of workers at the maximum. `proofs` gives the gaps of ``D``."""

    name: ClassVar[str] = "spread-lex"

    def lost(self, solution: Solution) -> int:
        """``D`` less its proved lower bound, tokens."""
        return solution.key[0] - solution.key_bound[0]

    def solve(self, instance: DecodeInstance, forced: frozenset[int], rng: np.random.Generator) -> Solution:
        """Solve the lexicographic program."""
        return solve_spread_lex(instance, time_limit=self.time_limit, seed=rng, must_admit=forced)
