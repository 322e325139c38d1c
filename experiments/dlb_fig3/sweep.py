"""Estimated latency curves of cells, under demand that swings through light and heavy load; data only."""

TITLE = "Latency models: smoothed latencies and their softplus fit"
REFERENCE = "DLB paper, Figure 3 and section 3.3"
SECONDS = {"quick": 5, "full": 20}  # one process


def cells(scale):
    """One scenario."""
    shared = {"cells": 3, "utilisation": 0.7, "wave": 0.5, "duration": 600.0 if scale == "quick" else 3600.0}
    return [("lbtheory.cells.tasks:latency_curves", shared, 4)]
