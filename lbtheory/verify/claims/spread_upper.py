"""SpreadLex: the range contracts, so its bound loses the factor ``1/p``."""

import numpy as np

from lbtheory.theory.frontier import spread_upper
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, inapplicable, mean_at_most, together

ORDER = 420


def check(laboratory: Laboratory) -> Verdict:
    """The recursion pathwise where its hypotheses hold; the bound over independent runs."""
    left, right, parts = [], [], []
    for run in laboratory.runs("spread-lex"):
        of = run.system
        met = run.full[:-1] & run.supplied[1:]
        noise = np.concatenate([run.noise(0), run.noise(of.s + 1)], axis=1)
        excess = np.maximum(noise.max(axis=1) - noise.min(axis=1) - of.slots * float(of.p), 0)
        left.append(run.spread[1:][met])
        right.append(np.maximum(of.s, float(of.q) * run.spread[:-1] + excess)[met])
    if not sum(map(len, left)):
        return inapplicable("no iteration was full and supplied")
    for of in laboratory.systems[:2]:
        means = [float(run.imbalance[31:].mean()) for run in laboratory.short_runs(of, "spread-lex")]
        parts.append(mean_at_most(means, spread_upper(of), f"p = {of.p}, G = {of.workers}, B = {of.slots}"))
    steps = at_most(np.concatenate(left), np.concatenate(right), "iterations", slack=1e-12)
    return together([steps, *parts], f"{steps.tried}; {len(parts)} systems, {len(means)} independent runs each")


CLAIM = Claim(
    id="spread-upper",
    statement="D' ≤ max{s, qD + (u*−Bp)₊};  limsup Ī^SpreadLex ≤ (G−1)(s + E(u*−Bp)₊/p)",
    source="ours (section 6.4.3)",
    hypotheses=("SpreadLex", "full at k−1", "|R_k∖R_k(t)| ≥ C for every t"),
    kind=Kind.OURS,
    check=check,
)
