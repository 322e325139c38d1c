"""A floor that no policy can go below: the parity of the difference of two loads."""

from fractions import Fraction

from lbtheory.theory import from_weights
from lbtheory.theory.theorem1 import system
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, mean_at_least, mean_equals, together

ORDER = 430


def check(laboratory: Laboratory) -> Verdict:
    """Pathwise ``I ≥ 1{L_1 − L_2 odd}``; the probability of an odd difference, and the floor, over independent runs."""
    of = system(Fraction(1, 4), from_weights([1, 3], [1, 1]), 2, 3)
    floor = float(1 - (of.p / (1 + of.q)) ** (2 * of.slots)) / 2
    parts = []
    for policy in ("io", "spread-lex", "jsq"):
        runs = laboratory.short_runs(of, policy, laboratory.size(120, 1000))
        odd = [(run.loads[:, 0] - run.loads[:, 1]) % 2 for run in runs]
        parts += [at_most(one, run.imbalance, f"iterations, {policy}") for one, run in zip(odd, runs, strict=True)]
        parts.append(mean_equals([float(one[-1]) for one in odd], floor, f"P(odd), {policy}"))
        parts.append(
            mean_at_least([float(run.imbalance[31:].mean()) for run in runs], floor * 0.9, f"0.9 of the floor, {policy}")
        )
    return together(parts, f"three policies, {len(runs)} independent runs of 60 iterations")


CLAIM = Claim(
    id="parity-floor",
    statement="G = 2, S ∈ {1, 3}: Ī ≥ ½(1 − (p/(1+q))^{2B}) for every policy, so (G−2)s/p alone is no bound",
    source="ours (section 6.4.2)",
    hypotheses=("every slot full",),
    kind=Kind.OURS,
    check=check,
)
