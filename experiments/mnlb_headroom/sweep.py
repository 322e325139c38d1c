"""MNLB against the share of nominal capacity that it may fill, which the paper does not state; data only."""

TITLE = "MNLB against the share of capacity that it may fill"
REFERENCE = "DLB paper, section 1.1; the figure is ours"
SECONDS = {"quick": 15, "full": 300}  # one process

SHARES = [0.82, 0.84, 0.86, 0.88, 0.9, 0.92, 0.95]
SIZES = {
    "quick": {"scenarios": 8, "trials": 1, "duration": 180.0, "warmup": 30.0},
    "full": {"scenarios": 10, "trials": 5, "duration": 600.0, "warmup": 60.0},
}


def cells(scale):
    """One cell a scenario; the policies without a program are the same for every share."""
    size = dict(SIZES[scale])
    scenarios = size.pop("scenarios")
    shared = {"policies": ["mnlb", "flow-grad"], "vary": "plan_capacity", "values": SHARES, **size}
    return [("lbtheory.cells.tasks:variations", shared, seed) for seed in range(scenarios)]
