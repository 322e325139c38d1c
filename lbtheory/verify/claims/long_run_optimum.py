"""Minimising today's imbalance exactly is not the best long-run policy: the smallest case."""

from lbtheory.decode.mdp import best_ties, build, optimum, system
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, close, together

ORDER = 445
WORKERS, SIZES, CAP = 3, (1, 2), 60
"""One slot a worker; the cap on workloads changes the average by less than 1e-8 at ``p ≥ 1/3``."""


def check(laboratory: Laboratory) -> Verdict:
    """Relative value iteration on the sorted workloads, every size in supply; IO_0 with its best tie rule."""
    third, more = (build(system(WORKERS, 1, p, SIZES, cap=CAP)) for p in (1 / 3, 0.4))
    values = [(optimum(third).average, 332 / 57), (best_ties(third, "io").average, 1664 / 285)]
    beyond = best_ties(more, "io").average - optimum(more).average
    return together([close(values, 1e-8, "average imbalances at p = 1/3"), at_most([beyond], 1e-8, "gap at p = 0.4")])


CLAIM = Claim(
    id="long-run-optimum",
    statement="G = 3, B = 1, S ∈ {1, 2}, p = 1/3: optimum 332/57, IO_0 with its best ties 1664/285; no gap at p = 0.4",
    source="ours (section 6.4.5)",
    hypotheses=("every size in supply", "one slot a worker"),
    kind=Kind.OURS,
    check=check,
)
