"""Critical stepsizes against load, and where a limit cycle coexists with a stable equilibrium; data only."""

TITLE = "Local stability of flow routing, and its limits"
REFERENCE = "DLB paper, section 4; ours beyond it"
SECONDS = {"quick": 20, "full": 600}  # one process

COSTS = ["rif", "latency", "gradient"]
LOADS = {
    "quick": [0.2, 0.4, 0.49, 0.6, 0.8, 0.9, 0.95, 0.98],
    "full": [0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49, 0.55, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99],
}
FAR = 10.0
CYCLES = {
    "latency": {"latency": 0.5, "horizon": {"quick": 1000.0, "full": 6000.0}},
    "gradient": {"latency": 2.0, "horizon": {"quick": 2000.0, "full": 12000.0}},
}
RATIOS = {
    "quick": {
        "latency": [0.7, 0.8, 0.86, 0.9, 0.95, 1.02, 1.1],
        "gradient": [0.1, 0.25, 0.4, 0.6, 0.8, 0.95, 1.1],
    },
    "full": {
        "latency": [0.6, 0.7, 0.75, 0.8, 0.82, 0.84, 0.86, 0.88, 0.9, 0.92, 0.94, 0.96, 0.98, 1.02, 1.05, 1.1, 1.2],
        "gradient": [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.02, 1.05, 1.1, 1.2],
    },
}
STARTS = {"quick": [0.1, 0.4, 0.7, 1.0], "full": [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]}


def cells(scale):
    """One cell a cost and load, then one a cost and stepsize."""
    loads = [
        ("lbtheory.verify.flow_tasks:stepsizes", {"cost": cost, "load": load, "latency": 0.5, "capacity": 2.0}, 0)
        for cost in COSTS
        for load in LOADS[scale]
    ]
    cycles = [
        (
            "lbtheory.verify.flow_tasks:bistability",
            {
                "cost": cost,
                "load": 0.8,
                "latency": given["latency"],
                "ratio": ratio,
                "far": FAR,
                "starts": STARTS[scale],
                "horizon": given["horizon"][scale],
            },
            0,
        )
        for cost, given in CYCLES.items()
        for ratio in RATIOS[scale][cost]
    ]
    return loads + cycles
