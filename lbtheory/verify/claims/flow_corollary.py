"""Corollary: the gaps bound the regret in latency.

Checked by hand: convexity of ``p_j``, flow balance, a shift in time of at most ``τ_ij``; the change of the workload may be
kept.
"""

from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.flow_cases import FlowRun, shared_runs
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most

ORDER = 630


def right(run: FlowRun) -> float:
    """Measured gaps and the margin with ``N(T)``, the sharper of the two forms."""
    return run.measured.regret_upper


def check(laboratory: Laboratory) -> Verdict:
    """Every shared trajectory, at any stepsize."""
    runs = shared_runs(laboratory) + shared_runs(laboratory, True)
    return at_most([run.measured.regret for run in runs], [right(run) for run in runs], "trajectories", slack=1e-6)


CLAIM = Claim(
    id="flow-corollary",
    statement="regret ≤ (1/T)∫(Σ D_j + Σ λ_i S_i) + (1/T) Σ f*_j (N_j(0) − N_j(T) + Σ λ_i τ_ij)",
    source="ours (corollary of the drift identity)",
    hypotheses=("f ∘ μ⁻¹ increasing",),
    kind=Kind.COROLLARY,
    check=check,
)
