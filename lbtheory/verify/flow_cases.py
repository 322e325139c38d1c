"""Random networks of cells and trajectories of flow routing on them, for the claims on global routing.

Histories are adversarial: shares that jump between vertices of the simplex before 0, workloads before 0 far from those at 0,
starts on faces, cells near capacity, zero mixed with long latencies. Latencies are multiples of `STEP`, so that they lie on
the mesh.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np

from lbtheory.core import LBTheoryError
from lbtheory.fluid import COSTS, Cell, Network, RateFamily, Source, make_rate
from lbtheory.fluid.dynamics import Signal, Trajectory, simulate
from lbtheory.fluid.equilibrium import equilibrium
from lbtheory.fluid.guarantee import Bounded, Gaps, Guarantee, Measured, Start, bounded, gaps, guarantee, measure, thresholds
from lbtheory.verify.laboratory import Laboratory

Array = np.ndarray

STEP = 0.05
"""Seconds of a step of the integrator."""
CLOSE, HALVINGS = 0.1, 3
"""Of a left side to its bound, relative, and how often steps are then halved."""
TOLERANCE = 1e-12
"""On the gaps of the equilibria."""
FAMILIES = ("mm1", "smooth_min", "hill", "softplus", "exponential")
SMOOTH = ("mm1", "smooth_min", "softplus")
"""Families whose three costs all meet Assumption 3 with finite slopes at 0."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FlowRun:
    """A trajectory beside what is guaranteed of it.

    Attributes
    ----------
    known : Guarantee
    eta : float
    trajectory : Trajectory
    measured : Measured
    """

    known: Guarantee
    eta: float
    trajectory: Trajectory
    measured: Measured

    @property
    def of(self) -> Gaps:
        """The equilibrium."""
        return self.known.gaps

    @property
    def start(self) -> Start:
        """Initial data."""
        return self.known.start

    @property
    def horizon(self) -> float:
        """``T``, seconds."""
        return self.measured.horizon

    def finer(self) -> "FlowRun":
        """The same run with half the step."""
        old = self.trajectory
        new = simulate(
            old.network, old.cost, t_end=old.end, eta=self.eta, step=old.step / 2, workloads=self.start.workloads,
            shares=self.start.routing, workload_history=old.workload_history, routing_history=old.routing_history,
        )  # fmt: skip
        return FlowRun(known=self.known, eta=self.eta, trajectory=new, measured=measure(self.of, new))

    def left_bounded(self, right: float) -> tuple[float, float]:
        """Left side of Theorem 1b and its discretisation error.

        Where it is within `CLOSE` of ``right``, both are of runs with smaller steps: the error is then the change from the run
        with twice the step. Elsewhere it is that of the integrals.
        """
        now, error = self, self.measured.error
        for _ in range(HALVINGS if self.measured.left_bounded > (1 - CLOSE) * right else 0):
            finer = now.finer()
            error = abs(finer.measured.left_bounded - now.measured.left_bounded)
            now = finer
        return now.measured.left_bounded, error

    def read_off(self) -> Bounded:
        """Constants of Theorem 1b with the largest workloads that were seen, history included."""
        past = self.start.before(self.of.network)[1].max(axis=0)
        return bounded(self.of, self.start, np.maximum(self.measured.largest, past))


def random_network(
    rng: np.random.Generator, *, families: Sequence[str] = ("mm1",), cells: int = 4, sources: int = 3, step: float = 0.0
) -> Network:
    """2 to ``cells`` cells, 1 to ``sources`` sources, random arcs; latencies are multiples of ``step`` where it is positive."""
    n, s = int(rng.integers(2, cells + 1)), int(rng.integers(1, sources + 1))
    rates = [_random_rate(rng, str(rng.choice(list(families)))) for _ in range(n)]
    allowed = rng.random((s, n)) < 0.75
    allowed[np.arange(s), rng.integers(0, n, s)] = True
    for j in np.nonzero(~allowed.any(axis=0))[0]:
        allowed[rng.integers(0, s), j] = True
    shares = allowed * rng.uniform(0.3, 1, (s, n))
    capacity = np.array([rate.capacity_limit for rate in rates])
    arrivals = (shares / shares.sum(axis=0) * capacity).sum(axis=1) * rng.uniform(0.3, 0.93)
    latency = rng.choice([0.2, 1.0, 3.0]) * rng.uniform(0, 1, (s, n)) ** 2
    latency[rng.random((s, n)) < 0.15] = 0.0
    if step:
        latency = np.round(latency / step) * step
    made = [Cell(name=f"c{j}", arrival_rate=0.0, replicas=int(rng.integers(1, 5)), rate=rate) for j, rate in enumerate(rates)]
    return Network(
        cells=tuple(made),
        sources=tuple(Source(name=f"s{i}", arrival_rate=float(rate)) for i, rate in enumerate(arrivals)),
        latency=np.vstack([np.where(np.eye(n) > 0, 0.0, np.inf), np.where(allowed, latency, np.inf)]),
    )


