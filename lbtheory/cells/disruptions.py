"""What events and schedules change and change back, as rows by time for the kernels."""

from itertools import pairwise

import numpy as np

from lbtheory.cells.kernels import layout
from lbtheory.cells.parameters import Parameters
from lbtheory.cells.policies import PolicySchedule
from lbtheory.cells.scenario import Event, Scenario, ScenarioError

Row = tuple[float, int, int, int, float]
"""Time, kind, cell, index of a router or stage, value."""


def disruption_rows(scenario: Scenario, schedule: PolicySchedule, p: Parameters) -> np.ndarray:
    """Rows by time; at one time replicas, then other events in their order, then stages of the policy schedule.

    Raises
    ------
    ScenarioError
        A router replica that a cell does not have; an outage or a capacity schedule beside the autoscaler.
    """
    rows = _replicas(scenario, p)
    for index, event in enumerate(scenario.events):
        if event.kind in ("unhealthy", "slow", "crash"):
            for j in scenario.event_cells(index):
                rows += _event(scenario, event, index, j, p)
    rows += [(stage.start, layout.START_STAGE, 0, k, 0.0) for k, stage in enumerate(schedule.stages) if k > 0]
    rows.sort(key=lambda row: row[0])
    return np.array(rows, layout.DISRUPTION)


def _event(scenario: Scenario, event: Event, index: int, j: int, p: Parameters) -> list[Row]:
    """Its begin and end at cell ``j``."""
    if event.kind == "unhealthy":
        return [(event.start, layout.SET_FAILING, j, 0, event.share), (event.end, layout.SET_FAILING, j, 0, 0.0)]
    if event.kind == "slow":
        cell = scenario.cells[j]
        times = ((layout.SET_PREFILL_TIME, cell.prefill_token_time), (layout.SET_DECODE_TIME, cell.decode_token_time))
        return [
            row
            for kind, time in times
            for row in ((event.start, kind, j, 0, event.factor * time), (event.end, kind, j, 0, time))
        ]
    held = p.leaves if event.router == "leaf" else p.roots
    if event.replica >= held:
        raise ScenarioError(
            f"`replica` of an event must be below the {held} {event.router} routers of a cell; got {event.replica}.",
            "event",
            index,
            "replica",
        )
    if event.router == "leaf":
        crash, restart = layout.CRASH_LEAF, layout.RESTART_LEAF
    else:
        crash, restart = layout.CRASH_ROOT, layout.RESTART_ROOT
    return [(event.start, crash, j, event.replica, 0.0), (event.end, restart, j, event.replica, 0.0)]


def _replicas(scenario: Scenario, p: Parameters) -> list[Row]:
    """Changes of replicas: those of the capacity schedule, but one while a cell is in an outage."""
    outages: list[list[Event]] = [[] for _ in scenario.cells]
    for index, event in enumerate(scenario.events):
        for j in scenario.event_cells(index) if event.kind == "outage" else ():
            outages[j].append(event)
    if p.autoscale and (scenario.capacity or any(outages)):
        what, where = ("a capacity schedule", "capacity") if scenario.capacity else ("an outage", "event")
        raise ScenarioError(f"{what} and the autoscaler would both set replicas. Leave one out.", where)
    rows: list[Row] = []
    for j, mine in enumerate(outages):
        changes = {0.0, *(step.time for step in scenario.capacity if step.cell == j)}
        changes |= {time for event in mine for time in (event.start, event.end)}
        held = [(-1.0, int(scenario.servers[j]), False)]
        for time in sorted(changes):
            active = [event for event in mine if event.start <= time < event.end]
            held.append((time, 1 if active else int(scenario.servers_at(time)[j]), any(event.hard for event in active)))
        for (_, before, was_hard), (time, count, hard) in pairwise(held):
            if count != before or (hard and not was_hard):
                kind = layout.LOSE_REPLICAS if hard and not was_hard else layout.SET_REPLICAS
                rows.append((time, kind, j, 0, float(count)))
    return rows
