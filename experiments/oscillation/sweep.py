"""Discrete against flow routing as delays grow, for short requests (sand) and long ones (boulders); data only."""

TITLE = "Oscillation under delayed feedback"
REFERENCE = "DLB paper, sections 1.1, 3.2 and 4"
SECONDS = {"quick": 10, "full": 40}  # one process

KINDS = {"sand": 0.05, "boulders": 10.0}  # idle latency of a request, seconds
DELAYS = {"quick": [0.01, 0.03, 0.1, 0.3], "full": [0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5]}
ROUTINGS = [("discrete", None), ("flow", 0.25), ("flow", 1.0)]
LOAD = 0.8


def cells(scale):
    """One cell a kind of request, delay and routing."""
    return [
        (
            "lbtheory.fluid.dynamics.tasks:pair_oscillation",
            {"service": service, "load": LOAD, "delay": delay, "routing": routing, "gain": gain},
            0,
        )
        for service in KINDS.values()
        for delay in DELAYS[scale]
        for routing, gain in ROUTINGS
    ]
