"""Theorem 1, ratio."""

import math
from dataclasses import replace

import numpy as np

from lbtheory.theory.frontier import fcfs_bracket, slots_for_epsilon
from lbtheory.theory.theorem1 import constants
from lbtheory.theory.tilting import lower_bound_constants
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, inapplicable

ORDER = 320


def check(laboratory: Laboratory) -> Verdict:
    """Where all three conditions hold: the law's lower bracket over the upper bound, against the stated ratio."""
    left, right = [], []
    for of in laboratory.published:
        known = lower_bound_constants(of)
        start = max(slots_for_epsilon(of, float(of.s)), math.ceil(known.B0))
        for factor in (1, 10, 1000):
            at = replace(of, slots=factor * start)
            if math.log(of.workers) > 64 * known.lambda0**2 * float(of.slot_variance) * at.slots:
                return inapplicable("log G is above 64 λ₀²σ²B")
            found = constants(at)
            left.append(found.ratio_lower)
            right.append(fcfs_bracket(at)[0] / found.io_upper)
    return at_most(left, np.array(right), "(p, F, G, B) where all conditions hold")


CLAIM = Claim(
    id="theorem-1-ratio",
    statement="liminf Ī^JSQ / limsup Ī^IO ≥ (pσ/(2048 s)) (G/(G−1)) sqrt(B log G)",
    source="decode paper, Theorem 1",
    hypotheses=("ε ≤ s", "B ≥ B₀", "log G ≤ 64 λ₀²σ²B", "supply"),
    kind=Kind.PROVED,
    check=check,
)
