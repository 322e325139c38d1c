"""Figure 4 of the decode paper: loads of eight workers over 1,500 iterations; data only."""

TITLE = "Eight workers over 1,500 iterations"
REFERENCE = "decode paper, Figure 4"
SECONDS = {"quick": 1, "full": 1}  # one process

POLICIES = ["jsq", "token-jsq", "br0", "brh:beta=14.67,gamma=0.64", "level-plus", "level-h"]
PARAMETERS = {
    "workload": "proprietary-like",
    "policies": POLICIES,
    "workers": 8,
    "slots": 8,
    "queue": 64,
    "prompt_cv": 1.76,
    "begin": 20_000,
    "iterations": 1_500,
    "overtake": None,
}


def cells(scale):
    """One cell; both scales are the same."""
    return [("lbtheory.decode.tasks:trajectories", PARAMETERS, 0)]
