"""Theorem 3: all arcs tie, workloads bounded.

Checked by hand: constants on all admissible costs move nothing, the projection onto a cone does not lengthen, and the window
of length ``2τ`` has norm at most ``2τ`` on L². It needs no smallness beyond ``γ < 1``.
"""

import numpy as np

from lbtheory.fluid import Network
from lbtheory.fluid.guarantee import Guarantee
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.flow_cases import SMOOTH, STEP, FlowRun, random_network, random_run
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, inapplicable

ORDER = 626
GAMMA = 0.95


def stepsize(known: Guarantee) -> float:
    """γ = 0.95."""
    return GAMMA * known.third.eta_s3


def right(run: FlowRun) -> float:
    """The bound of ``∫ΣD``."""
    return run.known.third.bound(run.eta)


def tied_network(rng: np.random.Generator) -> Network:
    """A complete graph, where every arc ties under RIF, with every workload bounded a priori."""
    while True:
        made = random_network(rng, families=SMOOTH, step=STEP)
        live = made.arrivals > 0
        if made.allowed[live].all() and (made.offered < made.capacities).all():
            return made


def check(laboratory: Laboratory) -> Verdict:
    """RIF on complete graphs, which ties everywhere, at γ = 0.95."""
    rng = laboratory.rng("flow", "theorem 3")
    made = (
        random_run(rng, stepsize, cost="rif", horizon=40.0, network=tied_network(rng)) for _ in range(laboratory.size(16, 300))
    )
    found = [run for run in made if run is not None]
    if not found:
        return inapplicable("no random network ties everywhere")
    return at_most(
        [run.measured.workload_gap for run in found], [right(run) for run in found], "trajectories at γ = 0.95", 1e-6
    )


CLAIM = Claim(
    id="flow-theorem-3",
    statement="γ = max_j 2L_j Σ λ_i η_i τ_i^max < 1  ⇒  (1−γ)∫Σ D_j ≤ V(0) + Φ(N(0)) + 2Σ A_i + history, so N(t) → N*",
    source="ours (Theorem 3)",
    hypotheses=("every admissible arc has the same cost at equilibrium", "bounded workloads", "γ < 1"),
    kind=Kind.OURS,
    check=check,
)
