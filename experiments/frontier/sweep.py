"""Smallest B from which each certificate holds, over p, s and G; data only."""

TITLE = "Where the certificates begin to say something"
REFERENCE = "decode paper, Theorem 1; ours beyond it"
SECONDS = {"quick": 110, "full": 1500}  # one process

QUICK = [("1/4", 4), ("1/4", 50), ("1/4", 400), ("1/20", 4), ("1/20", 50), ("1/20", 400), ("1/100", 50), ("1/100", 400)]
FULL = [(p, s) for p in ("1/4", "1/10", "1/20", "1/50", "1/100", "1/300", "1/1000") for s in (4, 10, 50, 100, 400, 1000, 4000)]
WORKERS = {"quick": [8], "full": [2, 8, 32, 128]}
RATIOS = {"quick": [1.0, 2.0], "full": [1.0, 2.0, 10.0]}


def cells(scale):
    """One cell a system."""
    systems = QUICK if scale == "quick" else FULL
    return [
        (
            "lbtheory.verify.tasks:where_it_bites",
            {"p": p, "prompts": f"uniform:{s}", "workers": workers, "ratios": RATIOS[scale]},
            0,
        )
        for workers in WORKERS[scale]
        for p, s in systems
    ]
