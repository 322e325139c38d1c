"""Cells over time through a burst, an outage and an unhealthy cell, with error aversion on and off; data only."""

TITLE = "Per-cell load, latency and errors through three disruptions"
REFERENCE = "DLB paper, sections 3.4 and 5.4; the figure is ours"
SECONDS = {"quick": 18, "full": 36}  # one process

EVENTS = [
    {"kind": "burst", "start": 60.0, "end": 120.0, "cell": 0, "utilisation": 0.9},
    {"kind": "outage", "start": 180.0, "end": 240.0, "cell": 1},
    {"kind": "unhealthy", "start": 300.0, "end": 360.0, "cell": 2, "share": 0.5},
]
RUNS = [("rand", True), ("mnlb", True), ("mnlb,flow-grad@150", True), ("flow-grad", False), ("flow-grad", True)]
"""Policy or schedule, error aversion."""


def cells(scale):
    """One cell a run; the scale changes nothing but the width of the time steps."""
    shared = {"cells": 5, "duration": 420.0, "step": 2.0 if scale == "full" else 5.0, "utilisation": 0.6, "events": EVENTS}
    return [("lbtheory.cells.tasks:timeline", {**shared, "policy": name, "aversion": on}, 11) for name, on in RUNS]
