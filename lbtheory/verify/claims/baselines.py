"""The four baselines have one long-run imbalance, and it is the exact benchmark's."""

from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, mean_equals, together

ORDER = 330
POLICIES = ("jsq", "rr", "random", "p2c")


def check(laboratory: Laboratory) -> Verdict:
    """Independent saturated runs of the compiled engine, G = 8, B = 64, p = 1/4, warm-up 50 iterations (``q^50 < 1e-6``)."""
    of = laboratory.published[0]
    exact = benchmark_law(of.p, of.law, of.slots).imbalance(of.workers)[0]
    count = laboratory.size(40, 200)
    parts = [mean_equals(laboratory.long_runs(of, policy, count, 600, 50), exact, policy) for policy in POLICIES]
    return together(parts, f"{len(POLICIES)} baselines, {count} independent runs of 600 iterations each")


CLAIM = Claim(
    id="baselines",
    statement="Ī of Count-JSQ, round robin, random and power of two = G(E max_g Σ_b U_gb − B E U)",
    source="decode paper, Proposition EC.1; the value is ours (exact benchmark)",
    hypotheses=("saturation",),
    kind=Kind.COROLLARY,
    check=check,
)