def _random_rate(rng: np.random.Generator, family: str) -> RateFamily:
    capacity = float(rng.uniform(0.5, 4))
    slots, half = float(rng.uniform(1, 6)), float(rng.uniform(0.2, 3))
    values: dict[str, dict[str, float]] = {
        "mm1": {"capacity": capacity, "half": half},
        "exponential": {"capacity": capacity, "scale": half},
        "smooth_min": {"slots": slots, "service": slots / capacity, "half": half},
        "hill": {"capacity": capacity, "half": half, "power": float(rng.uniform(0.5, 1))},
        "softplus": {"a": slots / capacity * float(rng.uniform(1.05, 2)), "b": 1 / capacity, "k": slots, "w": half},
    }
    return make_rate({"family": family, **values[family]})


def random_shares(rng: np.random.Generator, network: Network) -> Array:
    """Rows on the simplex, (s, n): inside it, on a face, or at a vertex."""
    made = np.zeros(network.allowed.shape)
    for i in range(len(made)):
        cells = np.nonzero(network.allowed[i])[0]
        used = cells if rng.random() < 0.5 else rng.choice(cells, size=int(rng.integers(1, len(cells) + 1)), replace=False)
        made[i, used] = rng.dirichlet(np.ones(len(used)))
    return made


def _histories(rng: np.random.Generator, network: Network, workloads: Array, shares: Array) -> tuple[Signal, Signal]:
    """Workloads (n,) and shares (arcs,) before 0: jumps at random multiples of `STEP`; the shares agree with those at 0."""
    longest = network.longest_latency
    pieces = max(1, min(6, round(longest / STEP)))
    times = np.unique(np.r_[-longest - STEP, -STEP * rng.integers(1, max(2, round(longest / STEP)), pieces - 1)])
    loads = [workloads * rng.choice([0.0, 1.0, 2.0]) + rng.uniform(0, 2, len(workloads)) for _ in times]
    flows = [random_shares(rng, network)[network.arcs] for _ in times]
    return (
        Signal.steps(np.r_[times, 0.0], [*loads, workloads]),
        Signal.steps(np.r_[times, 0.0], [*flows, shares[network.arcs]]),
    )


Stepsize = Callable[[Guarantee], float]


def random_run(
    rng: np.random.Generator,
    stepsize: Stepsize,
    *,
    cost: str | None = None,
    families: Sequence[str] = FAMILIES,
    horizon: float = 30.0,
    stress: bool = False,
    network: Network | None = None,
) -> FlowRun | None:
    """One trajectory on a random network; None where the stepsize does not exist (a theorem does not apply).

    Parameters
    ----------
    rng : Generator
    stepsize : callable
        Of the guarantee; may return NaN or infinity.
    cost, families, horizon
        Of the network and the run; a random cost by default.
    stress : bool
        Begin at up to three times ``N̄ + h``, where the tails of the costs are.
    network : Network, optional
        In place of a random one.
    """
    cost = cost or str(rng.choice(list(COSTS)))
    made = network or random_network(rng, families=families, step=STEP)
    try:
        found = equilibrium(made, cost, method="fast", tolerance=TOLERANCE)
        of = gaps(made, found)
    except LBTheoryError:  # within rounding of capacity: beyond the reach of doubles
        return None
    bars = thresholds(of)
    top = bars.workloads + bars.step
    scale = np.where(np.isfinite(top) & stress, 3 * top, 2 * of.workloads + 2)
    workloads = np.minimum(scale, 200.0) * rng.uniform(0, 1, len(scale))
    shares = random_shares(rng, made)
    past, before = _histories(rng, made, workloads, shares)
    known = guarantee(made, cost, workloads=workloads, routing=shares, past=past, found=found)
    eta = stepsize(known)
    if not (isfinite(eta) and eta > 0):
        return None
    run = simulate(
        made, cost, t_end=horizon, eta=eta, step=STEP, workloads=workloads, shares=shares, workload_history=past,
        routing_history=before,
    )  # fmt: skip
    return FlowRun(known=known, eta=eta, trajectory=run, measured=measure(known.gaps, run))


def runs(laboratory: Laboratory, name: str, stepsize: Stepsize, quick: int, full: int, **options: Any) -> list[FlowRun]:
    """``quick`` or ``full`` trajectories of a name; those to which a theorem does not apply are left out."""
    rng = laboratory.rng("flow", name)
    found = (random_run(rng, stepsize, **options) for _ in range(laboratory.size(quick, full)))
    return [run for run in found if run is not None]


@lru_cache(maxsize=8)
def _shared(scale: str, seed: int, stress: bool) -> list[FlowRun]:
    laboratory = Laboratory(scale=scale, seed=seed)
    name = "stress" if stress else "any stepsize"
    return runs(laboratory, name, _some_stepsize(laboratory, name), 20, 600, stress=stress)


def _some_stepsize(laboratory: Laboratory, name: str) -> Stepsize:
    """``η_0`` in half the cases, else between 0.01 and 3, far beyond what Theorem 1 needs."""
    rng = laboratory.rng("flow", name, "stepsizes")

    def stepsize(known: Guarantee) -> float:
        within = rng.random() < 0.5 and isfinite(known.first.eta0)
        scale = float(10 ** rng.uniform(-2, 0.5))
        return min(known.first.eta0, 20.0) if within else scale

    return stepsize


def shared_runs(laboratory: Laboratory, stress: bool = False) -> list[FlowRun]:
    """Trajectories that several claims look at, made once."""
    return _shared(laboratory.scale, laboratory.seed, stress)
