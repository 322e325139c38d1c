"""The lower bound on the tail of one worker's load."""

import math

import numpy as np

from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.theory.tilting import lower_bound_constants
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 240


def check(laboratory: Laboratory) -> Verdict:
    """Against the exact law of a load at the computed ``B₀``, over the whole range of ``z``; and the choice of ``z``."""
    left, right = [], []
    for of in laboratory.published[:2]:
        known = lower_bound_constants(of)
        slots = math.ceil(known.B0_computed)
        law = benchmark_law(of.p, of.law, slots)
        for z in np.linspace(0, known.lambda0 * law.deviation / 2, 15):
            right.append(float(law.survival(math.ceil(float(law.mean) + law.deviation * z) - 1)))
            left.append(_tail(z))
    least = [math.exp(-0.25) / 5 * workers**-0.25 for workers in range(2, 4000)]
    found = [_tail(math.sqrt(math.log(workers)) / 16) for workers in range(2, 4000)]
    return together(
        [at_most(left, np.array(right), "tails of the exact law"), at_most(least, np.array(found), "G with z = √(log G)/16")]
    )


def _tail(z: float) -> float:
    return math.exp(-32 * z * z - 4 * math.sqrt(2) * z) / 5


CLAIM = Claim(
    id="large-deviation",
    statement="P(L_g ≥ B E U + σ√B z) ≥ (1/5) e^{−32z² − 4√2 z};  at z = √(log G)/16 this is ≥ a₀ G^{−1/4}, a₀ = e^{−1/4}/5",
    source="decode paper, EC.1.5",
    hypotheses=("B ≥ B₀", "z ≤ λ₀σ√B/2, so that the tilt 2z/(σ√B) is at most λ₀"),
    kind=Kind.PROVED,
    check=check,
)
