"""Minimising ``I`` first breaks the separation that the proof uses: the comparator is needed."""

from lbtheory.theory.comparator import check_instance, enumerate_instances
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 425


def check(laboratory: Laboratory) -> Verdict:
    """The smallest case, a case with one optimum and one maximum, and families in which none can fail."""
    smallest = check_instance((5, 0, 3), (0, 1, 1), (1, 1, 2, 2), "I")
    unique = check_instance((0, 6, 10), (1, 1, 0), (1, 1, 5, 5), "I")
    none = [enumerate_instances(2, 4, key="I").failures, enumerate_instances(3, 3, key="I", total_free=1).failures]
    return together(
        [
            at_most([1.0, 1.0], [float(not smallest.holds), float(unique.unique_fails)], "cases that must fail"),
            at_most(none, 0, "families without a failure (G = 2; C = 1)"),
        ]
    )


CLAIM = Claim(
    id="separation-fails",
    statement="I-optimal assignments can break the separation inequality (G = 3, s = 2, C = 2); never at G = 2 or C = 1",
    source="ours (section 6.4.3)",
    hypotheses=("|R∖R(t)| ≥ C for every t",),
    kind=Kind.OURS,
    check=check,
)
