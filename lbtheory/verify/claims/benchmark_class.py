"""Any rule of the benchmark class: stale counts, and a rule that adapts to its own history."""

from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, mean_equals, together

ORDER = 340


def check(laboratory: Laboratory) -> Verdict:
    """``E I(60)`` over independent runs on ghost coins."""
    of = laboratory.systems[0]
    exact = benchmark_law(of.p, of.law, of.slots).imbalance(of.workers)[0]
    count = laboratory.size(300, 3000)
    parts = [
        mean_equals([float(run.imbalance[-1]) for run in laboratory.short_runs(of, policy, count)], exact, policy)
        for policy in ("stale-counts", "history-adaptive")
    ]
    return together(parts, f"two rules, {count} independent runs")


CLAIM = Claim(
    id="benchmark-class",
    statement="Ī = G(E max_g Σ_b U_gb − B E U) for FCFS admission with any destination rule that sees no sizes",
    source="decode paper, Definition EC.1 and Proposition EC.1",
    hypotheses=("supply events", "the rule may use counts, however old, its own history and a seed, but no size or workload"),
    kind=Kind.PROVED,
    check=check,
)
