"""Routing policies under a burst, an outage, equal hardware, and shorter or longer requests; data only."""

TITLE = "Latency and errors over all variations"
REFERENCE = "DLB paper, Figures 10 to 12"
SECONDS = {"quick": 60, "full": 2000}  # one process

POLICIES = ["rand", "mnlb", "disc-rif", "disc-lat", "disc-grad", "flow-rif", "flow-lat", "flow-grad"]
SCALES = [0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0]
SIZES = {
    "quick": {"scenarios": 6, "trials": 1, "duration": 180.0, "warmup": 30.0},
    "full": {"scenarios": 10, "trials": 5, "duration": 600.0, "warmup": 60.0},
}
SHORTER = {"quick": {0.1: 300.0, 2.0: 120.0, 4.0: 90.0, 10.0: 60.0}, "full": {}}
"""Seconds of the quick runs that would have many or few requests."""


def cells(scale):
    """One cell a scenario and variation, and one a length scale."""
    size = dict(SIZES[scale])
    scenarios = size.pop("scenarios")
    shared = {"policies": POLICIES, **size}
    kinds = [
        {**shared, "vary": "disruption", "values": ["none", "burst", "outage"]},
        {**shared, "vary": "spread", "values": [0.0]},
        *(
            {**shared, "vary": "length_scale", "values": [y], "duration": SHORTER[scale].get(y, size["duration"])}
            for y in SCALES
        ),
    ]
    return [("lbtheory.cells.tasks:variations", kind, seed) for seed in range(scenarios) for kind in kinds]
