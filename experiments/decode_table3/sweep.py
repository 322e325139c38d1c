"""Table 3 of the decode paper on two synthetic workloads, calibrated on its JSQ rows, and on public traces; data only."""

from lbtheory.decode.traces.public import public_traces

TITLE = "The published methods and ours on two workloads, eight workers"
REFERENCE = "decode paper, Table 3"
SECONDS = {"quick": 30, "full": 300}  # one process

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
TRACE_POLICIES = [name for name in POLICIES if LEARNED not in name and name not in ("random", "rr", "p2c")]
TRACE_SYSTEM = {"workers": 8, "slots": 8, "queue": 64, "warmup": 300}
TRACE_STEPS = {"quick": 10_000, "full": 100_000}
SMALL = ("APEX", "ShareGPT 300")
"""Files of about a thousand requests and fewer, which are replayed whole."""


def cells(scale):
    """One cell a workload, overtaking cap and seed."""
    found = [
        ("lbtheory.decode.tasks:replay", {"workload": w, "policies": POLICIES, "overtake": cap, **row, **SYSTEM}, seed)
        for w, row in WORKLOADS.items()
        for cap in (None, 64)
        for seed in range(SEEDS[scale])
    ]
    for name in public_traces():
        source = {"public": name, "split": not name.startswith(SMALL)}
        run = {"workload": name, "source": source, "policies": TRACE_POLICIES, "steps": TRACE_STEPS[scale], **TRACE_SYSTEM}
        found += [("lbtheory.decode.tasks:versus", {**run, "factor": "public trace", "overtake": cap}, 0) for cap in (None, 64)]
    return found
