"""Parameters of BR-H on the first workload: β, γ, H by forecast, S_greedy, R_max, and a map; data only."""

TITLE = "Sensitivity of BR-H to its parameters"
REFERENCE = "decode paper, section 6.4 and EC.9"
SECONDS = {"quick": 120, "full": 1_500}  # one process

JSQ_ROW = {"jsq_imbalance": 215_110.0, "jsq_throughput": 843.0, "jsq_tpot_p95": 0.0832}
SYSTEM = {"workload": "proprietary-like", "slots": 8, "queue": 64, "warmup": 4_000, "recurrence": 0.5, "calibrated_on": 8}
BETAS, GAMMAS = (1, 24, 48, 96), (0.5, 0.7, 0.9, 1.0)
HORIZONS = (0, 10, 20, 40, 50, 80, 160)
FORECASTS = ("oracle", "noisy/error=0.5", "exact-match", "survival", "learned/every=128/samples=20000")


def _brh(**options):
    return "brh:" + ",".join(f"{key}={value}" for key, value in {"beta": 48, "gamma": 0.9, **options}.items())


def sweeps(workers):
    """Policies by what is swept; the analysis reads the values from their options."""
    found = {
        "published β": [_brh(beta=beta) for beta in BETAS],
        "published γ": [_brh(gamma=gamma) for gamma in GAMMAS],
        "H": [_brh(horizon=h, predictor=name) for name in FORECASTS for h in HORIZONS],
        "S_greedy": [_brh(greedy=s) for s in (0, 1, 2, 4, 16)],
        "R_max": [_brh(window=r) for r in (1, 2, 4, 8, 12)],
    }
    found["methods, cap 64"] = [_brh(), "level-plus", "level-h"]
    if workers == 8:
        found["map"] = [_brh(beta=beta, gamma=gamma) for beta in (1, 8, 24, 48, 96) for gamma in GAMMAS]
    return found


def cells(scale):
    """One cell a number of workers, kind of sweep and seed; JSQ and BR-0 come along in each."""
    return [
        (
            "lbtheory.decode.tasks:replay",
            {
                "factor": what,
                "workers": g,
                "policies": ["jsq", "br0", *policies],
                "overtake": 64 if what.endswith("cap 64") else None,
                **JSQ_ROW,
                **SYSTEM,
            },
            seed,
        )
        for g in (8, 16)
        for what, policies in sweeps(g).items()
        for seed in range(1 if scale == "quick" else 10)
    ]
