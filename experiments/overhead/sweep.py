"""How long a decision of BR-H takes, by stage, against G, R_max and H; data only."""

TITLE = "Decision time of BR-H"
REFERENCE = "decode paper, section 6.4 and EC.5.2"
SECONDS = {"quick": 40, "full": 400}  # one process

SOURCE = {"p": "1/60", "prompts": "lognormal:3197:1.2:131072"}
"""About one completion a worker every eight iterations, so that most iterations decide."""
BASE = {"workers": 8, "slots": 8, "horizon": 80, "window": 4, "greedy": 4}
POINTS = [
    {},
    *({"workers": g} for g in (4, 16, 32)),
    *({"window": r} for r in (2, 8, 12)),
    *({"horizon": h} for h in (10, 20, 40, 160)),
    {"greedy": 0},
]
STEPS = {"quick": 250, "full": 3_000}


def cells(scale):
    """One cell a point; one factor at a time from the published setting."""
    return [
        (
            "lbtheory.decode.forecast_tasks:decision_times",
            {"workload": "laws", "source": SOURCE, **BASE, **point, "warmup": 50, "steps": STEPS[scale]},
            0,
        )
        for point in POINTS
    ]
