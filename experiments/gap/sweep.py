"""How far fast rules are from exact IO_H on the same states; data only."""

TITLE = "Gap to the exact optimum on the same states"
REFERENCE = "decode paper, sections 3 and 5"
SECONDS = {"quick": 6, "full": 60}  # one process

POLICIES = [
    "br0",
    "brh:horizon=HORIZON,gamma=0.86,beta=43",
    "level-plus",
    "level-x",
    "spread-lex",
    "min-max",
    "min-max:ties=smallest-total",
    "token-jsq",
    "jsq",
    "rr",
    "random",
    "p2c",
]
SYSTEM = {
    "workers": 8,
    "slots": 64,
    "p": "1/100",
    "prompts": "uniform:100",
    "queue": 256,
    "driver": "br0",
    "warmup": 400,
    "every": 5,
    "time_limit": 20.0,
    "policies": POLICIES,
}
WINDOWS = [(0, 1.0), (20, 1.0)]
STATES, SEEDS = 40, {"quick": 1, "full": 10}


def cells(scale):
    """A cell a window and run, so that a stopped sweep goes on where it was; the full scale has ten independent runs."""
    return [
        ("lbtheory.decode.tasks:gaps", {"horizon": h, "gamma": gamma, "states": STATES, **SYSTEM}, seed)
        for h, gamma in WINDOWS
        for seed in range(SEEDS[scale])
    ]
