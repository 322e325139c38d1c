"""The simulator of cells, scaled up, beside the fluid trajectory of flow routing.

Arrival rates and service grow by ``m``; ``n_j(t)`` solves the fluid model with the same stepsize, period of updates and
latencies, from the same empty start. Distances are of ``N_j^m(t)/m − n_j(t)``, per decode slot of the unscaled cell.

``pool``: no prefill, exponential decode times, one server a cell whose slots grow by ``m``. A cell is then M/M/c with
``c = 8m``, its fluid rate is ``min(N, 8)/E[S]`` in closed form, and the limit is exact: Kurtz (1970) for workloads between two
updates, and updates and delays are Lipschitz maps of the past, so by induction over periods the distance on a bounded horizon
is ``O(m^{−1/2})`` (ours).

``cells``: the servers of the simulation study (prefill engine, gamma tokens), their number growing by ``m``; the fluid rate is
fitted to closed loops. A cell is then no function of its workload alone, so a floor remains that no ``m`` removes (empirical).
"""

from dataclasses import dataclass, replace

import numpy as np

from lbtheory.cells import CellRun, CellSpec, Event, Parameters, Scenario, TokenLaw, draw_stream, sample_scenario, simulate
from lbtheory.cells.calibration import oracle_models
from lbtheory.cells.stepsize import stepsizes
from lbtheory.core import UnknownNameError, readonly, whole_number
from lbtheory.fluid import Cell, Network
from lbtheory.fluid.dynamics import Signal, Trajectory
from lbtheory.fluid.dynamics import simulate as integrate
from lbtheory.fluid.rates import CappedLinear, RateFamily, Softplus

Array = np.ndarray

