"""Task of the experiment on the rate of convergence: time-average gaps against the horizon, beside what the theorems allow."""

from math import isfinite

import numpy as np

from lbtheory.core import generator
from lbtheory.fluid.dynamics import Trajectory, simulate
from lbtheory.fluid.equilibrium import equilibrium
from lbtheory.fluid.guarantee import Guarantee, Measured, bounded, guarantee, measure, measure_upto
from lbtheory.fluid.stability import critical_stepsize, linearise
from lbtheory.verify.flow_tasks import TOLERANCE, Record, twin

LARGEST = 4.0
"""Requests in a cell at a random start, at most."""
NARROW = 0.2
"""Share of the first cell at a random start, at most: half would be the equilibrium."""


def average_gaps(
    *, seed: int, cost: str, load: float, latency: float, capacity: float, steps: int, critical: list[float],
    proved: list[str], horizons: list[float],
) -> list[Record]:  # fmt: skip
    """``(1/T)∫(ΣD + 2Σλ S)`` of flow routing on the twin network from a start drawn with ``seed``.

    One record a stepsize and horizon: fixed stepsizes ``critical`` times the critical one and those ``proved`` (``eta0``,
    ``eta2``), and the schedule ``η = T^{−1/2}``. ``theorem1``, ``theorem1b`` and ``theorem2`` are right sides, None where the
    stepsize is too large; that of Theorem 1b, with the largest workloads seen, bounds ``ΣD + Σλ S``. The integrator takes
    ``steps`` steps in one latency.
    """
    network = twin(load, latency, capacity)
    found = equilibrium(network, cost, method="fast", tolerance=TOLERANCE)
    rng = generator(seed, "convergence")
    workloads, share = rng.uniform(0, LARGEST, 2), float(rng.uniform(0, NARROW))
    shares = np.vstack([np.eye(2), [share, 1 - share]])
    known = guarantee(network, cost, workloads=workloads, routing=[[0, 0], [0, 0], shares[2]], found=found)
    edge = critical_stepsize(linearise(network, found)).eta
    fixed = {f"{ratio:g} critical": ratio * edge for ratio in critical}
    fixed |= {name: {"eta0": known.first.eta0, "eta2": known.second.eta2}[name] for name in proved}
    step = latency / steps

    def run(eta: float, end: float) -> Trajectory:
        return simulate(network, cost, t_end=end, eta=eta, step=step, workloads=workloads, shares=shares, every=1)

    records = []
    for name, eta in fixed.items():
        path = run(eta, max(horizons))
        records += [_record(known, seen, name, eta) for seen in measure_upto(known.gaps, path, horizons)]
    for horizon in horizons:
        eta = horizon**-0.5
        records.append(_record(known, measure(known.gaps, run(eta, horizon)), "schedule", eta))
    return records


def _record(known: Guarantee, seen: Measured, name: str, eta: float) -> Record:
    first, second = known.first.bound(seen.horizon, eta, eta), known.second.bound(eta) / seen.horizon
    within = bounded(known.gaps, known.start, seen.largest).bound(seen.horizon, eta, eta)
    return {
        "cost": known.gaps.equilibrium.cost,
        "stepsize": name,
        "eta": eta,
        "horizon": seen.horizon,
        "left": seen.left,
        "error": seen.error,
        "theorem1": first if isfinite(first) else None,
        "theorem1b": within,
        "theorem2": second if isfinite(second) else None,
    }
