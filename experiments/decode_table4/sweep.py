"""Table 4 of the decode paper: 4, 8 and 16 workers on the first workload, and on public traces; data only."""

from lbtheory.decode.traces.public import public_traces

TITLE = "The published methods and ours on 4, 8 and 16 workers"
REFERENCE = "decode paper, Table 4 and section 6.3"
SECONDS = {"quick": 75, "full": 750}  # one process

BRH = "brh:beta=14.67,gamma=0.64"
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
    f"{BRH},predictor=exact-match",
    "level-plus",
    "level-h",
    "level-h:predictor=survival",
    "level-h:predictor=exact-match",
]
JSQ_ROW = {"jsq_imbalance": 215_110.0, "jsq_throughput": 843.0, "jsq_tpot_p95": 0.0832}
SYSTEM = {"workload": "proprietary-like", "slots": 8, "queue": 64, "warmup": 4_000, "recurrence": 0.5, "calibrated_on": 8}
SEEDS = {"quick": 2, "full": 20}
TRACE_POLICIES = ["jsq", "token-jsq", "br0", "brh:beta=43,gamma=0.86", BRH, "level-plus", "level-h"]
TRACE_SYSTEM = {"slots": 8, "queue": 64, "warmup": 300, "overtake": 64}
TRACE_STEPS = {"quick": 10_000, "full": 100_000}
SMALL = ("APEX", "ShareGPT 300")
"""Files of about a thousand requests and fewer, which are replayed whole."""


def cells(scale):
    """One cell a number of workers, overtaking cap and seed; all are calibrated on the JSQ row of eight workers."""
    found = [
        ("lbtheory.decode.tasks:replay", {"policies": POLICIES, "workers": g, "overtake": cap, **JSQ_ROW, **SYSTEM}, seed)
        for g in (4, 8, 16)
        for cap in (None, 64)
        for seed in range(SEEDS[scale])
    ]
    for name in public_traces():
        source = {"public": name, "split": not name.startswith(SMALL)}
        run = {"workload": name, "source": source, "policies": TRACE_POLICIES, "steps": TRACE_STEPS[scale], **TRACE_SYSTEM}
        found += [("lbtheory.decode.tasks:versus", {**run, "factor": "public trace", "workers": g}, 0) for g in (4, 8, 16)]
    return found
