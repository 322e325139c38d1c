"""Theorem M: second moments bound both sides."""

from fractions import Fraction

import numpy as np

from lbtheory.theory.levelling import LevelSystem, second_moment
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.level_chain import rich_loads
from lbtheory.verify.verdict import Verdict, mean_at_most, together

ORDER = 465
PLACES = ((4, 4, 64), (20, 50, 64), (100, 100, 64), (100, 400, 16))


def check(laboratory: Laboratory) -> Verdict:
    """``E e⁺`` and ``E e⁻`` over independent workers after ``30/p`` iterations."""
    parts, count = [], laboratory.size(1000, 10_000)
    for a, s, slots in PLACES:
        of = LevelSystem(p=Fraction(1, a), low=1, high=s, workers=count, slots=slots)
        deviations = rich_loads(of, 1, 30 * a, laboratory.rng("level-moments", a, s, slots))[0] - of.target()
        for upper, sign in ((True, 1), (False, -1)):
            values = np.maximum(sign * deviations, 0)
            parts.append(mean_at_most(values, second_moment(of, upper=upper).value, f"p = 1/{a}, s = {s}, B = {slots}"))
    return together(parts, f"{len(parts)} means over {count:,} independent workers")


CLAIM = Claim(
    id="level-moments",
    statement="E e⁺ ≤ [pq E Σ_b w_b² + b² P(e > 0)]/(2qb), 0 < b ≤ pT − B;  E e⁻ likewise with (w_b + 1 − s)²",
    source="ours (Theorem M of the levelling bound)",
    hypotheses=("LEVEL with a constant integer target", "every size in rich supply", "every slot full"),
    kind=Kind.OURS,
    check=check,
)
