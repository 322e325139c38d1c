"""Laws for real ``B``: the diffusion, and renewed slots."""

from fractions import Fraction

import numpy as np

from lbtheory.theory import uniform
from lbtheory.theory.diffusion import diffusion_law, renewed_law
from lbtheory.theory.levelling import LevelSystem
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.level_chain import rich_loads
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 485
PLACES = ((100, 100, 8, 64), (100, 100, 8, 256), (100, 100, 64, 64), (20, 50, 8, 64), (1000, 4000, 8, 64))


def check(laboratory: Laboratory) -> Verdict:
    """Against simulated LEVEL in rich supply: the diffusion within a factor 1.7, renewed slots within 15 %."""
    coarse, fine = [], []
    for a, s, workers, slots in PLACES:
        p = Fraction(1, a)
        of = LevelSystem(p=p, low=1, high=s, workers=workers, slots=slots)
        steps = laboratory.size(200, 2000) * a if a < 1000 else laboratory.size(40, 400) * a
        loads = rich_loads(of, steps, 20 * a, laboratory.rng("diffusion", a, s, workers, slots))
        simulated = float((workers * loads.max(axis=1) - loads.sum(axis=1)).mean())
        coarse.append(abs(float(np.log(diffusion_law(p, uniform(s), slots).imbalance(workers) / simulated))))
        fine.append(abs(float(np.log(renewed_law(p, s, slots, workers).imbalance(workers) / simulated))))
    return together(
        [
            at_most(coarse, float(np.log(1.7)), "systems: |log(diffusion/simulated)|"),
            at_most(fine, float(np.log(1.15)), "systems: |log(renewed slots/simulated)|"),
        ]
    )


CLAIM = Claim(
    id="diffusion",
    statement="Ī^LEVEL ≈ G E max_g x_g, x with density ∝ exp(−(p x² + 2β|x|)/ν²), within 1.7;  renewed slots within 15 %",
    source="ours (section 6.4.6), heuristic",
    hypotheses=("LEVEL with a constant target", "every size in rich supply"),
    kind=Kind.EMPIRICAL,
    check=check,
)
