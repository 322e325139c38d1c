"""Drift identity of the Lyapunov function ``V + Φ``.

Checked by hand: ``Φ'`` by flow balance at the equilibrium, ``V'`` by the projection's normal part; the paper's Lemma 4
follows, see `flow_lemma_4`.
"""

from lbtheory.fluid.dynamics import Lyapunov, lyapunov, simulate
from lbtheory.fluid.guarantee import guarantee
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.flow_cases import SMOOTH, STEP, random_network, random_shares
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, close, together

ORDER = 610
TOLERANCE = 2e-3


def drifts(laboratory: Laboratory, halvings: int) -> list[Lyapunov]:
    """Both sides on random networks with constant histories, with steps of ``STEP/2^halvings``."""
    rng, found = laboratory.rng("flow", "drift"), []
    for _ in range(laboratory.size(5, 40)):
        made = random_network(rng, families=SMOOTH, step=STEP)
        cost = str(rng.choice(["rif", "latency", "gradient"]))
        start, shares = rng.uniform(0, 4, len(made.cells)), random_shares(rng, made)
        eta = float(10 ** rng.uniform(-1.5, 0))
        known = guarantee(made, cost)
        run = simulate(made, cost, t_end=4.0, eta=eta, step=STEP / 2**halvings, workloads=start, shares=shares, mesh="even")
        found.append(lyapunov(run, known.gaps.equilibrium))
    return found


def check(laboratory: Laboratory) -> Verdict:
    """The change of ``V + Φ`` against the integral of the right side; the error falls with the step; slack is not negative."""
    coarse, fine = drifts(laboratory, 3), drifts(laboratory, 5)
    errors = [sum(abs(one.residual) for one in part) for part in (coarse, fine)]
    return together(
        [
            close([(one.change, one.change - one.residual) for one in fine], TOLERANCE, "trajectories: change of V + Φ"),
            at_most([errors[1]], 0.5 * errors[0], "sum of errors at a quarter of the step against half the error"),
            at_most([-one.least_slack for one in fine], 1e-9, "least slacks of the projection"),
        ]
    )


CLAIM = Claim(
    id="flow-drift",
    statement="d/dt(V + Φ) = −Σ D_j − Σ λ_i S_i + Σ λ_i Γ_ij − Σ slack_i, slack_i ≥ 0",
    source="ours (in place of Lemma 4 of the DLB paper)",
    hypotheses=("flow routing", "Assumptions 1 and 2"),
    kind=Kind.OURS,
    check=check,
)
