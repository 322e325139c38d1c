"""Order: a maximum-load worker gets no request larger than one that goes to a worker far below it."""

import numpy as np

from lbtheory.theory.comparator import enumerate_instances
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 125


def check(laboratory: Laboratory) -> Verdict:
    """Pathwise under SpreadLex, and in every enumerated instance."""
    left, right = [], []
    for run in laboratory.runs("spread-lex"):
        s, top = run.system.s, run.loads.max(axis=1)
        for k in range(1, run.iterations + 1):
            given = run.largest[k] > 0
            for r in np.flatnonzero((run.loads[k] == top[k]) & given):
                for g in np.flatnonzero((top[k] - run.loads[k] > s) & given):
                    left.append(run.largest[k, r])
                    right.append(run.smallest[k, g])
    reports = [enumerate_instances(2, 4), enumerate_instances(3, 3)]
    instances = sum(one.satisfying for one in reports)
    parts = [at_most([one.order_failures for one in reports], 0, f"families, {instances:,} instances")]
    if left:
        parts.append(at_most(left, np.array(right), "pairs of workers on trajectories of SpreadLex"))
    return together(parts)


CLAIM = Claim(
    id="order",
    statement="L_r = M, L_r − L_g > s  ⇒  max T_r ≤ min T_g",
    source="decode paper, EC.1.2",
    hypotheses=("(D, N_max, I)-lexicographic minimiser",),
    kind=Kind.PROVED,
    check=check,
)
