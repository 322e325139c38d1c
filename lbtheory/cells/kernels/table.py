"""The stream into the engine's table of requests and back, one pass over the rows: they are wider than a line of a cache."""

from typing import NamedTuple

import numpy as np

from lbtheory.cells.kernels.layout import DONE, FAILED
from lbtheory.core.jit import kernel


class Given(NamedTuple):
    """Columns of a stream; the last three may be empty."""

    arrivals: np.ndarray
    sources: np.ndarray
    prefill: np.ndarray
    decode: np.ndarray
    keys: np.ndarray
    sessions: np.ndarray
    savings: np.ndarray
    targets: np.ndarray


class Found(NamedTuple):
    """Columns of a run."""

    arrival: np.ndarray
    accepted: np.ndarray
    prefilled: np.ndarray
    finished: np.ndarray
    returned: np.ndarray
    source: np.ndarray
    cell: np.ndarray
    server: np.ndarray
    load: np.ndarray
    reason: np.ndarray
    prefill: np.ndarray
    session: np.ndarray
    done: np.ndarray
    failed: np.ndarray
    hit: np.ndarray
    diverted: np.ndarray
    latency: np.ndarray  # one way, NaN where a request was sent nowhere


@kernel
def fill(table, given, roots, turn):  # type: ignore[no-untyped-def]
    """Requests that have not arrived yet; those of a source go to its roots in turn, which is counted in ``turn``."""
    for r in range(len(table)):
        i = int(given.sources[r])
        table[r].arrival = given.arrivals[r]
        table[r].source = i
        table[r].prefill = given.prefill[r]
        table[r].decode = given.decode[r]
        table[r].key = given.keys[r]
        table[r].session = given.sessions[r] if len(given.sessions) > 0 else -1
        table[r].saving = given.savings[r] if len(given.savings) > 0 else 0.0
        table[r].target = given.targets[r] if len(given.targets) > 0 else -1
        table[r].root = i * roots + turn[i] % roots
        turn[i] += 1
        table[r].cell = table[r].server = table[r].leaf = table[r].next = -1
        table[r].accepted = table[r].prefilled = table[r].finished = table[r].returned = np.nan


@kernel
def read(table, latency, found):  # type: ignore[no-untyped-def]
    """Copy what requests of the stream left; background probes are left out. Returns how many these were."""
    k = 0
    for r in range(len(table)):
        if table[r].target >= 0:
            continue
        found.arrival[k] = table[r].arrival
        found.accepted[k] = table[r].accepted
        found.prefilled[k] = table[r].prefilled
        found.finished[k] = table[r].finished
        found.returned[k] = table[r].returned
        found.source[k] = table[r].source
        found.cell[k] = table[r].cell
        found.server[k] = table[r].server
        found.load[k] = table[r].load
        found.reason[k] = table[r].reason
        found.prefill[k] = table[r].prefill
        found.session[k] = table[r].session
        found.done[k] = table[r].status == DONE
        found.failed[k] = table[r].status == FAILED
        found.hit[k] = table[r].hit == 1
        found.diverted[k] = table[r].diverted == 1
        found.latency[k] = latency[table[r].source, table[r].cell] if table[r].cell >= 0 else np.nan
        k += 1
    return len(table) - k
