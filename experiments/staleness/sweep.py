"""Routing policies against the period of what they go by, with and without arrivals that gather at minute starts; data only."""

TITLE = "Latency, errors and probes against how often roots look"
REFERENCE = "DLB paper, sections 3.1 and 5.4; the figure is ours"
SECONDS = {"quick": 45, "full": 600}  # one process

LOOPS = [
    ("probe_period", [0.001, 0.01, 0.1, 1.0, 10.0], ["disc-rif", "disc-grad", "flow-grad", "p2c"]),
    ("flow_period", [0.01, 0.1, 1.0, 10.0], ["flow-grad"]),
    ("plan_period", [1.0, 3.0, 10.0, 30.0], ["mnlb"]),
]
GATHERED = {"steady": {}, "gathered": {"gathered": 0.2, "width": 2.0}}
SIZES = {
    "quick": {"scenarios": 5, "trials": 1, "duration": 150.0, "warmup": 30.0},
    "full": {"scenarios": 10, "trials": 3, "duration": 600.0, "warmup": 60.0},
}


def cells(scale):
    """One cell a scenario, loop and pattern of arrivals."""
    size = dict(SIZES[scale])
    scenarios = size.pop("scenarios")
    return [
        (
            "lbtheory.cells.tasks:variations",
            {"vary": vary, "values": values, "policies": names, "base": {"demand": demand}, "label": pattern, **size},
            seed,
        )
        for seed in range(scenarios)
        for vary, values, names in LOOPS
        for pattern, demand in GATHERED.items()
    ]
