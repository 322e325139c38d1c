"""Price of anarchy against load, spread and noise, and the worst two-cell networks; data only."""

TITLE = "Price of anarchy"
REFERENCE = "DLB paper, section 3.3 and Figure 7"
SECONDS = {"quick": 60, "full": 900}  # one process

LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
SPREADS = (0.0, 0.25, 0.5, 0.75, 1.0)
NOISE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
NEAR_LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
NETWORKS = {"quick": {"prices": 60, "misjudged": 20}, "full": {"prices": 1000, "misjudged": 400}}
GENERATIONS = {"quick": 30, "full": 120}


def cells(scale):
    """Random networks by load and spread, searches by load, noisy models by strength."""
    count = NETWORKS[scale]
    pairs = [(load, spread) for spread in SPREADS for load in (LOADS if spread == 0.5 else (0.9,))]
    random = [
        ("lbtheory.fluid.tasks:prices", {"cells": 6, "spread": spread, "load": load, "networks": count["prices"]}, 0)
        for load, spread in pairs
    ]
    search = {"longest": 100.0, "smallest": 1.0, "generations": GENERATIONS[scale]}
    found = [
        ("lbtheory.fluid.tasks:worst_price", {"cost": cost, "load": load, **search}, 1)
        for cost in ("rif", "latency")
        for load in NEAR_LOADS
    ]
    small = [("lbtheory.fluid.tasks:worst_price", {"cost": "latency", "load": 0.5, **search, "smallest": 0.01}, 1)]
    noisy = [
        ("lbtheory.fluid.tasks:misjudged", {"cells": 5, "load": 0.7, "noise": noise, "networks": count["misjudged"]}, 2)
        for noise in NOISE
    ]
    return random + found + small + noisy
