"""What each inequality of the theorem gives away, at three systems of real size; data only."""

TITLE = "What each inequality of the decode theorem gives away"
REFERENCE = "decode paper, Theorem 1 and EC.1"
SECONDS = {"quick": 40, "full": 400}  # one process

SYSTEMS = [
    {"p": "1/4", "prompts": "uniform:4", "workers": 8, "slots": 64, "iterations": 160, "warmup": 40},
    {"p": "1/20", "prompts": "uniform:50", "workers": 8, "slots": 64, "iterations": 300, "warmup": 100},
    {"p": "1/100", "prompts": "uniform:100", "workers": 8, "slots": 64, "iterations": 600, "warmup": 300},
]
LONGER = {"quick": 1, "full": 8}


def cells(scale):
    """One cell a system."""
    return [("lbtheory.verify.tasks:slack", {**one, "iterations": one["iterations"] * LONGER[scale]}, 0) for one in SYSTEMS]
