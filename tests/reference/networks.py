"""Small networks of cells for tests of the fluid theory."""

from collections.abc import Sequence

import numpy as np

from lbtheory.fluid import Cell, Network, Source, make_rate


def pair(arrivals: float, latency: Sequence[float], capacity: float = 1.0) -> Network:
    """One source and two equal M/M/1 cells, ``h = 1``."""
    rate = make_rate({"family": "mm1", "capacity": capacity, "half": 1.0})
    cells = tuple(Cell(name=name, arrival_rate=0.0, rate=rate) for name in "ab")
    away = [[0, np.inf], [np.inf, 0]]
    return Network(
        cells=cells, sources=(Source(name="s", arrival_rate=arrivals),), latency=[*away, [float(t) for t in latency]]
    )
