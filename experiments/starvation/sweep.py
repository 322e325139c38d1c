"""Estimation in the loop while a cell is slow for a minute: censoring and starvation, and what mends them; data only."""

TITLE = "Latency models estimated in the loop: censoring and starvation"
REFERENCE = "DLB paper, sections 3.3 and 6; the figure is ours"
SECONDS = {"quick": 45, "full": 140}  # one process

VARIANTS = {
    "calibrated": {},
    "plain": {"pull": 0.0},
    "in flight counted": {"pull": 0.0, "censored": True},
    "prior pull": {"pull": 1.0},
    "dithering": {"pull": 0.0, "mixing": 0.02},
    "probing": {"pull": 0.0, "background_period": 1.0},
    "all four": {"pull": 1.0, "mixing": 0.02, "background_period": 1.0, "censored": True},
}
SCENARIOS = {"quick": 4, "full": 12}


def cells(scale):
    """One cell a scenario."""
    shared = {
        "policies": ["disc-lat", "flow-lat", "disc-grad", "flow-grad"],
        "cells": 4,
        "utilisation": 0.6,
        "duration": 300.0,
        "slow": [60.0, 120.0],
        "factor": 3.0,
        "step": 10.0,
        "variants": VARIANTS,
    }
    return [("lbtheory.cells.tasks:estimation", shared, seed) for seed in range(SCENARIOS[scale])]
