"""Theorem A: tails and means of one worker under LEVEL with a constant target."""

from fractions import Fraction

import numpy as np

from lbtheory.theory.levelling import LevelSystem, chernoff_bound
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.level_chain import rich_loads
from lbtheory.verify.verdict import Verdict, mean_at_most, together

ORDER = 460
PLACES = ((4, 4, 64), (20, 50, 64), (20, 50, 8), (5, 3, 20))


def check(laboratory: Laboratory) -> Verdict:
    """Independent workers after ``30/p`` iterations: ``P(±e > x)`` and ``E(±e − x)₊`` on the grid of the bound."""
    parts, count = [], laboratory.size(8000, 40_000)
    for a, s, slots in PLACES:
        of = LevelSystem(p=Fraction(1, a), low=1, high=s, workers=2, slots=slots)
        many = LevelSystem(p=of.p, low=1, high=s, workers=count, slots=slots)
        bound = chernoff_bound(of)
        deviations = rich_loads(many, 1, 30 * a, laboratory.rng("level-tails", a, s, slots))[0] - of.target()
        for side, sign in ((bound.above, 1), (bound.below, -1)):
            where = np.linspace(0, np.argmax(side.tail < 80 / count) - 1, 6).astype(int)
            for place in where:
                x = side.points[place]
                over = sign * deviations - x
                parts.append(
                    mean_at_most(over > 0, float(side.tail[place]), f"P(±e > {x:.4g}), p = 1/{a}, s = {s}, B = {slots}")
                )
                parts.append(
                    mean_at_most(
                        np.maximum(over, 0), float(side.excess[place]), f"E(±e − {x:.4g})₊, p = 1/{a}, s = {s}, B = {slots}"
                    )
                )
    return together(parts, f"{len(parts)} tails and means over {count:,} independent workers")


CLAIM = Claim(
    id="level-tails",
    statement="P(e > x) ≤ Σ_{m<M} e^{−θx} φ_m^B + e^{−θx} ψ_M^B, and the mirrored lower tail, any θ, η in each term",
    source="ours (Theorem A of the levelling bound)",
    hypotheses=("LEVEL with a constant integer target", "every size in rich supply", "every slot full"),
    kind=Kind.OURS,
    check=check,
)
