"""Routing policies against target utilisation, on random scenarios; data only. A cell is a scenario, all utilisations."""

TITLE = "Latency and errors against utilisation"
REFERENCE = "DLB paper, Figure 6"
SECONDS = {"quick": 50, "full": 900}  # one process

POLICIES = ["rand", "mnlb", "disc-rif", "disc-lat", "disc-grad", "flow-rif", "flow-lat", "flow-grad"]
UTILISATIONS = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0]
SIZES = {
    "quick": {"scenarios": 8, "trials": 1, "duration": 180.0, "warmup": 30.0},
    "full": {"scenarios": 10, "trials": 5, "duration": 600.0, "warmup": 60.0},
}


def cells(scale):
    """One cell a scenario."""
    size = dict(SIZES[scale])
    scenarios = size.pop("scenarios")
    shared = {"policies": POLICIES, "vary": "utilisation", "values": UTILISATIONS, **size}
    return [("lbtheory.cells.tasks:variations", shared, seed) for seed in range(scenarios)]
