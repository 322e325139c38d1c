"""Out-of-band probing: requests of the operator's own, which keep the estimates of every cell fresh (DLB paper, section 6)."""

from dataclasses import replace

import numpy as np

from lbtheory.cells.scenario import Scenario, ScenarioError
from lbtheory.cells.stream import MOST_REQUESTS, CellStream
from lbtheory.core import frozen, generator


def with_background(stream: CellStream, scenario: Scenario, period: float, trial: int = 0) -> CellStream:
    """The requests of a stream, and every ``period`` seconds one for each cell, whose tokens are drawn as those of any request.

    They enter at the cell's own root, or the first that may send to it, and go to the cell whatever the policy; the cells take
    turns within a period. Streams of draws are keyed by (seed, trial, cell).
    """
    n, m = len(scenario.cells), len(stream)
    if n * scenario.duration / period > MOST_REQUESTS:
        raise ScenarioError(f"more than {MOST_REQUESTS:,} background probes would be sent; take a longer `background_period`.")
    parts = []
    for j in range(n):
        sources = [j, *range(n)] if scenario.allowed[j, j] else list(range(n))
        source = next((i for i in sources if scenario.allowed[i, j]), None)
        if source is None:
            continue
        rng = generator(scenario.seed, "trial", trial, "background", j)
        times = np.arange((j + 1) / n * period, scenario.duration, period)
        prefill, decode = scenario.draw_tokens(rng, rng, len(times))
        keys = rng.integers(0, 2**64, len(times), dtype=np.uint64)
        parts.append((times, np.full(len(times), source), prefill, decode, keys, np.full(len(times), j)))
    own = [np.concatenate(column) for column in zip(*parts, strict=True)]
    targets = np.full(m, -1) if stream.targets is None else stream.targets
    columns = (stream.arrivals, stream.sources, stream.prefill, stream.decode, stream.keys, targets)
    joined = [np.concatenate([ours, theirs]).astype(ours.dtype) for ours, theirs in zip(columns, own, strict=True)]
    order = np.argsort(joined[0], kind="stable")
    times, sources_, prefill, decode, keys, targets = (frozen(column[order]) for column in joined)
    rest = {
        name: None if column is None else frozen(np.concatenate([column, np.full(len(own[0]), fill, column.dtype)])[order])
        for name, column, fill in (("sessions", stream.sessions, -1), ("savings", stream.savings, 0.0))
    }
    return replace(stream, arrivals=times, sources=sources_, prefill=prefill, decode=decode, keys=keys, targets=targets, **rest)
