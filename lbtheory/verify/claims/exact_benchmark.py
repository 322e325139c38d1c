"""The exact benchmark law against direct draws."""

import numpy as np

from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.theory.frontier import fcfs_bracket
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, close, mean_equals, together

ORDER = 400
VALUES = (343.0412, 8968.363, 257860.717, 1160564.63)


def check(laboratory: Laboratory) -> Verdict:
    """The stated values; draws of ``G B`` independent slots; the normal bracket."""
    laws = [benchmark_law(of.p, of.law, of.slots) for of in laboratory.published]
    found = [law.imbalance(of.workers)[0] for law, of in zip(laws, laboratory.published, strict=True)]
    parts = [close(zip(found, VALUES, strict=True), 2e-7, "stated values")]
    count = laboratory.size(2000, 20_000)
    for of, exact in list(zip(laboratory.published, found, strict=True))[:2]:
        rng = laboratory.rng("exact-benchmark", of.s)
        draws = []
        for _ in range(count):
            load = (
                rng.integers(1, of.s + 1, (of.workers, of.slots)) + rng.geometric(float(of.p), (of.workers, of.slots)) - 1
            ).sum(1)
            draws.append(of.workers * load.max() - load.sum())
        parts.append(mean_equals(draws, exact, f"G = {of.workers}, B = {of.slots}"))
    brackets = [fcfs_bracket(of) for of in laboratory.published]
    parts.append(at_most([low for low, _ in brackets], np.array(found), "lower ends of the normal bracket"))
    parts.append(at_most(found, np.array([high for _, high in brackets]), "upper ends of the normal bracket"))
    return together(parts, f"{len(VALUES)} stated values, {count:,} draws of two systems, the normal bracket")


CLAIM = Claim(
    id="exact-benchmark",
    statement="Ī^JSQ = G(E max_g L_g − B E U), L = Σ_b (S_b + A_b), by convolution;  within G²E|U−EU|³/σ² of G σ√B e_G",
    source="ours (section 6.4.1)",
    hypotheses=("saturation",),
    kind=Kind.OURS,
    check=check,
)
