"""The one-step inequality of exact IO_0."""

import numpy as np

from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, inapplicable

ORDER = 140


def check(laboratory: Laboratory) -> Verdict:
    """Pathwise at every iteration that meets the hypotheses."""
    left, right = [], []
    for run in laboratory.runs("io", "io:tie=smallest-total"):
        of = run.system
        met = run.full[:-1] & run.supplied[1:]
        noise = np.concatenate([run.noise(0), run.noise(of.s + 1)], axis=1)
        excess = np.maximum(noise.max(axis=1) - noise.min(axis=1) - of.slots * float(of.p), 0)
        left.append(run.imbalance[1:][met])
        right.append((float(of.q) * run.imbalance[:-1] + (of.workers - 1) * (of.s + excess))[met])
    if not sum(map(len, left)):
        return inapplicable("no iteration was full and supplied")
    return at_most(np.concatenate(left), np.concatenate(right), "iterations under exact IO_0, two tie rules", slack=1e-12)


CLAIM = Claim(
    id="one-step",
    statement="I_new ≤ q I_old + (G−1)[s + (u* − Bp)₊]",
    source="decode paper, EC.1.2",
    hypotheses=("exact IO_0", "full at k−1", "|R_k∖R_k(t)| ≥ C for every t"),
    kind=Kind.PROVED,
    check=check,
)
