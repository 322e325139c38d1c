"""A crude bound on the imbalance that integrates."""

import numpy as np

from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, mean_at_most, together

ORDER = 180


def check(laboratory: Laboratory) -> Verdict:
    """Pathwise; the second moment over independent runs."""
    left, right = [], []
    for run in laboratory.runs("io", "spread-lex", "jsq", "random", "token-jsq"):
        of = run.system
        left.append(run.imbalance)
        right.append((of.workers - 1) * of.slots * (of.s + run.ghost_ages.max(axis=(1, 2))))
    parts = [at_most(np.concatenate(left), np.concatenate(right), "iterations")]
    for of in laboratory.systems[:2]:
        bound = ((of.workers - 1) * of.slots) ** 2 * float(2 * of.s**2 + 4 * of.n / of.p**2)
        for policy in ("io", "jsq"):
            squares = [float(run.imbalance[-1]) ** 2 for run in laboratory.short_runs(of, policy)]
            parts.append(mean_at_most(squares, bound, f"E I², {policy}"))
    return together(parts, f"{sum(map(len, left)):,} iterations; {len(parts) - 1} moments over {len(squares)} independent runs")


CLAIM = Claim(
    id="second-moment",
    statement="I ≤ (G−1) B (s + X^max_k);  sup_k E I² ≤ [(G−1)B]² (2s² + 4n/p²)",
    source="decode paper, EC.1.1",
    hypotheses=("every policy of the model",),
    kind=Kind.PROVED,
    check=check,
)
