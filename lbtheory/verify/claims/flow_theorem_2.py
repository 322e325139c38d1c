"""Theorem 2: for small stepsizes the integral of the gaps is bounded for ever.

Checked by hand: the speed bound with and without mass on dear arcs, the decay of that mass (a dear arc without mass stays out
while the costs seen are within ``δ^min/4``), and that the history enters through ``H`` alone.
"""

from lbtheory.fluid.guarantee import Guarantee
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.flow_cases import SMOOTH, FlowRun, runs
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most

ORDER = 624


def stepsize(known: Guarantee) -> float:
    """``η_2`` itself, where it is finite."""
    return known.second.eta2


def right(run: FlowRun) -> float:
    """The bound of the integral."""
    return run.known.second.bound(run.eta)


def check(laboratory: Laboratory) -> Verdict:
    """Random networks at ``η_2``, half of them started in the tails of the costs."""
    options = {"families": SMOOTH, "horizon": 40.0}
    found = runs(laboratory, "theorem 2", stepsize, 10, 300, **options)
    found += runs(laboratory, "theorem 2, tails", stepsize, 8, 300, stress=True, **options)
    left = [run.measured.left * run.horizon for run in found]
    return at_most(left, [right(run) for run in found], "trajectories at η = η_2", slack=1e-6)


CLAIM = Claim(
    id="flow-theorem-2",
    statement="η ≤ η_2  ⇒  ∫_0^T(Σ D_j + 2Σ λ_i S_i) ≤ Σ λ_i|x_i(0) − x*_i|²/η_i + K_2 for every T, so N(t) → N*",
    source="ours (Theorem 2)",
    hypotheses=("Assumptions 1 to 3", "(f − f*)/(μ − μ*) bounded on [0, N̂]", "0 < η_i ≤ η_2"),
    kind=Kind.OURS,
    check=check,
)
