"""Bounds free of ``B`` in rich supply, and with exact moments."""

from fractions import Fraction

from lbtheory.theory.levelling import LevelSystem
from lbtheory.theory.rich_supply import rich_bound, rich_bound_at
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.level_chain import rich_loads
from lbtheory.verify.verdict import Verdict, mean_at_most, together

ORDER = 455
PLACES = ((4, 4, 8, 64), (4, 4, 8, 400), (20, 50, 8, 64), (20, 50, 8, 600), (5, 2, 3, 40))


def check(laboratory: Laboratory) -> Verdict:
    """Simulated IO_0 in rich supply, 20 independent runs, against both bounds."""
    parts = []
    for a, s, workers, slots in PLACES:
        of = LevelSystem(p=Fraction(1, a), low=1, high=s, workers=workers, slots=slots)
        means = []
        for one in range(20):
            loads = rich_loads(of, laboratory.size(300, 3000), 10 * a, laboratory.rng("rich", a, s, slots, one), rule="io")
            means.append(float((workers * loads.max(axis=1) - loads.sum(axis=1)).mean()))
        bound = min(rich_bound(of.p, s, workers), rich_bound_at(of.p, s, workers, slots))
        parts.append(mean_at_most(means, bound, f"p = 1/{a}, s = {s}, G = {workers}, B = {slots}"))
    return together(parts, f"{len(PLACES)} systems, 20 independent runs each")


CLAIM = Claim(
    id="rich-bound",
    statement="limsup Ī ≤ 2(G−1) log(1+G)/(pτ) for every B, V'τ = p(s−1);  less with exact moment generating functions",
    source="ours (section 6.4.7)",
    hypotheses=("IO_0 under any tie rule, or SpreadLex", "liminf A(k)/k > np/min_t P(S = t)"),
    kind=Kind.OURS,
    check=check,
)
