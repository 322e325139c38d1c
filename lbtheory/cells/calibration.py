"""Oracle models: a cell in a closed loop of ``N`` requests gives ``ℓ(N) = N/throughput`` (ours).

Each finished request is replaced at once, so ``N`` is held; a softplus is fitted to the latencies at several ``N/R``. This is
the curve that the fluid model means by ``ℓ_j``.
"""

from dataclasses import dataclass, replace

import numpy as np

from lbtheory.cells.engine import layout_of, run_kernels
from lbtheory.cells.kernels import layout
from lbtheory.cells.parameters import Parameters
from lbtheory.cells.policies import make_schedule
from lbtheory.cells.scenario import Scenario
from lbtheory.cells.stream import CellStream
from lbtheory.core import ParameterError, generator, readonly
from lbtheory.estimate import LatencyFit, fit_softplus
from lbtheory.fluid.rates import Softplus

Array = np.ndarray

LEVELS = (1, 3, 6, 9, 12, 16, 24)
"""``N/R`` (ours)."""
COMPLETIONS = 4000
"""Counted completions a level, after half as many that are not; the throughput then has a relative error of about 1 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Latency of a cell by requests per replica, and the model fitted to it.

    Attributes
    ----------
    loads : float array (m,)
        ``N/R``.
    latencies : float array (m,)
        ``N/throughput``, seconds.
    fit : LatencyFit
        Of one replica.
    """

    loads: Array
    latencies: Array
    fit: LatencyFit


def closed_loop_latency(
    scenario: Scenario, cell: int, requests: int, *, completions: int = COMPLETIONS, parameters: Parameters | None = None
) -> float:
    """``N/throughput`` of a cell that holds ``N`` requests, seconds.

    Parameters
    ----------
    scenario : Scenario
    cell : int
    requests : int
        ``N ≥ 1``.
    completions : int
        Counted; ``completions/2`` before them are not.
    parameters : Parameters, optional
        Queues are unbounded here, replicas fixed, and there are no sessions.
    """
    if requests < 1 or completions < 1:
        raise ParameterError(f"`requests` and `completions` must be ≥ 1; got {requests} and {completions}.")
    alone = scenario.changed(
        cells=(replace(scenario.cells[cell], arrival_rate=0.0),),
        latency=np.zeros((1, 1)),
        allowed=None,
        events=(),
        capacity=(),
        noise=0.0,
        duration=1.0,
        warmup=0.0,
    )
    warm = completions // 2 + requests
    total = requests + warm + completions
    rng = generator(scenario.seed, "calibration", cell, requests)
    prefill, decode = scenario.draw_tokens(rng, rng, total)
    stream = CellStream(
        arrivals=readonly(np.repeat([0.0, np.inf], [requests, total - requests])),
        sources=readonly(np.zeros(total, np.int32)),
        prefill=readonly(prefill),
        decode=readonly(decode),
        keys=readonly(rng.integers(0, 2**64, total, dtype=np.uint64)),
    )
    p = replace(parameters or Parameters(), affinity="none", autoscale=False)
    lim, net, st, est = layout_of(alone, make_schedule("rand"), stream, None, p)
    run_kernels(lim._replace(closed=True, queue=-1, aversion=False, end=np.inf), net, st, est)
    finished = np.sort(st.request["finished"][st.request["status"] == layout.DONE])
    return float(requests * (finished[warm + completions - 1] - finished[warm - 1]) / completions)


def calibrate(
    scenario: Scenario,
    cell: int,
    *,
    levels: tuple[float, ...] = LEVELS,
    completions: int = COMPLETIONS,
    parameters: Parameters | None = None,
) -> Calibration:
    """Latency at every level and the fit."""
    servers = scenario.cells[cell].servers
    counts = [max(1, round(level * servers)) for level in levels]
    loads = np.array(counts) / servers
    latencies = np.array(
        [closed_loop_latency(scenario, cell, n, completions=completions, parameters=parameters) for n in counts]
    )
    return Calibration(loads=readonly(loads), latencies=readonly(latencies), fit=fit_softplus(loads, latencies))


def oracle_models(
    scenario: Scenario,
    *,
    levels: tuple[float, ...] = LEVELS,
    completions: int = COMPLETIONS,
    parameters: Parameters | None = None,
) -> list[Softplus]:
    """Calibrated model of one replica of every cell."""
    return [
        calibrate(scenario, j, levels=levels, completions=completions, parameters=parameters).fit.model
        for j in range(len(scenario.cells))
    ]
