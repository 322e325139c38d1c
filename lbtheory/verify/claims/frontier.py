"""Where the theorem begins to say something."""

from lbtheory.theory.frontier import frontier
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, close, together

ORDER = 440
STATED = (334_131, 7_394_547, 1.08e10, 3.06e13)


def check(laboratory: Laboratory) -> Verdict:
    """The four stated values, three digits; each sharper certificate bites no later than the one before."""
    found = [frontier(of) for of in laboratory.published]
    values = [(float(one.epsilon_below_s), float(stated)) for one, stated in zip(found, STATED, strict=True)]
    order = [
        (small, large)
        for one in found
        for small, large in (
            (one.spread_lex, one.computed),
            (one.computed, one.sharper),
            (one.sharper, one.theorem1),
            (one.theorem1, one.epsilon_below_s),
        )
    ]
    return together(
        [
            close(values, 5e-3, "stated values"),
            at_most([a for a, _ in order], [b for _, b in order], "comparisons of certificates"),
        ]
    )


CLAIM = Claim(
    id="frontier",
    statement="smallest B with ε ≤ s for good: 334,131; 7,394,547; 1.08e10; 3.06e13; computed, 13 to 42 times less",
    source="ours (section 6.4.4)",
    hypotheses=("systems of section 6.5",),
    kind=Kind.OURS,
    check=check,
)
