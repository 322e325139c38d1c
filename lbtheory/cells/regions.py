"""One-way latencies between cells that lie in measured regions."""

from collections.abc import Sequence
from math import isfinite

import numpy as np

from lbtheory.core import ParameterError, UnknownNameError, readonly
from lbtheory.fluid.region_latency import RegionLatency

HOP = 0.0005
"""Router hop, seconds (paper: below 1 ms; the value is ours)."""


def latency_between(latency: RegionLatency, regions: Sequence[str], *, hop: float = HOP) -> np.ndarray:
    """``τ_ij`` of cells in these regions: half a round trip and a router hop, seconds; infinite if not measured.

    Parameters
    ----------
    latency : RegionLatency
        From `read_region_latency`.
    regions : sequence of str
        Of each cell; they may repeat: cells of one region are a diagonal entry apart.
    hop : float
        Seconds ≥ 0.

    Returns
    -------
    float array (n, n)

    Raises
    ------
    UnknownNameError
        A region that was not measured, with the nearest.
    ParameterError
        ``hop``, or no region.
    """
    if isinstance(hop, bool) or not isinstance(hop, int | float) or not isfinite(hop) or hop < 0:
        raise ParameterError(f"`hop` of `latency_between` must be seconds ≥ 0; got {hop!r}.")
    if not len(regions):
        raise ParameterError("`regions` of `latency_between` must name a region for each cell; got none.")
    index = {name: i for i, name in enumerate(latency.regions)}
    for name in regions:
        if name not in index:
            raise UnknownNameError("region", str(name), latency.regions)
    rows = [index[name] for name in regions]
    return readonly(latency.one_way[np.ix_(rows, rows)] + hop)
