"""Theorem 1b: bounded workloads, every stepsize.

At ``τ ≡ 0`` the drift is an identity and the ratio of the sides tends to 1: there the steps are refined, and the discretisation
error that remains is allowed.
Checked by hand: the bounded part of the proof of Theorem 1 with ``|F_j| ≤ M_j`` on ``[−τ̄, T]``; no other hypothesis enters.
"""

from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.flow_cases import FlowRun, shared_runs
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most

ORDER = 622


def right(run: FlowRun) -> float:
    """The bound with the largest workloads that were seen."""
    return run.read_off().bound(run.horizon, run.eta, run.eta)


def check(laboratory: Laboratory) -> Verdict:
    """Any stepsize, also far beyond ``η_0``; the exponential family too, whose gradient cost fails Assumption 3."""
    runs = shared_runs(laboratory)
    bounds = [right(run) for run in runs]
    left = [run.left_bounded(bound) for run, bound in zip(runs, bounds, strict=True)]
    sides = [value - error for value, error in left]
    return at_most(sides, bounds, "trajectories at any stepsize", slack=1e-6)


CLAIM = Claim(
    id="flow-theorem-1b",
    statement="N_j ≤ N^max_j  ⇒  (1/T)∫(Σ D_j + Σ λ_i S_i) ≤ K_1/(Tη) + G_1 η + K/T for every η",
    source="ours (Theorem 1b)",
    hypotheses=("Assumptions 1 and 2", "costs continuous and increasing", "workloads bounded by N^max ≥ N*"),
    kind=Kind.OURS,
    check=check,
)
