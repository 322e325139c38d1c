"""Theorem P: LEVEL bounded by a potential of the deviation; a ratio of 2 at ``B = 64``."""

from fractions import Fraction

from lbtheory.theory import uniform
from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.theory.levelling import LevelSystem, certify_potential, potential_bound
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.level_chain import rich_loads
from lbtheory.verify.verdict import Verdict, at_most, mean_at_most, together

ORDER = 476
PLACES = ((20, 50, 16), (20, 50, 32), (100, 100, 64))


def check(laboratory: Laboratory) -> Verdict:
    """Above the simulated mean (20 independent runs) at three systems; half of FCFS's exact law in the last one.

    In doubles at quick scale; certified in balls, with finer knots, at full scale.
    """
    parts, value = [], 0.0
    for a, s, slots in PLACES:
        of = LevelSystem(p=Fraction(1, a), low=1, high=s, workers=8, slots=slots)
        if laboratory.scale == "full":
            value = certify_potential(potential_bound(of)).value
        else:
            value = potential_bound(of, knots=100).value
        means = []
        for one in range(20):
            loads = rich_loads(of, 400, 10 * a, laboratory.rng("level-potential", a, s, slots, one))
            means.append(float((8 * loads.max(axis=1) - loads.sum(axis=1)).mean()))
        parts.append(mean_at_most(means, value, f"p = 1/{a}, s = {s}, B = {slots}"))
    exact = benchmark_law(Fraction(1, 100), uniform(100), 64).imbalance(8)[0]
    parts.append(at_most([2 * value], exact, "twice the bound at p = 1/100, s = 100, G = 8, B = 64 against exact FCFS"))
    return together(parts, f"{len(PLACES)} systems, 20 independent runs each; FCFS/bound ≥ 2 in the last")


CLAIM = Claim(
    id="level-potential",
    statement="limsup E I ≤ G(K + C + Σ ε_i + tails);  FCFS/bound ≥ 2 at p = 1/100, S ~ U{1..100}, G = 8, B = 64",
    source="ours (Theorem P of the levelling bound)",
    hypotheses=("LEVEL with a constant integer target", "every size in rich supply", "every slot full"),
    kind=Kind.OURS,
    check=check,
)
