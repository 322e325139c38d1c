"""The deterministic comparator: the ``(D, N_max, I)``-minimiser separates maximum loads from low ones."""

from lbtheory.theory.comparator import enumerate_instances
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most

ORDER = 120


def check(laboratory: Laboratory) -> Verdict:
    """Finite enumeration with exact integers."""
    sizes = [(2, 1), (2, 2), (2, 3), (2, 4), (3, 1), (3, 2), (3, 3)] + ([(3, 4), (4, 2)] if laboratory.scale == "full" else [])
    reports = [enumerate_instances(workers, s) for workers, s in sizes]
    largest = ", ".join(f"G={one.workers} s={one.s}" for one in reports)
    instances = sum(one.satisfying for one in reports)
    return at_most([one.failures for one in reports], 0, f"families ({largest}); {instances:,} instances meet the hypothesis")


CLAIM = Claim(
    id="comparator",
    statement="L_r = M, L_r − L_g > s  ⇒  Σ_{T_r} S − Σ_{T_g} S ≤ θ c_r − (θ+1) c_g for some integer 0 ≤ θ ≤ s",
    source="decode paper, EC.1.2",
    hypotheses=("(D, N_max, I)-lexicographic minimiser", "|R∖R(t)| ≥ C for every t"),
    kind=Kind.PROVED,
    check=check,
)
