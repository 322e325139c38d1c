"""Table 3 of the decode paper on two synthetic workloads, calibrated on its JSQ rows; data only."""

TITLE = "The published methods and ours on two workloads, eight workers"
REFERENCE = "decode paper, Table 3"
SECONDS = {"quick": 16, "full": 160}  # one process

BRH = "brh:beta=14.67,gamma=0.64"
LEARNED = "learned/every=128/samples=20000"
POLICIES = [
    "jsq",
    "random",
    "rr",
    "p2c",
    "token-jsq",
    "br0",
    "brh:beta=43,gamma=0.86",
    BRH,
    f"{BRH},predictor=survival",
    f"{BRH},predictor=survival,projection=hazard",
    f"{BRH},predictor=exact-match",
    f"{BRH},predictor={LEARNED}",
    "level-plus",
    "level-h",
    "level-h:predictor=survival",
    "level-h:predictor=exact-match",
]
WORKLOADS = {
    # published JSQ row: mean imbalance, throughput (tokens a second), TPOT P95 (seconds)
    "proprietary-like": {"jsq_imbalance": 215_110.0, "jsq_throughput": 843.0, "jsq_tpot_p95": 0.0832},
    "azure2024-like": {"jsq_imbalance": 104_737.0, "jsq_throughput": 785.0, "jsq_tpot_p95": 0.0893},
}
SYSTEM = {"workers": 8, "slots": 8, "queue": 64, "warmup": 4_000, "recurrence": 0.5}
SEEDS = {"quick": 2, "full": 20}


def cells(scale):
    """One cell a workload, overtaking cap and seed."""
    return [
        ("lbtheory.decode.tasks:replay", {"workload": w, "policies": POLICIES, "overtake": cap, **row, **SYSTEM}, seed)
        for w, row in WORKLOADS.items()
        for cap in (None, 64)
        for seed in range(SEEDS[scale])
    ]
