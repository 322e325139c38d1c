"""Tasks of the experiment on local stability and its limits. Each returns a list of flat records."""

from math import isfinite
from typing import Any

import numpy as np

from lbtheory.fluid import Cell, Network, Source, make_rate
from lbtheory.fluid.dynamics import oscillation, simulate
from lbtheory.fluid.equilibrium import equilibrium
from lbtheory.fluid.guarantee import guarantee
from lbtheory.fluid.stability import critical_stepsize, linearise

Record = dict[str, Any]

TOLERANCE = 1e-12
LEAST, KEPT = 0.5, 0.97
"""A limit cycle: at least half a request, of which a fifth of the run takes no more than 3 %."""


def twin(load: float, latency: float, capacity: float) -> Network:
    """One source and two equal M/M/1 cells (``h = 1``) at one latency; ``load`` is the utilisation of each at equilibrium."""
    rate = make_rate({"family": "mm1", "capacity": capacity, "half": 1.0})
    return Network(
        cells=tuple(Cell(name=name, arrival_rate=0.0, rate=rate) for name in "ab"),
        sources=(Source(name="s", arrival_rate=2 * load * capacity),),
        latency=np.array([[0, np.inf], [np.inf, 0], [latency, latency]]),
    )


def stepsizes(*, seed: int, cost: str, load: float, latency: float, capacity: float) -> list[Record]:
    """Critical, sufficient and proved stepsizes of the twin network at one load; ``seed`` is not used.

    A stepsize that no theorem gives is None: beyond half load a workload has no bound a priori, so ``eta_s3`` ends there.
    """
    del seed
    network = twin(load, latency, capacity)
    found = equilibrium(network, cost, method="fast", tolerance=TOLERANCE)
    critical = critical_stepsize(linearise(network, found))
    known = guarantee(network, cost, found=found)
    proved = {"eta0": known.first.eta0, "eta2": known.second.eta2, "eta_s3": known.third.eta_s3}
    return [
        {
            "cost": cost,
            "load": load,
            "critical": critical.eta,
            "frequency": critical.frequency,
            "sufficient": critical.sufficient,
            **{name: value if isfinite(value) else None for name, value in proved.items()},
        }
    ]


def bistability(
    *, seed: int, cost: str, load: float, latency: float, ratio: float, far: float, starts: list[float], horizon: float
) -> list[Record]:
    """Swing of ``N_1 − N_2`` over the last fifth of a run at ``η = ratio · η_c``, one record a start; ``seed`` is not used.

    The amplitude is half the range; it ``cycles`` if the fifth before had hardly a larger one. Start ``s`` is
    ``N(0) = (1 − s) N* + s (far, 0)``, ``x(0) = (½ + s/2, ½ − s/2)``, constant before 0. The capacity is 1.
    """
    del seed
    network = twin(load, latency, 1.0)
    found = equilibrium(network, cost, method="fast", tolerance=TOLERANCE)
    critical = critical_stepsize(linearise(network, found))
    records = []
    for start in starts:
        workloads = (1 - start) * found.workloads + start * np.array([far, 0.0])
        shares = np.vstack([np.eye(2), [0.5 + start / 2, 0.5 - start / 2]])
        run = simulate(
            network,
            cost,
            t_end=horizon,
            eta=ratio * critical.eta,
            step=latency / 10,
            workloads=workloads,
            shares=shares,
            every=4,
        )
        difference = run.workloads[:, 0] - run.workloads[:, 1]
        late, before = run.times >= 0.8 * horizon, (run.times >= 0.6 * horizon) & (run.times < 0.8 * horizon)
        swing, earlier = (oscillation(run.times[part], difference[part]) for part in (late, before))
        records.append(
            {
                "cost": cost,
                "ratio": ratio,
                "start": start,
                "amplitude": swing.amplitude,
                "cycles": swing.amplitude > LEAST and swing.amplitude > KEPT * earlier.amplitude,
                "period": swing.period if isfinite(swing.period) else None,
            }
        )
    return records
