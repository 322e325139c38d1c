"""Beyond independent outputs and full slots: prompts that say something about outputs, and timed arrivals; data only."""

TITLE = "Robustness: prompt-output correlation, and load below saturation"
REFERENCE = "lbtheory; the decode paper's conclusion lists it as open"
SECONDS = {"quick": 40, "full": 500}  # one process

BRH = "brh:beta=14.67,gamma=0.64"
POLICIES = [
    "jsq",
    "token-jsq",
    "br0",
    BRH,
    f"{BRH},predictor=exact-match/key=prompt",
    "level-plus",
    "level-plus:phi=0",
    "level-h:predictor=exact-match/key=prompt",
]
CORRELATIONS = (-0.9, -0.5, 0.0, 0.5, 0.9)
LOADS = (0.6, 0.8, 0.9, 1.0)
SEEDS = {"quick": 1, "full": 10}
MEAN_OUTPUT = 1_185


def cells(scale):
    """A cell a factor, value and seed; the proprietary-like workload at 8 × 16 slots, overtaking cap 64."""
    common = {"workload": "proprietary-like", "policies": POLICIES, "workers": 8, "slots": 16, "overtake": 64, "warmup": 4_000}
    source = {"trace": "proprietary-like", "prompt_cv": 1.2}
    found = []
    for seed in range(SEEDS[scale]):
        for rho in CORRELATIONS:
            run = {"factor": "prompt-output correlation", "value": rho, "source": {**source, "prompt_correlation": rho}}
            found.append(("lbtheory.decode.tasks:versus", {**common, **run}, seed))
        for load in LOADS:
            rate = load * 128 / MEAN_OUTPUT
            run = {"factor": "load", "value": load, "release": f"poisson:{rate:.5f}", "start": "empty", "source": source}
            found.append(("lbtheory.decode.tasks:versus", {**common, **run}, seed))
    return found
