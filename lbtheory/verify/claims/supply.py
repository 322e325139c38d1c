"""Supply: what was admitted is bounded by ghost successes, so enough requests of other sizes wait."""

import numpy as np

from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 110
POLICIES = ("io", "spread-lex", "jsq", "rr", "random", "p2c", "token-jsq", "stale-counts", "history-adaptive")


def check(laboratory: Laboratory) -> Verdict:
    """Pathwise at every iteration, for every size ``t``; ``N_t(m)`` counts requests of size other than ``t``."""
    admitted, clock, others, waiting = [], [], [], []
    for run in laboratory.runs(*POLICIES):
        n = run.system.n
        successes = np.cumsum(run.coins.sum(axis=(1, 2)))
        admitted.append(run.admitted_total[:-1])
        clock.append(n + successes[:-1])
        for t in run.system.law.sizes:
            among = np.r_[0, np.cumsum(run.prompts != t)][run.arrivals[1:]]
            others.append(among - n - successes[:-1])
            waiting.append(run.waiting[1:].sum(axis=1) - run.waiting[1:, t])
    return together(
        [
            at_most(np.concatenate(admitted), np.concatenate(clock), "iterations"),
            at_most(np.concatenate(others), np.concatenate(waiting), "iterations and sizes"),
        ]
    )


CLAIM = Claim(
    id="supply",
    statement="previous admissions ≤ n + W_{k−1};  |R_k∖R_k(t)| ≥ N_t(A(k)) − n − W_{k−1}, N_t(m) = #{i ≤ m: S_i ≠ t}",
    source="decode paper, EC.1.1",
    hypotheses=("every policy of the model", "ghost coins also in empty slots"),
    kind=Kind.PROVED,
    check=check,
)
