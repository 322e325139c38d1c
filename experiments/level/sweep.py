"""LEVEL and LEVEL+ beside BalanceRoute on many workloads, and the price of fairness; data only."""

from lbtheory.decode.traces.public import SYSTEMS, public_traces

TITLE = "Levelling beside BalanceRoute: evidence, where it loses, and the frontier of waits"
REFERENCE = "lbtheory; BalanceRoute as in the decode paper, section 5"
SECONDS = {"quick": 110, "full": 1_300}  # one process

POLICIES = [
    "jsq",
    "token-jsq",
    "br0",
    "brh:beta=14.67,gamma=0.64",
    "brh:beta=43,gamma=0.86",
    "brh:beta=43,gamma=0.86,predictor=survival",
    "level:window=32",
    "level-plus",
    "level-plus:window=4,overtake=16",
    "level-h",
    "level-h:predictor=survival",
]
SYNTHETIC = [
    # name, source, (workers, slots)
    ("proprietary-like", {"trace": "proprietary-like"}, [(8, 8), (8, 32)]),
    ("Azure-2024-like", {"trace": "azure2024-like"}, [(8, 8), (8, 32)]),
    ("geometric 1/100, U{1..100}", {"p": "1/100", "prompts": "uniform:100"}, [(8, 64)]),
    ("geometric 1/1000, U{1..4000}", {"p": "1/1000", "prompts": "uniform:4000"}, [(8, 64)]),
    ("geometric 1/20, U{1..50}", {"p": "1/20", "prompts": "uniform:50"}, [(8, 64)]),
]
FRONTIER = ("Azure-2024-like", "proprietary-like", "Etalon ShareGPT", "Mooncake conversation")
CAPS = (0, 4, 16, 64, 256, 1_024, None)
RULES = ["br0", "brh:beta=43,gamma=0.86", "level-plus", "level-h"]
SEEDS = {"quick": 1, "full": 10}
LAW_STEPS = 20_000


def _systems():
    found = list(SYNTHETIC)
    found += [(name, {"public": name, "filters": [["first", "8000"]]}, SYSTEMS[name]) for name in public_traces()]
    return found


def _run(name, source, workers, slots, cap, policies, factor):
    timed = {"steps": LAW_STEPS} if "p" in source else {}
    warmup = {"warmup": 3_000 if "p" in source else 500}
    system = {"workload": name, "source": source, "workers": workers, "slots": slots, "overtake": cap, "queue": 64}
    return ("lbtheory.decode.tasks:versus", {**system, "policies": policies, "factor": factor, **timed, **warmup})


def cells(scale):
    """The evidence at a cap of 64 for every rule, then the frontier over caps."""
    found = []
    for name, source, shapes in _systems():
        seeds = range(SEEDS[scale] if "public" not in source else 1)
        found += [(*_run(name, source, g, b, 64, POLICIES, "evidence"), seed) for g, b in shapes for seed in seeds]
        if name in FRONTIER:
            g, b = shapes[0]
            found += [(*_run(name, source, g, b, cap, ["jsq", *RULES], "frontier"), seed) for cap in CAPS for seed in seeds]
    return found
