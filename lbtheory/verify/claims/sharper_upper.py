"""The upper bound with fewer deficits counted."""

from lbtheory.theory.frontier import computed_upper, sharper_upper
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, mean_at_most, together

ORDER = 415


def check(laboratory: Laboratory) -> Verdict:
    """Imbalance of exact IO_0 over independent runs, iterations 31 to 60 of each."""
    parts = []
    for of in laboratory.systems[:2]:
        means = [float(run.imbalance[31:].mean()) for run in laboratory.short_runs(of, "io")]
        bound = min(sharper_upper(of), computed_upper(of))
        parts.append(mean_at_most(means, bound, f"p = {of.p}, G = {of.workers}, B = {of.slots}"))
    return together(parts, f"{len(parts)} systems, {len(means)} independent runs each")


CLAIM = Claim(
    id="sharper-upper",
    statement="limsup Ī^IO ≤ max{G−1, (G−2)/p} s + (G−1) E(u*−Bp)₊/p",
    source="ours (section 6.4.2): either all G−1 deficits are at most s, or at most G−2 are",
    hypotheses=("exact IO_0", "supply"),
    kind=Kind.OURS,
    check=check,
)
