"""Cells with equal hardware: there is little to gain on random routing."""

from lbtheory.cells import PAPER_POLICIES
from lbtheory.verify.cell_trials import scenario_of, trial
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, mean_at_least

ORDER = 802
DRASTIC = 0.1
"""A gain in mean latency from this share on is called drastic (ours; the paper gives no number)."""


def check(laboratory: Laboratory) -> Verdict:
    """Mean latency of the best of the paper's policies, chosen for each scenario, over that of random routing."""
    names = [name for name in PAPER_POLICIES if name != "rand"]
    best = []
    for k in range(laboratory.size(16, 60)):
        found = trial(scenario_of(laboratory, "equal cells", k, spread=0.0), names)
        best.append(min(found[name].mean for name in names) / found["rand"].mean)
    return mean_at_least(best, 1 - DRASTIC, "the best of seven policies / rand")


CLAIM = Claim(
    id="equal-cells",
    statement="with equal hardware at 80 % utilisation no policy of the paper is 10 % faster than random routing",
    source="DLB paper, section 5.4 and Figure 10",
    hypotheses=("six cells of equal token times, 80 %", "calibrated latency models", "drastic: 10 % of the mean latency"),
    kind=Kind.EMPIRICAL,
    check=check,
)
