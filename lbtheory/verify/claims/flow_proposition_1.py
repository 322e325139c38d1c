"""Proposition 1 and Lemmas 6 and 7 of the DLB paper: thresholds with ``2/m_j`` and ``m_j/(16Λ_j)``.

Above ``N̄_j``: ``f_j ≤ (2/m_j) D_j``; increments up to ``2vτ̄`` raise ``f_j`` by at most the fraction ``m_j/(16Λ_j)``; any
larger threshold does too. Lemma 6: ``f_j ≤ f_j(N̄_j) + (2/m_j) D_j`` everywhere. Lemma 7: ``|e_j(N) − e_j(N')| ≤ (D_j(N) +
D_j(N'))/(8Λ_j)`` within ``2vτ̄``. Checked by hand: with our ``m_j/(8Λ_j)`` the smaller of the two gaps alone is charged.
"""

import numpy as np

from lbtheory.core import LBTheoryError
from lbtheory.fluid.guarantee import Gaps, Thresholds, guarantee
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.flow_cases import FAMILIES, random_network
from lbtheory.verify.flow_lemmas import paper_thresholds
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 614
TWO, SIXTEEN = 2.0, 16.0


def sides(of: Gaps, bars: Thresholds, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Left and right of the four inequalities at random workloads, in units of the right."""
    out: list[tuple[float, float]] = []
    for factor in (1.0, 1.3, 4.0, 50.0):
        n = bars.workloads * factor
        near = n + bars.step * rng.uniform(0, 1, len(n))
        f, D = of.cost(n), of.workload_gap(n)
        share = of.spare / (SIXTEEN * of.offered)
        e, other = np.maximum(f - bars.above, 0), np.maximum(of.cost(near) - bars.above, 0)
        below = n * rng.uniform(0, 1, len(n))
        rows = (
            (f, TWO / of.spare * D),
            (of.cost(near), (1 + share) * f),
            (of.cost(below), bars.below + TWO / of.spare * of.workload_gap(below)),
            (other - e, TWO / SIXTEEN * (D + of.workload_gap(near)) / of.offered),
        )
        out += [(float(a / max(b, 1e-300)), 1.0) for left, right in rows for a, b in zip(left, right, strict=True) if b > 0]
    return out


def check(laboratory: Laboratory) -> Verdict:
    """Random networks of five families and all costs; at, just above and far above the thresholds, and below them."""
    rng, found, used = laboratory.rng("flow", "proposition 1"), [], 0
    for trial in range(laboratory.size(24, 400)):
        network = random_network(rng, families=FAMILIES)
        try:
            of = guarantee(network, ("rif", "latency", "gradient")[trial % 3]).gaps
        except LBTheoryError:
            continue
        bars = paper_thresholds(of)
        if not any(bars.why):
            found += sides(of, bars, rng)
            used += 1
    left, right = np.array(found).T
    return together([at_most(left, right, f"inequalities of {used} networks", slack=1e-9)])


CLAIM = Claim(
    id="flow-proposition-1",
    statement="N ≥ N̄_j: f_j ≤ (2/m_j) D_j and f_j(N + Δ) ≤ (1 + m_j/(16Λ_j)) f_j(N) for Δ ≤ 2vτ̄; and Lemmas 6, 7",
    source="DLB paper, Proposition 1, Lemmas 6 and 7",
    hypotheses=("Assumptions 1 to 3",),
    kind=Kind.PROVED,
    check=check,
)
