"""Lower bound: no routing, flow or not, has a regret below the floor.

Checked by hand: the tangent of ``p_j`` at ``μ*_j``, flow balance, and ``Σ λ_i S_i ≥ 0``; the change of the workload may be
kept.
"""

import numpy as np

from lbtheory.fluid.dynamics import simulate
from lbtheory.fluid.guarantee import guarantee, measure
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.flow_cases import STEP, FlowRun, random_network, random_shares, shared_runs
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most

ORDER = 632


def left(run: FlowRun) -> float:
    """The floor."""
    return run.measured.regret_lower


def fixed_runs(laboratory: Laboratory) -> list[FlowRun]:
    """Constant shares near the optimum of the gradient cost, from the optimal workloads: where the floor is nearly reached."""
    rng, found = laboratory.rng("flow", "lower bound"), []
    for _ in range(laboratory.size(10, 100)):
        made = random_network(rng, step=STEP)
        known = guarantee(made, "gradient")
        star = known.gaps.equilibrium
        weight = rng.choice([0.0, 0.02])
        other = random_shares(rng, made)
        shares = np.where(made.arrivals[:, None] > 0, (1 - weight) * star.routing + weight * other, other)
        shares /= shares.sum(axis=1, keepdims=True)
        known = guarantee(made, "gradient", workloads=star.workloads, routing=shares, found=star)
        run = simulate(made, "gradient", t_end=30.0, routing="fixed", step=STEP, workloads=star.workloads, shares=shares)
        found.append(FlowRun(known=known, eta=np.nan, trajectory=run, measured=measure(known.gaps, run)))
    return found


def check(laboratory: Laboratory) -> Verdict:
    """Flow routing at any stepsize, and constant shares near the optimum."""
    runs = shared_runs(laboratory) + shared_runs(laboratory, True) + fixed_runs(laboratory)
    scale = np.array([abs(run.of.equilibrium.objective) for run in runs])
    floors, regrets = np.array([left(run) for run in runs]), np.array([run.measured.regret for run in runs])
    return at_most(floors / scale, regrets / scale + 1e-9, "trajectories, in units of the optimum", slack=1e-6)


CLAIM = Claim(
    id="flow-lower-bound",
    statement="regret ≥ −(1/T) Σ f*_j (N_j(T) − N_j(0) + Σ λ_i τ_ij) for every measurable routing",
    source="ours (the uniform lower bound that the DLB paper cites, made explicit)",
    hypotheses=("f ∘ μ⁻¹ increasing; gradient cost: μ concave",),
    kind=Kind.OURS,
    check=check,
)
