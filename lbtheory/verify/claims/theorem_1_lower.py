"""Theorem 1, lower part."""

import math
from dataclasses import replace

import numpy as np

from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.theory.frontier import fcfs_bracket
from lbtheory.theory.theorem1 import constants
from lbtheory.theory.tilting import lower_bound_constants
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 310


def check(laboratory: Laboratory) -> Verdict:
    """Against the exact benchmark law at the computed ``B₀``, and against its bracket at the explicit one."""
    left, right, far, bracket = [], [], [], []
    for of in laboratory.published:
        known = lower_bound_constants(of)
        law = benchmark_law(of.p, of.law, math.ceil(known.B0_computed)) if of.s <= 100 else None
        for workers in (2, 8, 64, 1024):
            if law is not None:
                at = replace(of, workers=workers, slots=law.slots)
                left.append(constants(at).jsq_lower)
                right.append(law.imbalance(workers)[0])
            at = replace(of, workers=workers, slots=math.ceil(known.B0))
            if math.log(workers) <= 64 * known.lambda0**2 * float(of.slot_variance) * at.slots:
                far.append(constants(at).jsq_lower)
                bracket.append(fcfs_bracket(at)[0])
    return together(
        [
            at_most(left, np.array(right), "exact laws at B₀ computed"),
            at_most(far, np.array(bracket), "brackets at B₀ explicit"),
        ]
    )


CLAIM = Claim(
    id="theorem-1-lower",
    statement="liminf Ī^JSQ ≥ (Gσ/1024) sqrt(B log G)",
    source="decode paper, Theorem 1",
    hypotheses=("B ≥ B₀", "log G ≤ 64 λ₀²σ²B", "supply"),
    kind=Kind.PROVED,
    check=check,
)
