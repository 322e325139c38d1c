"""What a run leaves: one row a request, and counts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lbtheory.cells.kernels import layout
from lbtheory.cells.kernels.table import Found, read
from lbtheory.core import frozen, readonly

if TYPE_CHECKING:
    from lbtheory.cells.parameters import Parameters
    from lbtheory.cells.scenario import Scenario

Array = np.ndarray

REASONS = ("", "overflow", "unhealthy", "server lost", "no leaf", "no root")
"""Why a request failed, by code."""
_TYPES: dict[str, type] = dict.fromkeys(("source", "cell", "server", "prefill", "session"), np.int32) | {"reason": np.int8}
_TYPES |= dict.fromkeys(("done", "failed", "hit", "diverted"), np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRun:
    """A trial under a policy.

    Attributes
    ----------
    policy : str
        As `simulate` was given it.
    names : tuple of str
        Cells.
    warmup, duration : float
        Arrivals in ``[warmup, duration)`` are counted.
    arrival, accepted, prefilled, finished, returned : float array (m,)
        Seconds: at the root; taken by a server; end of prefill; end of decode or the failure; answer at the client. NaN: never.
    source, cell, server : int array (m,)
        −1: none.
    load : float array (m,)
        RIF per replica of the cell just after acceptance.
    done, failed : bool array (m,)
        Neither: in flight when the run stopped.
    reason : int array (m,)
        Index into `REASONS`.
    prefill : int array (m,)
        Tokens that were (or would be) computed, after what a prefix saved.
    session : int array (m,)
        −1: none.
    hit : bool array (m,)
        Met the prefix of its session.
    diverted : bool array (m,)
        Error aversion changed the cell.
    latency : float array (m,)
        One way between the source and the cell, seconds.
    events : int
        Events and control loops run.
    background : int
        Requests of out-of-band probing, which are in no column.
    probes_per_second : float
        Probes that roots send, of all cells together.
    unserved_plans : int
        Programs of MNLB that had to exceed capacities.
    models : float array (n, 4)
        ``(a, b, k, w)`` last published, of one replica.
    sizes : int array (rounds + 1, n)
        Replicas from the start and after each round of the autoscaler; one row without it.
    stopped : float
        When the last event happened, seconds.
    """

    policy: str
    names: tuple[str, ...]
    warmup: float
    duration: float
    arrival: Array
    accepted: Array
    prefilled: Array
    finished: Array
    returned: Array
    source: Array
    cell: Array
    server: Array
    load: Array
    done: Array
    failed: Array
    reason: Array
    prefill: Array
    session: Array
    hit: Array
    diverted: Array
    latency: Array
    events: int
    background: int
    probes_per_second: float
    unserved_plans: int
    models: Array
    sizes: Array
    stopped: float

    @classmethod
    def of(cls, scenario: "Scenario", policy: str, st: layout.State, parameters: "Parameters") -> "CellRun":
        """Read the final state of the engine."""
        m = np.count_nonzero(st.request["target"] < 0)
        found = Found(**{name: np.empty(m, _TYPES.get(name, np.float64)) for name in Found._fields})
        background = read(st.request, scenario.latency, found)
        return cls(
            policy=policy,
            names=tuple(cell.name for cell in scenario.cells),
            warmup=scenario.warmup,
            duration=scenario.duration,
            **{name: frozen(column) for name, column in found._asdict().items()},
            events=int(st.ints[layout.EVENTS]),
            background=background,
            probes_per_second=float(scenario.allowed.sum()) / parameters.probe_period,
            unserved_plans=int(st.ints[layout.UNSERVED]),
            models=readonly(np.column_stack([st.cell[name] for name in "abkw"])),
            sizes=readonly(st.sizes[: int(st.ints[layout.SCALINGS]) + 1].copy()),
            stopped=float(st.floats[layout.NOW]),
        )

    @property
    def counted(self) -> Array:
        """Requests that arrived in ``[warmup, duration)``, bool array (m,)."""
        return (self.arrival >= self.warmup) & (self.arrival < self.duration)
