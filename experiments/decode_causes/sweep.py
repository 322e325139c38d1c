"""What could make the published ratio of 9.1 possible on the first workload: one factor at a time; data only."""

TITLE = "What could make the published ratios possible"
REFERENCE = "decode paper, Table 3, first workload"
SECONDS = {"quick": 60, "full": 600}  # one process

POLICIES = [
    "jsq",
    "br0",
    "brh:beta=14.67,gamma=0.64",
    "br0:greedy=0",
    "brh:beta=14.67,gamma=0.64,greedy=0",
    "level-plus",
    "level-h",
]
BASE = {"slots": 8, "queue": 64}
TRACE = {"trace": "proprietary-like", "prompt_cv": 1.76}
FACTORS = {
    "batch limit B": [
        (b, {"slots": b}, {} if b < 64 else {"requests": 16_000 if b == 64 else 24_000}) for b in (8, 16, 32, 64, 128)
    ],
    "requests waiting": [(q, {"queue": q}, {}) for q in (4, 16, 64, 256, 1_024, 4_000)],
    "prompt CV": [(cv, {}, {"prompt_cv": cv}) for cv in (0.4, 0.63, 1.0, 1.76, 2.5)],
    "output CV": [
        (0.05, {}, {"trace": "azure2024-like", "prompt_cv": 1.76}),
        (0.8, {}, {}),
    ],
    "burst size": [(n, {"release": f"batched:{n}:{round(18.2 * n)}"}, {}) for n in (4, 16, 64, 256)],
    "slots B, 64 in flight": [
        (b, {"slots": b, "release": "batched:16:296", "start": "empty", "policies": [*POLICIES, "random"]}, {"requests": 4_000})
        for b in (10, 16, 64)
    ],
}
SEEDS = {"quick": 2, "full": 20}


def cells(scale):
    """One cell a factor, value and seed, without an overtaking cap, as in the paper."""
    return [
        (
            "lbtheory.decode.tasks:versus",
            {
                "workload": "proprietary-like",
                "factor": factor,
                "value": float(value),
                "source": {**TRACE, **source},
                "policies": POLICIES,
                "workers": 8,
                "overtake": None,
                "warmup": 4_000,
                **{**BASE, **system},
            },
            seed,
        )
        for factor, values in FACTORS.items()
        for value, system, source in values
        for seed in range(SEEDS[scale])
    ]
