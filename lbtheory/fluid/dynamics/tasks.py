"""Tasks of experiments on trajectories."""

from typing import Any

import numpy as np

from lbtheory.core.tasks import task_version
from lbtheory.fluid.dynamics.diagnostics import oscillation
from lbtheory.fluid.dynamics.simulate import simulate
from lbtheory.fluid.network import Cell, Network, Source
from lbtheory.fluid.rates import MM1

Record = dict[str, Any]


def symmetric_pair(service: float, load: float, delay: float) -> Network:
    """One source before two equal M/M/1 cells of idle latency ``service``, both ``delay`` away, at a load of each."""
    cells = tuple(Cell(name=name, arrival_rate=0.0, rate=MM1(capacity=1 / service, half=1.0)) for name in ("one", "two"))
    latency = [[0.0, np.inf], [np.inf, 0.0], [delay, delay]]
    return Network(cells=cells, sources=(Source(name="root", arrival_rate=2 * load / service),), latency=np.array(latency))


@task_version(1)
def pair_oscillation(*, seed: int, service: float, load: float, delay: float, routing: str, gain: float | None) -> list[Record]:
    """Amplitude of ``N_1 − N_2`` under a routing of the latency cost, and the mean latency it costs; ``seed`` is not used.

    For flow routing ``η = gain · a/(λ b τ)`` with the slopes ``a = μ'``, ``b = f'`` at the equilibrium: locally stable for
    ``gain ≤ ½``, unstable above ``π/4``. The start is off the equilibrium by what arrives in one delay; flow routing runs for
    2000 delays or 800 idle latencies, in which what is stable dies out.
    """
    del seed
    net = symmetric_pair(service, load, delay)
    arrivals, even = float(net.arrivals[-1]), load / (1 - load)
    slope, rise = float(net.cells[0].rate.slope(even)), float(net.cells[0].rate.latency_slope(even))
    eta = None if gain is None else gain * slope / (arrivals * rise * delay)
    t_end = 400 * delay if gain is None else max(2000 * delay, 800 * service)
    off = min(arrivals * delay, even) / 2
    run = simulate(
        net,
        "latency",
        eta=eta,
        routing=routing,
        t_end=t_end,
        step=delay / (80 if gain is None else 1),
        workloads=[even + off, even - off],
    )
    late = run.times >= 0.75 * run.end
    found = oscillation(run.times[late], run.workloads[late, 0] - run.workloads[late, 1])
    in_cells = float(np.mean(run.workloads[late].sum(axis=1)))
    return [
        {
            "service": service,
            "load": load,
            "delay": delay,
            "routing": routing,
            "gain": gain,
            "even": even,
            "amplitude": found.amplitude,
            "period": found.period if found.amplitude > 1e-6 * even else None,
            "bound": 2 * arrivals * delay,
            "excess": in_cells / (2 * even) - 1,
        }
    ]
