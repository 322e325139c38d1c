"""Random networks of cells for tests of the fluid theory."""

from collections.abc import Sequence

import numpy as np

from lbtheory.fluid import Cell, Network, Source, make_rate

FAMILIES = ("mm1", "smooth_min", "hill", "exponential", "softplus")


def pair(arrivals: float, latency: Sequence[float], capacity: float = 1.0) -> Network:
    """One source and two equal M/M/1 cells, ``h = 1``."""
    rate = make_rate({"family": "mm1", "capacity": capacity, "half": 1.0})
    cells = tuple(Cell(name=name, arrival_rate=0.0, rate=rate) for name in "ab")
    inf = np.inf
    return Network(
        cells=cells,
        sources=(Source(name="s", arrival_rate=arrivals),),
        latency=[[0, inf], [inf, 0], [float(t) for t in latency]],
    )


def random_network(
    rng: np.random.Generator, *, families: Sequence[str] = ("mm1",), cells: int = 4, sources: int = 3, step: float = 0.0
) -> Network:
    """2 to ``cells`` cells, 1 to ``sources`` sources, arcs at random; latencies are multiples of ``step`` where that is positive."""
    n, s = int(rng.integers(2, cells + 1)), int(rng.integers(1, sources + 1))
    rates = [_rate(rng, str(rng.choice(list(families)))) for _ in range(n)]
    allowed = rng.random((s, n)) < 0.75
    allowed[np.arange(s), rng.integers(0, n, s)] = True
    for j in np.nonzero(~allowed.any(axis=0))[0]:
        allowed[rng.integers(0, s), j] = True
    capacity = np.array([rate.capacity_limit for rate in rates])
    shares = allowed * rng.uniform(0.3, 1, (s, n))
    within = (shares / shares.sum(axis=0) * capacity).sum(axis=1) * rng.uniform(0.3, 0.93)
    latency = rng.choice([0.1, 1.0, 3.0]) * rng.uniform(0, 1, (s, n)) ** 2
    latency[rng.random((s, n)) < 0.15] = 0.0
    if step:
        latency = np.round(latency / step) * step
    inf = np.inf
    return Network(
        cells=tuple(
            Cell(name=f"c{j}", arrival_rate=0.0, replicas=int(rng.integers(1, 5)), rate=rate) for j, rate in enumerate(rates)
        ),
        sources=tuple(Source(name=f"s{i}", arrival_rate=float(rate)) for i, rate in enumerate(within)),
        latency=np.vstack([np.where(np.eye(n) > 0, 0.0, inf), np.where(allowed, latency, inf)]),
    )


def _rate(rng: np.random.Generator, family: str) -> object:
    capacity = float(rng.uniform(0.5, 4))
    if family == "mm1":
        made = {"capacity": capacity, "half": float(rng.uniform(0.2, 3))}
    elif family == "exponential":
        made = {"capacity": capacity, "scale": float(rng.uniform(0.3, 3))}
    elif family == "smooth_min":
        made = {"slots": float(rng.uniform(1, 6)), "half": float(rng.uniform(0.1, 2))}
        made["service"] = made["slots"] / capacity
    elif family == "hill":
        made = {"capacity": capacity, "half": float(rng.uniform(0.3, 3)), "power": float(rng.uniform(0.5, 1))}
    else:
        knee = float(rng.uniform(1, 6))
        made = {
            "b": 1 / capacity,
            "k": knee,
            "w": float(rng.uniform(0.3, 2)),
            "a": knee / capacity * float(rng.uniform(1.05, 2)),
        }
    return make_rate({"family": family, **made})
