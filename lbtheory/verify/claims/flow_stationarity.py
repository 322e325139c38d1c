"""Stationary points are equilibria: the lemma of appendix C.1 of the DLB paper, with its hypothesis mended.

The paper asks for constancy on ``[t − τ_ij, t]`` for every arc. Where every latency is 0 that is one instant: the hypothesis is
empty and every state would be an equilibrium. What is needed is an interval of positive length, ``[t − τ̄ − ε, t]``.
"""

import numpy as np

from lbtheory.fluid import Cell, Network, Source, make_rate
from lbtheory.fluid.dynamics import simulate
from lbtheory.fluid.equilibrium import equilibrium
from lbtheory.fluid.guarantee import Gaps, gaps, guarantee
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.flow_cases import SMOOTH, STEP, random_network
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 608


def defect(of: Gaps, workloads: np.ndarray, routing: np.ndarray) -> float:
    """How far ``(N, x)`` is from Definition 1: flow balance over ``Λ``, and flow times excess cost over what is paid."""
    flow = of.arrivals[:, None] * routing * of.arcs
    balance = np.abs(flow.sum(axis=0) - of.rate(workloads)).max() / of.network.total
    costs = np.where(of.arcs, of.cost(workloads) + of.constants, np.inf)
    paid = np.where(of.arcs, costs, 0.0)
    least = np.where(of.arcs.any(axis=1), costs.min(axis=1), 0.0)
    return max(float(balance), float((flow * (paid - least[:, None])).sum() / (flow * paid).sum()))


def moved(of: Gaps, cost: str, workloads: np.ndarray, routing: np.ndarray, eta: float) -> float:
    """Largest change of a workload or share within ``τ̄ + 1`` seconds, from a constant history."""
    network = of.network
    filled = np.where(network.arrivals[:, None] > 0, routing, network.allowed / network.allowed.sum(axis=1, keepdims=True))
    horizon = network.longest_latency + 1
    run = simulate(network, cost, t_end=horizon, eta=eta, step=STEP / 2, workloads=workloads, shares=filled)
    return max(float(np.abs(run.workloads - workloads).max()), float(np.abs(run.routing - filled).max()))


def check(laboratory: Laboratory) -> Verdict:
    """States that do not move are equilibria, others move; and the counterexample to the hypothesis as printed."""
    rng, still, defects, motion = laboratory.rng("flow", "stationarity"), [], [], []
    for trial in range(laboratory.size(8, 80)):
        network, cost = random_network(rng, families=SMOOTH, step=STEP), ("rif", "latency", "gradient")[trial % 3]
        of = guarantee(network, cost).gaps
        star, routing = of.workloads, of.equilibrium.routing
        still.append(moved(of, cost, star, routing, 0.1))
        defects.append(defect(of, star, routing))
        motion.append(moved(of, cost, star * rng.uniform(1.2, 2, len(star)) + 0.1, routing, 0.1))
    rate = make_rate({"family": "mm1", "capacity": 1.0, "half": 1.0})
    cells = (Cell(name="a", arrival_rate=0.0, rate=rate), Cell(name="b", arrival_rate=0.0, rate=rate))
    latency = np.array([[0, np.inf], [np.inf, 0], [0, 0]])
    instant = Network(cells=cells, sources=(Source(name="s", arrival_rate=1.0),), latency=latency)
    of = gaps(instant, equilibrium(instant, "latency", method="fast", tolerance=1e-12))
    anything = np.array([5.0, 0.0]), np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    return together(
        [
            at_most(still, 1e-6, "equilibria: they stay where they are"),
            at_most(defects, 1e-6, "states that stay: flow balance and complementary slackness"),
            at_most([1e-3] * len(motion), motion, "states that are no equilibria: they move within τ̄ + 1 s"),
            at_most(
                [0.1], [defect(of, *anything)], "state without delays: the printed hypothesis holds, and it is no equilibrium"
            ),
        ],
        f"{len(still)} networks: equilibria stay, other states move; the printed hypothesis without delays",
    )


CLAIM = Claim(
    id="flow-stationarity",
    statement="(N, x) constant on [t − τ̄ − ε, t], ε > 0  ⇒  (N, x) is an equilibrium (ε = 0 is not enough)",
    source="DLB paper, lemma of appendix C.1, hypothesis mended",
    hypotheses=("Assumptions 1 and 3", "constancy on an interval longer than τ̄"),
    kind=Kind.PROVED,
    check=check,
)
