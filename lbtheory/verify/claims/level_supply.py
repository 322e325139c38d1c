"""Theorem S: LEVEL's bound with the supply as it comes."""

from fractions import Fraction

from lbtheory.theory import from_weights, uniform
from lbtheory.theory.levelling import supply_bound
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.level_chain import supply_loads
from lbtheory.verify.verdict import Verdict, mean_at_most, together

ORDER = 478
LAWS = (uniform(50), uniform(4), from_weights([1, 7, 30, 31, 90], [4, 3, 1, 1, 3]))


def check(laboratory: Laboratory) -> Verdict:
    """The rule itself, both groups in order of arrival, 20 independent runs; uniform laws and a lumpy one."""
    parts = []
    for number, law in enumerate(LAWS):
        for share in (Fraction(1, 10), Fraction(1, 4)):
            for slots in (16, 128):
                bound = supply_bound(Fraction(1, 20), law, share, 4, slots)
                means = []
                for one in range(20):
                    rng = laboratory.rng("level-supply", number, str(share), slots, one)
                    loads = supply_loads(bound, law, 4, slots, laboratory.size(300, 3000), 300, rng)
                    means.append(float((4 * loads.max(axis=1) - loads.sum(axis=1)).mean()))
                parts.append(mean_at_most(means, bound.value, f"law {number}, α = {share}, B = {slots}"))
    return together(parts, f"{len(parts)} systems, 20 independent runs each")


CLAIM = Claim(
    id="level-supply",
    statement="E I ≤ G[s − 1 + min_x(x + G H₊(x)) + H₋(0)] with only the α smallest and the α largest prompts in supply",
    source="ours (Theorem S of the levelling bound)",
    hypotheses=("LEVEL on two groups with a constant target", "liminf A(k)/k > np/α"),
    kind=Kind.OURS,
    check=check,
)
