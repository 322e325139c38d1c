"""Networks that the tests of trajectories share."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lbtheory.fluid import Cell, Network, Source, make_rate

INF = math.inf


def outer(rates: Sequence[dict[str, Any]], arrivals: Sequence[float], latency: Any, replicas: Sequence[int] = ()) -> Network:
    """Sources that are no cells; the cells send nothing."""
    n = len(rates)
    cells = [
        Cell(name=f"c{j}", arrival_rate=0.0, rate=make_rate(rate), replicas=replicas[j] if replicas else 1)
        for j, rate in enumerate(rates)
    ]
    own = np.where(np.eye(n) > 0, 0.0, INF)
    sources = [Source(name=f"s{i}", arrival_rate=rate) for i, rate in enumerate(arrivals)]
    return Network(cells=cells, sources=sources, latency=np.vstack([own, np.asarray(latency, dtype=float)]))


def start(of: Network, rows: Any) -> np.ndarray:
    """Shares of the sources of `outer`; the cells keep theirs."""
    n = len(of.cells)
    return np.vstack([np.eye(n), np.asarray(rows, dtype=float)])


def mm1(capacity: float, half: float = 1.0) -> dict[str, Any]:
    """A rate."""
    return {"family": "mm1", "capacity": capacity, "half": half}


LINEAR = {"family": "capped_linear", "service": 1.0, "slots": 1e6}
"""``μ(N) = N`` wherever the tests go."""


def residency() -> Network:
    """Three cells, arcs 1→{1,2}, 2→{2,3}, 3→{3}, with local arcs without delay."""
    return Network(
        cells=[
            Cell(name="a", arrival_rate=1.6, replicas=4, rate=make_rate(mm1(2.0, 1.0))),
            Cell(name="b", arrival_rate=0.9, replicas=2, rate=make_rate(mm1(1.5, 0.5))),
            Cell(name="c", arrival_rate=0.5, replicas=3, rate=make_rate(mm1(1.8, 2.0))),
        ],
        latency=[[0, 0.1, INF], [INF, 0, 0.15], [INF, INF, 0]],
    )


FAMILIES: list[dict[str, Any]] = [
    {"family": "mm1", "capacity": 1.0, "half": 1.0},
    {"family": "smooth_min", "service": 2.0, "slots": 2.0, "half": 0.3},
    {"family": "exponential", "capacity": 1.0, "scale": 1.2},
    {"family": "hill", "capacity": 1.0, "half": 1.0, "power": 0.8},
    {"family": "softplus", "a": 1.0, "b": 0.9, "k": 1.0, "w": 0.3},
]


def drawn(rng: np.random.Generator, *, cells: int = 3, sources: int = 2, grid: float = 0.05, least: int = 1) -> Network:
    """Random sources, families and delays that are multiples of ``grid``, 60 % loaded in all."""
    rates = [FAMILIES[int(rng.integers(len(FAMILIES)))] for _ in range(cells)]
    arrivals = rng.uniform(0.2, 1.0, sources)
    arrivals *= 0.6 * cells / arrivals.sum()
    latency = grid * rng.integers(least, 12, (sources, cells))
    return outer(rates, arrivals.tolist(), latency)
