"""Rules of affinity on sessions that share prefixes, with and without hot sessions; data only."""

TITLE = "Affinity: prefixes met, prefill saved, and what it costs"
REFERENCE = "DLB paper, section 3.5; the figure is ours"
SECONDS = {"quick": 40, "full": 400}  # one process

KINDS = ["none", "conditional", "sticky", "hash"]
SIZES = {"quick": (6, 120.0, 30.0), "full": (10, 600.0, 60.0)}


def cells(scale):
    """One cell a scenario."""
    scenarios, duration, warmup = SIZES[scale]
    shared = {
        "policy": "flow-grad",
        "kinds": KINDS,
        "utilisations": [0.5, 0.7, 0.8, 0.9],
        "hot": [0.0, 0.1],
        "duration": duration,
        "warmup": warmup,
    }
    return [("lbtheory.cells.tasks:affinities", shared, seed) for seed in range(scenarios)]
