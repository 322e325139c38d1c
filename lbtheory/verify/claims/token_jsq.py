"""Token-JSQ sees workloads, so it is outside the benchmark class; at saturation its law is the same all the same."""

from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, mean_at_most, mean_equals, together

ORDER = 350


def check(laboratory: Laboratory) -> Verdict:
    """At saturation against the exact law; at 90 % load its imbalance is below half of Count-JSQ's (same streams)."""
    of = laboratory.published[0]
    exact = benchmark_law(of.p, of.law, of.slots).imbalance(of.workers)[0]
    count = laboratory.size(40, 200)
    saturated = laboratory.long_runs(of, "token-jsq", count, 600, 50)
    below = [laboratory.long_runs(of, policy, count, 600, 50, load=0.9) for policy in ("token-jsq", "jsq")]
    gain = [token - jsq / 2 for token, jsq in zip(*below, strict=True)]
    return together(
        [mean_equals(saturated, exact, "at saturation"), mean_at_most(gain, 0.0, "Ī − ½ Ī^JSQ at 90 % load, paired")],
        f"{count} independent runs of 600 iterations, at saturation and at 90 % load",
    )


CLAIM = Claim(
    id="token-jsq",
    statement="Token-JSQ is outside the class; at saturation Ī is the benchmark's still, below saturation it is far less",
    source="ours: every free slot is filled, and a request's worker depends on the sizes before it only, so sizes stay i.i.d.",
    hypotheses=("FCFS admission into every free slot, the worker chosen by workloads without the size of the request itself",),
    kind=Kind.OURS,
    check=check,
)
