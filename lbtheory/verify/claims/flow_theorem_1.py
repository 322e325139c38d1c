"""Theorem 1 of the DLB paper, with explicit constants.

Checked by hand before the numbers: each of the four pieces of the proof (bounded interior, tail interior, boundaries, end),
that the boundary of the bounded part needs 3τM and is given 4τM, and that ``K_4 = 0`` (see
`lbtheory.fluid.guarantee.thresholds`).
"""

from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.flow_cases import FlowRun, shared_runs
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most

ORDER = 620


def right(run: FlowRun) -> float:
    """The bound; NaN where ``η > η_0`` or a hypothesis fails."""
    return run.known.first.bound(run.horizon, run.eta, run.eta)


def check(laboratory: Laboratory) -> Verdict:
    """Random networks, adversarial histories, ordinary starts and starts in the tails of the costs; ``η ≤ η_0``."""
    runs = [run for run in shared_runs(laboratory) + shared_runs(laboratory, True) if run.eta <= run.known.first.eta0]
    left = [run.measured.left for run in runs]
    return at_most(left, [right(run) for run in runs], "trajectories with η ≤ η_0", slack=1e-6)


CLAIM = Claim(
    id="flow-theorem-1",
    statement="(1/T)∫(Σ D_j + 2Σ λ_i S_i) ≤ K_1/(Tη) + G_1 η + K/T for η ≤ η_0",
    source="DLB paper, Theorem 1; constants ours",
    hypotheses=("Assumptions 1 to 3", "0 < η_i ≤ η_0", "any measurable routing before 0"),
    kind=Kind.PROVED,
    check=check,
)
