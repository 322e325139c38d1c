"""Which growth of ``G`` with ``B`` keeps the upper bound's error term below ``s``."""

import math
from fractions import Fraction

import numpy as np

from lbtheory.theory import uniform
from lbtheory.theory.theorem1 import constants, second_moment, system
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 210


def check(laboratory: Laboratory) -> Verdict:
    """``ε`` at many ``(G, B)``, and along ``G = s e^{κB/2}/sqrt(32 B p q μ₂)``."""
    left, right, kept, limit = [], [], [], []
    for p, s in ((Fraction(1, 4), 4), (Fraction(1, 10), 10), (Fraction(1, 2), 30)):
        variance = float(p * (1 - p) * second_moment(p, s))
        for slots in (10, 1000, 10**5, 3 * 10**5, 10**7):
            for workers in (2, 32, 4096):
                of = system(p, uniform(s), workers, slots)
                known = constants(of)
                left.append(known.epsilon**2)
                right.append(32 * of.n * workers * variance * math.exp(-known.kappa * slots))
            most = s * math.exp(min(known.kappa * slots / 2, 600)) / math.sqrt(32 * slots * variance)
            if 2 <= most < 1e18:
                kept.append(constants(system(p, uniform(s), int(most), slots)).epsilon)
                limit.append(float(s))
    return together(
        [
            at_most(left, np.array(right), "(p, s, G, B)", slack=1e-12),
            at_most(kept, np.array(limit), "B with G at the limit", slack=1e-12),
        ]
    )


CLAIM = Claim(
    id="scaling-regime",
    statement="ε² ≤ 32 n G p q μ₂ e^{−κB};  ε ≤ s whenever G ≤ s e^{κB/2}/sqrt(32 B p q μ₂)",
    source="decode paper, EC.1.6",
    hypotheses=("0 < p < 1",),
    kind=Kind.PROVED,
    check=check,
)
