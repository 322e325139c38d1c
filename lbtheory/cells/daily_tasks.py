"""Task of the experiment on a day of demand with replicas that follow it. It returns a list of flat records."""

from typing import Any

import numpy as np

from lbtheory.cells.demand import Demand
from lbtheory.cells.engine import simulate
from lbtheory.cells.parameters import Parameters
from lbtheory.cells.sampler import sample_scenario
from lbtheory.cells.stream import draw_stream
from lbtheory.cells.summary import models_of

Record = dict[str, Any]
LEAD = 0.25
"""Of a day, before the one that is recorded: replicas settle."""


def day(
    *, seed: int, policy: str, length: float, wave: float, cells: int, servers: float, utilisation: float, bins: int
) -> list[Record]:
    """One day of ``length`` seconds, with the autoscaler and with fixed replicas, on the same requests: a record a bin and arm.

    ``utilisation`` is that of the scenario's replicas at mean demand; fixed replicas are those.

    Returns
    -------
    list of dict
        ``rate`` of arrivals (per second), ``replicas`` in service and ``rif`` of all cells (means over the bin), ``mean`` and
        ``p90`` latency of requests that arrived in it (seconds), ``errors``; ``time`` in days, of the middle.
    """
    duration = (1 + LEAD) * length
    scenario = sample_scenario(
        seed,
        cells=cells,
        servers=servers,
        utilisation=utilisation,
        duration=duration,
        warmup=LEAD * length,
        demand=Demand(wave=wave, period=length),
    )
    stream, models = draw_stream(scenario, 0), models_of(scenario, "calibrated")
    edges = np.linspace(LEAD * length, duration, bins + 1)
    records = []
    for arm in ("autoscaler", "fixed"):
        p = Parameters(autoscale=arm == "autoscaler", cap=duration + 1200.0)
        run = simulate(scenario, policy, stream=stream, models=models, parameters=p)
        at = np.digitize(run.arrival, edges) - 1
        inside = run.server >= 0
        end = np.where(np.isfinite(run.finished), run.finished, run.stopped)[inside]
        held = time_average(run.accepted[inside], end, edges)
        sizes = run.sizes.sum(axis=1)
        for k in range(bins):
            here = at == k
            latency = (run.returned - run.arrival)[here & run.done]
            rounds = np.arange(edges[k], edges[k + 1], p.scale_period) + p.scale_period / 2
            replicas = sizes[np.minimum((rounds / p.scale_period).astype(int), len(sizes) - 1)].mean()
            records.append(
                {
                    "arm": arm,
                    "time": float((edges[k] + edges[k + 1]) / 2 / length),
                    "rate": float(here.sum() / (edges[k + 1] - edges[k])),
                    "replicas": float(replicas),
                    "rif": float(held[k]),
                    "mean": float(latency.mean()),
                    "p90": float(np.quantile(latency, 0.9)),
                    "errors": float(run.failed[here].mean()),
                }
            )
    return records


def time_average(start: np.ndarray, end: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Mean number of intervals ``[start, end)`` that cover a time, in each bin, by ``Σ (t − start)⁺ − (t − end)⁺``."""

    def covered(times: np.ndarray) -> np.ndarray:
        ordered = np.sort(times)
        sums = np.concatenate([[0.0], np.cumsum(ordered)])
        before = np.searchsorted(ordered, edges, side="right")
        result: np.ndarray = before * edges - sums[before]
        return result

    return np.diff(covered(start) - covered(end)) / np.diff(edges)
