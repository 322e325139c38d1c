"""Beyond the theorem's assumptions on requests and releases, and two comparators; data only."""

TITLE = "Robustness: other laws of requests and releases, separate queues, a relaxed barrier"
REFERENCE = "lbtheory; the decode paper's conclusion lists it as open"
SECONDS = {"quick": 40, "full": 900}  # one process

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
CLASSES = [
    "jsq",
    "token-jsq",
    "br0",
    BRH,
    f"{BRH},predictor=survival",
    f"{BRH},predictor=exact-match",
    "level-plus",
    "level-h:predictor=exact-match",
]
SEPARATE = ["separate", "separate:bind=rr", "separate:bind=tokens"]
CORRELATIONS = (-0.9, -0.5, 0.0, 0.5, 0.9)
LOADS = (0.6, 0.8, 0.9, 1.0)
RATIOS = (1, 3, 10, 30)
"""Mean output of the long class over that of the short one; 80 % are short, the mean of all is 100."""
POWERS = (0.0, 0.5, 1.0, 2.0)
PAUSES = (0.0, 0.05, 0.1, 0.2)
STEP_TIMES = {"52 ms + 0.39 µs a token": (0.0523, 3.9e-7), "5 ms + 0.39 µs a token": (0.005, 3.9e-7)}
"""Calibrated on Table 3, and one that is mostly token work."""
PAUSE_STEPS = {"quick": 8_000, "full": 40_000}
PAUSE_SEEDS = {"quick": 3, "full": 10}
LAW_STEPS = {"quick": 10_000, "full": 40_000}
SEEDS = {"quick": 1, "full": 10}
MEAN_OUTPUT = 1_185
TASK = "lbtheory.decode.tasks:versus"
SYSTEM = {"workers": 8, "slots": 16, "overtake": 64}


def _hazards(ratio):
    """80 % short and 20 % long outputs with this ratio of means and overall mean 100."""
    return {"p": f"{4 + ratio}/500:0.8,{4 + ratio}/{500 * ratio}:0.2", "prompts": "uniform:1000"}


def cells(scale):
    """A cell a factor, value and seed; 8 × 16 slots, overtaking cap 64."""
    common = {**SYSTEM, "workload": "proprietary-like", "warmup": 4_000}
    source = {"trace": "proprietary-like", "prompt_cv": 1.2}
    found = []
    for seed in range(SEEDS[scale]):
        for rho in CORRELATIONS:
            run = {"factor": "prompt-output correlation", "value": rho, "source": {**source, "prompt_correlation": rho}}
            found.append((TASK, {**common, "policies": POLICIES, **run}, seed))
        for load in LOADS:
            release = {"release": f"poisson:{load * 128 / MEAN_OUTPUT:.5f}", "start": "empty", "source": source}
            run = {"factor": "load", "value": load, "policies": [*POLICIES, *SEPARATE], **release}
            found.append((TASK, {**common, **run}, seed))
        for ratio in RATIOS:
            law = {"workload": "two hazards, U{1..1000}", "source": _hazards(ratio), "steps": LAW_STEPS[scale], "warmup": 1_000}
            run = {"factor": "long ÷ short mean output", "value": float(ratio), "policies": CLASSES, **law}
            found.append((TASK, {**SYSTEM, **run}, seed))
        for power in POWERS:
            release = {"release": f"size-paced:{0.9 * 128 / MEAN_OUTPUT:.5f}:{power}", "start": "empty", "source": source}
            run = {"factor": "gaps ∝ size^power, load 0.9", "value": power, "policies": POLICIES, **release}
            found.append((TASK, {**common, **run}, seed))
    for seed in range(PAUSE_SEEDS[scale]):
        for name, (fixed, token) in STEP_TIMES.items():
            for pause in PAUSES:
                relaxed = [f"{rule}:pause={pause}" for rule in ("jsq", "level-plus")]
                times = {"t_fixed": fixed, "t_token": token, "source": source, "steps": PAUSE_STEPS[scale], "warmup": 2_000}
                run = {"factor": f"pause, {name}", "value": pause, "policies": ["jsq", "level-plus", *relaxed], **times}
                found.append((TASK, {**common, **run}, seed))
    return found
