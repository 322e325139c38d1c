"""Certificates and simulated policies against the number of slots; data only."""

TITLE = "Certified bounds beside simulation, against the number of slots"
REFERENCE = "ours, beside Theorem 1 of the decode paper"
SECONDS = {"quick": 45, "full": 400}  # one process

POLICIES = ["br0", "level", "level-plus"]
SYSTEMS = [("1/20", "uniform:50", 8), ("1/100", "uniform:100", 8)]
SLOTS = {"quick": [16, 32, 64, 128, 256, 512, 1024], "full": [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048]}
REQUESTS = {"quick": 60_000, "full": 1_000_000}


def cells(scale):
    """One cell a system and number of slots."""
    return [
        (
            "lbtheory.verify.tasks:certified",
            {
                "p": p,
                "prompts": prompts,
                "workers": workers,
                "slots": slots,
                "policies": POLICIES,
                "requests": REQUESTS[scale],
                "queue": 256,
                "warmup": 20 * int(p.split("/")[1]),
            },
            0,
        )
        for p, prompts, workers in SYSTEMS
        for slots in SLOTS[scale]
    ]