SYSTEMS = ("pool", "cells")
TICK = 1 / 128
"""Seconds; latencies, probes and updates are multiples of it, exact in binary, so a root sees ``N_j(t − τ_ij)`` itself."""
SLOTS = 8
LATENCY = TICK * np.array([[1, 6, 14], [6, 1, 10], [14, 10, 1]])
SERVICE = (0.5, 0.75, 1.0)
"""Mean decode times of the pool, seconds."""
DEMAND = (0.5, 0.3, 0.2)
TOKENS = 10_000
"""Mean tokens of an exponential decode; rounding them to whole numbers changes it by less than 1e-4."""
UTILISATION, PEAK = 0.75, 1.1
"""Before and after the burst at the first root, and in it: queues form."""
SAMPLED = {"seed": 9, "cells": 3, "utilisation": UTILISATION, "servers": 4.0}
CALIBRATED_AT = 8
"""Replicas of a sampled cell are multiplied by this for closed loops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledSystem:
    """A system at ``m = 1`` and what the fluid model needs to know of it.

    Attributes
    ----------
    kind : str
        One of `SYSTEMS`.
    scenario : Scenario
    policy : str
        Flow routing, with the cost of ``network``.
    models : tuple of Softplus
        Of one replica.
    network : Network
        Rates of whole cells.
    slots : float array (n,)
        Decode slots.
    """

    kind: str
    scenario: Scenario
    policy: str
    models: tuple[Softplus, ...]
    network: Network
    slots: Array

    @property
    def cost(self) -> str:
        """What roots observe."""
        return "rif" if self.policy == "flow-rif" else "latency"


def scaled_system(kind: str, duration: float) -> ScaledSystem:
    """``pool`` or ``cells`` with a burst at the first root in the third quarter of ``duration`` seconds.

    Raises
    ------
    UnknownNameError
    """
    if kind not in SYSTEMS:
        raise UnknownNameError("system", str(kind), SYSTEMS)
    event = Event(kind="burst", start=duration / 2, end=0.75 * duration, cell=0, utilisation=PEAK)
    rates: list[RateFamily]
    if kind == "pool":
        scenario = _pool(duration, event)
        models = [Softplus(a=a, b=a / SLOTS, k=0.95 * SLOTS, w=SLOTS / 4) for a in SERVICE]
        rates = [CappedLinear(service=a, slots=SLOTS) for a in SERVICE]
    else:
        sampled = sample_scenario(**SAMPLED, duration=duration, warmup=0.0)  # type: ignore[arg-type]
        scenario = sampled.changed(latency=LATENCY, events=(event,))
        models = oracle_models(_grown(scenario, CALIBRATED_AT))
        counts = scenario.servers.tolist()
        rates = [Softplus(a=m.a, b=m.b / r, k=m.k * r, w=m.w * r) for m, r in zip(models, counts, strict=True)]
    network = Network(
        cells=tuple(
            Cell(name=cell.name, arrival_rate=cell.arrival_rate, replicas=cell.servers, rate=rate)
            for cell, rate in zip(scenario.cells, rates, strict=True)
        ),
        latency=scenario.latency,
    )
    return ScaledSystem(
        kind=kind,
        scenario=scenario,
        policy="flow-rif" if kind == "pool" else "flow-lat",
        models=tuple(models),
        network=network,
        slots=readonly(scenario.servers * float(SLOTS)),
    )


def _pool(duration: float, event: Event) -> Scenario:
    total = UTILISATION * sum(SLOTS / a for a in SERVICE)
    cells = tuple(
        CellSpec(
            name=f"cell-{j}",
            servers=1,
            prefill_token_time=0.0,
            decode_token_time=service / TOKENS,
            arrival_rate=total * share,
        )
        for j, (service, share) in enumerate(zip(SERVICE, DEMAND, strict=True))
    )
    return Scenario(
        cells=cells,
        latency=LATENCY,
        duration=duration,
        warmup=0.0,
        prefill_tokens=TokenLaw(shift=1.0, scale=0.0),
        decode_tokens=TokenLaw(shift=0.0, shape=1.0, scale=float(TOKENS)),
        decode_slots=SLOTS,
        events=(event,),
    )


def _grown(scenario: Scenario, m: int) -> Scenario:
    """``m`` times the servers and arrivals."""
    cells = tuple(replace(cell, servers=m * cell.servers, arrival_rate=m * cell.arrival_rate) for cell in scenario.cells)
    return scenario.changed(cells=cells)


def at_size(system: ScaledSystem, m: int) -> tuple[Scenario, tuple[Softplus, ...], Parameters]:
    """The system scaled by ``m``, with streams that differ between sizes; models of one of its replicas.

    A pool has the same servers with ``m`` times the slots, so its costs are ``m`` times as large and its stepsize ``1/m``.
    """
    whole_number("m", "at_size", m, 1)
    parameters = Parameters(engine_slots=SLOTS // 2, probe_period=TICK, flow_period=16 * TICK, queue=None, aversion=False)
    if system.kind == "cells":
        return _grown(system.scenario, m).changed(seed=m), system.models, parameters
    cells = tuple(replace(cell, arrival_rate=m * cell.arrival_rate) for cell in system.scenario.cells)
    models = tuple(Softplus(a=one.a, b=one.b / m, k=one.k * m, w=one.w * m) for one in system.models)
    scenario = system.scenario.changed(cells=cells, decode_slots=m * SLOTS, seed=m)
    return scenario, models, replace(parameters, engine_slots=m * SLOTS // 2)


def fluid_path(system: ScaledSystem) -> Trajectory:
    """The fluid trajectory from empty cells, nothing on the wire, shares in proportion to replicas; with an error estimate."""
    scenario, models, parameters = at_size(system, 1)
    (event,) = scenario.events
    usual, raised = scenario.arrivals, scenario.arrivals.copy()
    raised[0] += event.utilisation * scenario.capacities.sum() - usual.sum()
    arrivals = Signal.steps([-1.0, 0.0, event.start, event.end], [0 * usual, usual, raised, usual])
    n = len(scenario.cells)
    return integrate(
        system.network,
        system.cost,
        t_end=scenario.duration,
        eta=stepsizes(scenario, models, system.cost, parameters),
        routing="flow-periodic",
        period=parameters.flow_period,
        step=TICK,
        estimate_error=True,
        shares=np.tile(scenario.servers / scenario.servers.sum(), (n, 1)),
        arrivals=arrivals,
    )


def run_at(system: ScaledSystem, m: int, trial: int) -> CellRun:
    """A trial of the system scaled by ``m``."""
    scenario, models, parameters = at_size(system, m)
    return simulate(scenario, system.policy, stream=draw_stream(scenario, trial), models=models, parameters=parameters)


def workloads_at(run: CellRun, times: Array) -> Array:
    """Requests in the servers of every cell at sorted ``times``, changes at a time included; int array (t, n)."""
    return np.column_stack([counts(*changes(run, j), times) for j in range(len(run.names))])


def changes(run: CellRun, cell: int) -> tuple[Array, Array]:
    """Sorted times at which requests enter and leave the servers of a cell."""
    mine = (run.cell == cell) & (run.server >= 0)
    left = run.finished[mine]
    return np.sort(run.accepted[mine]), np.sort(left[np.isfinite(left)])


def counts(came: Array, left: Array, times: Array, side: str = "right") -> Array:
    """Requests present just after (``right``) or just before ``times``."""
    held: Array = np.searchsorted(came, times, side=side) - np.searchsorted(left, times, side=side)  # type: ignore[call-overload]
    return held


def distances(system: ScaledSystem, fluid: Trajectory, run: CellRun, m: int) -> tuple[float, float]:
    """Greatest, and root of the mean square (over time and cells), of ``|N^m/m − n|`` per slot.

    The greatest is over both limits at every event and every tick, the mean square over ticks.
    """
    ticks = np.arange(0.0, fluid.end + TICK / 2, TICK)
    greatest, squares = 0.0, 0.0
    on_ticks = fluid.workloads_at(ticks)
    for j, slots in enumerate(system.slots):
        came, left = changes(run, j)
        events = np.concatenate([came, left])
        events = np.sort(events[events <= fluid.end])
        away = counts(came, left, ticks) / m - on_ticks[:, j]
        squares += float(np.mean((away / slots) ** 2))
        exact = fluid.workloads_at(events)[:, j]
        both = [counts(came, left, events, side) / m - exact for side in ("left", "right")]
        greatest = max(greatest, *(float(np.abs(part).max(initial=0.0)) / slots for part in (away, *both)))
    return greatest, float(np.sqrt(squares / len(system.slots)))
