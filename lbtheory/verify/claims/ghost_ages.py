"""Ghost ages dominate real ages, and their law is geometric."""

import numpy as np

from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, mean_equals, together

ORDER = 150


def check(laboratory: Laboratory) -> Verdict:
    """Pathwise for the ages; frequencies over independent slots for the tail."""
    ages, ghosts = [], []
    for run in laboratory.runs("io", "spread-lex", "jsq", "rr", "random", "p2c", "token-jsq"):
        busy = run.workloads > 0
        ages.append(run.ages[busy])
        ghosts.append(run.ghost_ages[busy])
    parts = [at_most(np.concatenate(ages), np.concatenate(ghosts), "busy slots and iterations")]
    count, steps = laboratory.size(20_000, 200_000), 24
    for p in (0.1, 0.4):
        coins = laboratory.rng("ghost-ages", str(p)).random((count, steps)) < p
        age = np.where(coins.any(axis=1), np.argmax(coins[:, ::-1], axis=1), steps)
        parts.append(at_most(age, steps, f"ghost ages after {steps} iterations"))
        parts += [mean_equals(age >= r, (1 - p) ** r, f"P(X ≥ {r}) = q^{r} at p = {p}") for r in (1, 3, 8)]
    return together(parts, f"{sum(map(len, ages)):,} busy slots and iterations; law of {2 * count:,} independent ghost ages")


CLAIM = Claim(
    id="ghost-ages",
    statement="X(k) = (1−ξ)(X(k−1)+1), X(0) = 0;  age ≤ X;  P(X(k) ≥ r) = q^r for r ≤ k, else 0",
    source="decode paper, EC.1.1",
    hypotheses=("every policy of the model",),
    kind=Kind.PROVED,
    check=check,
)
