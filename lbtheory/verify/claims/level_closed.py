"""Theorems B and C: closed forms, the second free of ``B``."""

from fractions import Fraction

import numpy as np

from lbtheory.theory.levelling import LevelSystem, chernoff_bound, closed_form, free_of_slots
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.level_chain import rich_loads
from lbtheory.verify.verdict import Verdict, at_most, mean_at_most, together

ORDER = 470


def check(laboratory: Laboratory) -> Verdict:
    """Against the optimised bound over a grid, decrease in ``B``, and simulation of small and large ``B``."""
    sharp, closed, free, rising, falling = [], [], [], [], []
    parts = []
    for a in (2, 4, 20, 100):
        for s in (2, 5, 50, 400):
            before = None
            for slots in (1, 8, 64, 1024):
                of = LevelSystem(p=Fraction(1, a), low=1, high=s, workers=8, slots=slots)
                value = closed_form(of)
                sharp.append(chernoff_bound(of).value)
                closed.append(value.value)
                free.append(free_of_slots(of))
                if before is not None:
                    rising.append(value.constant)
                    falling.append(before)
                before = value.constant
    for a, s, slots in ((4, 4, 1), (4, 4, 64), (20, 50, 16)):
        of = LevelSystem(p=Fraction(1, a), low=1, high=s, workers=8, slots=slots)
        means = []
        for one in range(20):
            loads = rich_loads(of, 200, 10 * a, laboratory.rng("level-closed", a, s, slots, one))
            means.append(float((8 * loads.max(axis=1) - loads.sum(axis=1)).mean()))
        parts.append(mean_at_most(means, min(closed_form(of).value, free_of_slots(of)), f"p = 1/{a}, s = {s}, B = {slots}"))
    return together(
        [
            at_most(sharp, np.minimum(closed, free), "systems: Theorem A below B and C", slack=1e-9),
            at_most(rising, np.array(falling), "pairs of B: the constant decreases", slack=1e-12),
            *parts,
        ],
        f"{len(sharp)} systems, three of them simulated",
    )


CLAIM = Claim(
    id="level-closed",
    statement="E I ≤ (G/θ)[ℓ(G C_B) + ℓ(C_B)], θ = (s−1)/(4μ₃);  ≤ 4G(log G + 8 + log⁺(1/(p(s−1)))) μ₃/(s−1) for every B",
    source="ours (Theorems B and C of the levelling bound)",
    hypotheses=("LEVEL with a constant integer target", "every size in rich supply", "every slot full"),
    kind=Kind.OURS,
    check=check,
)
