"""Theorem 1, upper part."""

from lbtheory.theory.theorem1 import constants
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, mean_at_most, together

ORDER = 300


def check(laboratory: Laboratory) -> Verdict:
    """Imbalance of exact IO_0 over independent runs, iterations 31 to 60 of each."""
    parts = []
    for of in laboratory.systems[:2]:
        means = [float(run.imbalance[31:].mean()) for run in laboratory.short_runs(of, "io")]
        parts.append(mean_at_most(means, constants(of).io_upper, f"p = {of.p}, G = {of.workers}, B = {of.slots}"))
    return together(parts, f"{len(parts)} systems, {len(means)} independent runs each")


CLAIM = Claim(
    id="theorem-1-upper",
    statement="limsup Ī^IO ≤ (G−1)(s + ε)/p",
    source="decode paper, Theorem 1",
    hypotheses=("exact IO_0, any tie rule", "liminf A(k)/k > np/ρ", "F not constant"),
    kind=Kind.PROVED,
    check=check,
)
