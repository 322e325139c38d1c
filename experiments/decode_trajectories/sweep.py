"""Loads of every worker over 1,500 iterations: the panels of the decode paper's appendix; data only."""

TITLE = "Worker trajectories of the appendix"
REFERENCE = "decode paper, EC.7, EC.8, EC.9"
SECONDS = {"quick": 8, "full": 8}  # one process

BRH = "brh:beta=14.67,gamma=0.64"
METHODS = [
    "random",
    "rr",
    "p2c",
    "jsq",
    "br0",
    "brh:beta=43,gamma=0.86",
    BRH,
    f"{BRH},predictor=survival",
    f"{BRH},predictor=exact-match",
    "token-jsq",
    "level-plus",
    "level-h",
]
SCALING = ["jsq", "br0", BRH, "level-plus"]
SIXTEEN = ["jsq", "br0", "brh:beta=43,gamma=0.86", BRH, "level-plus"]
SENSITIVITY = [f"brh:beta={beta},gamma=0.9" for beta in (1, 24, 48, 96)]
SENSITIVITY += [f"brh:beta=48,gamma={gamma}" for gamma in (0.5, 0.7, 1.0)]
PROMPT_CV = {"proprietary-like": 1.76, "azure2024-like": 0.63}
SYSTEM = {"slots": 8, "queue": 64, "begin": 20_000, "iterations": 1_500, "every": 5, "overtake": None, "recurrence": 0.5}
PARTS = [
    # part, workload, workers, policies
    ("methods", "proprietary-like", 8, METHODS),
    ("methods", "azure2024-like", 8, METHODS),
    ("workers", "proprietary-like", 4, SCALING),
    ("workers", "proprietary-like", 16, SIXTEEN),
    ("sensitivity", "proprietary-like", 8, SENSITIVITY),
    ("sensitivity", "proprietary-like", 16, SENSITIVITY),
]


def cells(scale):
    """One cell a part, workload and number of workers; both scales are the same."""
    return [
        (
            "lbtheory.decode.tasks:trajectories",
            {"part": part, "workload": w, "workers": g, "policies": policies, "prompt_cv": PROMPT_CV[w], **SYSTEM},
            0,
        )
        for part, w, g, policies in PARTS
    ]
