"""Time-average gap against the horizon: fixed stepsizes, and the schedule ``T^{−1/2}`` of the paper; data only."""

TITLE = "Rate of convergence of flow routing, beside what the theorems allow"
REFERENCE = "DLB paper, Theorem 1; ours beyond it (Theorems 1b and 2)"
SECONDS = {"quick": 12, "full": 500}  # one process

COSTS = ["rif", "latency", "gradient"]
STARTS = {"quick": 4, "full": 20}
HORIZONS = {
    "quick": [10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0],
    "full": [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0, 20000.0, 50000.0, 100000.0],
}
NETWORK = {"load": 0.3, "latency": 0.5, "capacity": 2.0, "steps": 2}
STEPSIZES = {"critical": [0.5, 1.2], "proved": ["eta0", "eta2"]}


def cells(scale):
    """One cell a cost and start."""
    return [
        (
            "lbtheory.verify.convergence_tasks:average_gaps",
            {"cost": cost, **NETWORK, **STEPSIZES, "horizons": HORIZONS[scale]},
            start,
        )
        for cost in COSTS
        for start in range(STARTS[scale])
    ]
