"""Errors in a demand burst: the DLB policies against random routing and MNLB."""

from lbtheory.cells import PAPER_POLICIES, Event
from lbtheory.verify.cell_trials import scenario_of, trial
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, mean_at_least, together

ORDER = 800
POLICIES = ("mnlb", "disc-rif", "flow-grad")
BURST = Event(kind="burst", start=20.0, end=80.0)


def check(laboratory: Laboratory) -> Verdict:
    """Error rate of random routing, and of MNLB, less that of a DLB policy, over random scenarios of six cells."""
    assert set(POLICIES) < set(PAPER_POLICIES)
    gaps: dict[tuple[str, str], list[float]] = {}
    for k in range(laboratory.size(20, 60)):
        found = trial(scenario_of(laboratory, "burst", k), POLICIES, events=(BURST,))
        for baseline in ("rand", "mnlb"):
            for name in POLICIES[1:]:
                gaps.setdefault((baseline, name), []).append(found[baseline].error_rate - found[name].error_rate)
    return together([mean_at_least(values, 0.0, f"{base} − {name}") for (base, name), values in gaps.items()])


CLAIM = Claim(
    id="burst-errors",
    statement="in a burst to 95 % utilisation, Disc-RIF and Flow-Grad fail fewer requests than random routing and than MNLB",
    source="DLB paper, section 5.4 and appendix B",
    hypotheses=("six cells of the random scenarios, 80 % before the burst", "calibrated latency models", "u_max = 0.9"),
    kind=Kind.EMPIRICAL,
    check=check,
)
