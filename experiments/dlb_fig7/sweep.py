"""Routing policies against noise in the latency models, at 80 % utilisation; data only."""

TITLE = "Latency and errors against noise in the latency models"
REFERENCE = "DLB paper, Figure 7"
SECONDS = {"quick": 40, "full": 800}  # one process

POLICIES = ["rand", "mnlb", "disc-rif", "disc-lat", "disc-grad", "flow-rif", "flow-lat", "flow-grad"]
NOISE = [0.0, 0.1, 0.2, 0.3, 0.5]
SIZES = {
    "quick": {"scenarios": 8, "trials": 1, "duration": 180.0, "warmup": 30.0},
    "full": {"scenarios": 10, "trials": 5, "duration": 600.0, "warmup": 60.0},
}


def cells(scale):
    """One cell a scenario and rule: models are projected again after the noise, or left as they are (model policies only)."""
    size = dict(SIZES[scale])
    scenarios = size.pop("scenarios")
    shared = {"vary": "noise", "values": NOISE, **size}
    raw = [name for name in POLICIES if name.endswith(("lat", "grad"))]
    return [
        ("lbtheory.cells.tasks:variations", {**shared, "policies": policies, "parameters": {"project_noise": projected}}, seed)
        for seed in range(scenarios)
        for projected, policies in ((True, POLICIES), (False, raw))
    ]
