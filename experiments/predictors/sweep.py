"""What forecasts know, and what each costs in imbalance against the oracle; data only."""

from lbtheory.decode.traces.public import public_traces

TITLE = "Forecasts: accuracy by age, calibration, and regret"
REFERENCE = "decode paper, section 6.2 and EC.6"
SECONDS = {"quick": 110, "full": 1_200}  # one process

LEARNED = "learned/every=64/samples=20000"
FORECASTS = [
    "oracle",
    "noisy/error=0.3",
    "noisy/error=1",
    "exact-match/minimum=1",
    "exact-match",
    "exact-match/key=prompt",
    LEARNED,
    "survival",
]
HAZARDS = [
    "survival,horizon=20",
    "survival,horizon=20,projection=hazard",
    "exact-match/minimum=1,horizon=20,projection=hazard",
]
WORKLOADS = {
    # source; slots a worker; age buckets
    "hashes recur": (
        {"trace": "azure2024-like", "recurrence": 0.9, "output_correlation": 0.98, "requests": 24_000},
        128,
        [0, 500, 1_000, 1_050, 1_100],
    ),
    "no hash recurs": ({"trace": "azure2024-like", "requests": 24_000}, 128, [0, 500, 1_000, 1_050, 1_100]),
    "long tail": (
        {"trace": "proprietary-like", "recurrence": 0.5, "prompt_cv": 1.2, "requests": 24_000},
        128,
        [0, 500, 1_000, 2_000, 4_000],
    ),
    "memoryless": ({"p": "1/100", "prompts": "uniform:100"}, 64, [0, 50, 100, 200]),
}
SEEDS = {"quick": 3, "full": 12}


def _regret(label, source, slots, seeds):
    """BR-H and LEVEL-H+ with every forecast; the oracle is the reference of the pairs."""
    steps = 16_000 if "p" in source else None
    system = {
        "workload": label,
        "source": source,
        "workers": 8,
        "slots": slots,
        "overtake": 64,
        "warmup": 3_000,
        "steps": steps,
    }
    each = [f"{name},refresh=iteration,cap=1" for name in ("oracle", "survival")]
    hazards = HAZARDS if label in ("hashes recur", "memoryless") else []
    plain = [name for name in FORECASTS if name != LEARNED]
    families = {
        "brh:beta=43,gamma=0.86,predictor=": ("br0", [*FORECASTS, *each, *hazards]),
        "level-h:predictor=": ("level-plus", plain),
    }
    return [
        ("lbtheory.decode.tasks:versus", {**system, "policies": [*(prefix + name for name in names), none]}, seed)
        for prefix, (none, names) in families.items()
        for seed in range(seeds)
    ]


def cells(scale):
    """Accuracy, cost of a query, learning inside a run, and regret."""
    found = []
    public = {
        name: ({"public": name, "split": True}, 16, [0, 100, 300, 600])
        for name in ("Mooncake conversation", "Azure 2023 conversation")
        if name in public_traces()
    }
    for label, (source, slots, buckets) in {**WORKLOADS, **public}.items():
        looks = {"horizon": 80, "every": 10 if max(buckets) < 1_000 else 40, "buckets": buckets}
        drawn = {**source, "requests": 12_000} if "p" in source else source
        found.append(
            (
                "lbtheory.decode.forecast_tasks:accuracies",
                {"workload": label, "source": drawn, "predictors": FORECASTS, "requests": 3_000, **looks},
                0,
            )
        )
        found += _regret(label, source, slots, 1 if label in public else SEEDS[scale])
    system = {"workload": "hashes recur", "source": WORKLOADS["hashes recur"][0], "workers": 8, "slots": 64, "horizon": 80}
    names = [*FORECASTS, "survival+hazard", "exact-match/minimum=1+hazard"]
    found.append(("lbtheory.decode.forecast_tasks:query_costs", {**system, "predictors": names, "repeats": 15}, 0))
    young = {"workload": "young run", "source": {"trace": "proprietary-like"}, "workers": 8, "slots": 64, "horizon": 80}
    iterations = [200, 400, 800, 1_600, 3_200, 6_400]
    found.append(("lbtheory.decode.forecast_tasks:censoring", {**young, "iterations": iterations}, 0))
    return found
