"""LEVEL beats BR-0, and both beat size-blind routing, at real sizes."""

from fractions import Fraction

from lbtheory.theory import uniform
from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.theory.theorem1 import system
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, mean_at_most, together

ORDER = 490
PLACES = ((20, 50, 8, 64), (100, 100, 8, 64))


def check(laboratory: Laboratory) -> Verdict:
    """Paired runs on common streams, saturated, 64 requests left waiting: LEVEL − BR-0 < 0, BR-0 − FCFS exact < 0."""
    parts, count = [], laboratory.size(20, 60)
    for a, s, workers, slots in PLACES:
        of = system(Fraction(1, a), uniform(s), workers, slots)
        exact = benchmark_law(of.p, of.law, slots).imbalance(workers)[0]
        level = laboratory.long_runs(of, "level:overtake=none", count, 40 * a, 20 * a)
        balance = laboratory.long_runs(of, "br0:overtake=none", count, 40 * a, 20 * a)
        gain = [one - other for one, other in zip(level, balance, strict=True)]
        parts.append(mean_at_most(gain, 0.0, f"LEVEL − BR-0, p = 1/{a}, s = {s}"))
        parts.append(mean_at_most(balance, exact, f"BR-0 against FCFS, p = 1/{a}, s = {s}"))
    return together(parts, f"{len(PLACES)} systems, {count} paired runs each")


CLAIM = Claim(
    id="levelling",
    statement="Ī^LEVEL < Ī^BR-0 < Ī^FCFS at G = 8, B = 64",
    source="ours (section 6.4.7)",
    hypotheses=("saturation, queue of 64", "no overtaking cap"),
    kind=Kind.EMPIRICAL,
    check=check,
)
