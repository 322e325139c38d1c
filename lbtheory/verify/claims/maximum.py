"""From one worker's tail to the maximum of all."""

import math

import numpy as np

from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.theory.theorem1 import H
from lbtheory.theory.tilting import lower_bound_constants
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 250


def check(laboratory: Laboratory) -> Verdict:
    """The chain for every ``G`` up to 4,000; the expected maximum from the exact law."""
    workers = np.arange(2, 4001)
    tail = math.exp(-0.25) / 5 * workers**-0.25
    chain = -np.expm1((workers - 1) * np.log1p(-tail))
    middle = -np.expm1(-tail * (workers - 1))
    left, right = [], []
    for of in laboratory.published[:2]:
        slots = math.ceil(lower_bound_constants(of).B0_computed)
        law = benchmark_law(of.p, of.law, slots)
        for number in (2, 8, 64, 1024):
            left.append(H / 16 * math.sqrt(float(of.slot_variance) * slots * math.log(number)))
            right.append(law.imbalance(number)[0] / number)
    return together(
        [
            at_most(middle, chain, "G: 1 − e^{−x} ≤ 1 − (1−a₀G^{−1/4})^{G−1}"),
            at_most(np.full(len(middle), H), middle, "G: h ≤ 1 − exp(−a₀(G−1)G^{−1/4})", slack=1e-15),
            at_most(left, np.array(right), "expected maxima of the exact law"),
        ]
    )


CLAIM = Claim(
    id="maximum",
    statement="P(M₋₁ ≥ Bμ + t) ≥ 1 − (1 − a₀G^{−1/4})^{G−1} ≥ h = 0.12276…;  E max L − Bμ ≥ h t,  t = (σ/16) sqrt(B log G)",
    source="decode paper, EC.1.5",
    hypotheses=("G ≥ 2", "B ≥ B₀", "log G ≤ 64 λ₀²σ²B"),
    kind=Kind.PROVED,
    check=check,
)
