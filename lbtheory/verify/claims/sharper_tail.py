"""A sharper tail of one worker's load, and the lower bound that it gives."""

import math
from dataclasses import replace

import numpy as np

from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.theory.theorem1 import sharper, sharper_tail
from lbtheory.theory.tilting import lower_bound_constants
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 405


def check(laboratory: Laboratory) -> Verdict:
    """Against the exact law at the computed ``B₀``: tails over the whole range of ``z``, and expected maxima."""
    tails, laws, left, right = [], [], [], []
    for of in laboratory.published[:3]:
        known = lower_bound_constants(of)
        law = benchmark_law(of.p, of.law, math.ceil(known.B0_computed))
        widest = known.lambda0 * law.deviation / 2
        for z in np.linspace(0, widest, 15):
            laws.append(float(law.survival(math.ceil(float(law.mean) + law.deviation * z) - 1)))
            tails.append(float(sharper_tail(z)))
        for workers in (2, 8, 64, 1024):
            found = sharper(replace(of, workers=workers, slots=law.slots))
            if found.jsq_level <= widest:
                left.append(found.jsq_lower_level)
                right.append(law.imbalance(workers)[0])
    return together(
        [
            at_most(tails, np.array(laws), "tails of the exact law"),
            at_most(left, np.array(right), "imbalances of the exact law"),
        ]
    )


CLAIM = Claim(
    id="sharper-tail",
    statement="P(L_g ≥ B E U + σ√B z) ≥ (1/5) e^{−2z² − 4√2 z};  Ī^JSQ ≥ Gσ√B max_z z[1 − (1 − a(z))^{G−1}]",
    source="ours: the tilt with B K'(λ) = σ√B z in the paper's proof (EC.1.5)",
    hypotheses=("B ≥ B₀", "z ≤ λ₀σ√B/2"),
    kind=Kind.OURS,
    check=check,
)
