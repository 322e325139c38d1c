"""The recursion of expected imbalances under exact IO_0."""

import numpy as np

from lbtheory.theory.theorem1 import constants
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, inapplicable, mean_at_most, together

ORDER = 190


def check(laboratory: Laboratory) -> Verdict:
    """``E[I(k) − q I(k−1)] ≤ (G−1)(s+ε)`` where the supply events held, averaged over a run, over independent runs."""
    parts = []
    for of in laboratory.systems[:2]:
        runs = laboratory.short_runs(of, "io")
        if not all((run.full[9:-1] & run.supplied[10:]).all() for run in runs):
            return inapplicable("the supply events failed after iteration 10")
        rises = [float(np.mean(run.imbalance[10:] - float(of.q) * run.imbalance[9:-1])) for run in runs]
        parts.append(mean_at_most(rises, (of.workers - 1) * (of.s + constants(of).epsilon), f"p = {of.p}"))
    return together(parts, f"{len(parts)} systems, {len(rises)} independent runs each")


CLAIM = Claim(
    id="recursion",
    statement="e_k = E I(k) ≤ q e_{k−1} + (G−1)(s + ε) + b_k,  b_k → 0",
    source="decode paper, EC.1.3",
    hypotheses=("exact IO_0", "supply events (b_k is what their failure adds; here they hold, so b_k = 0)"),
    kind=Kind.PROVED,
    check=check,
)
