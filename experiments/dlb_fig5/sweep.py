"""A day of demand with replicas that follow it, and with fixed ones; data only."""

TITLE = "Figure 5: daily demand, replicas, requests in flight and latency"
REFERENCE = "DLB paper, Figure 5 (production traffic); ours is the simulator with an autoscaler"
SECONDS = {"quick": 32, "full": 500}  # one process

SCENARIOS = {"quick": 5, "full": 20}
LENGTH = {"quick": 14400.0, "full": 43200.0}  # seconds of a day, shortened
SYSTEM = {"policy": "flow-grad", "wave": 0.5, "cells": 3, "servers": 4.0, "utilisation": 0.55, "bins": 48}


def cells(scale):
    """One cell a scenario."""
    return [
        ("lbtheory.cells.daily_tasks:day", {"length": LENGTH[scale], **SYSTEM}, scenario)
        for scenario in range(SCENARIOS[scale])
    ]
