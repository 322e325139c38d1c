"""Figure 1 of the decode paper: loads of 32 workers under default routing, and the time lost at the barrier; data only."""

TITLE = "Token loads of 32 workers under Count-JSQ, and idle time at the barrier"
REFERENCE = "decode paper, Figure 1 and section 1"
SECONDS = {"quick": 6, "full": 40}  # one process

ROWS = {
    "proprietary-like": {"jsq_imbalance": 215_110.0, "jsq_throughput": 843.0, "jsq_tpot_p95": 0.0832},
    "azure2024-like": {"jsq_imbalance": 104_737.0, "jsq_throughput": 785.0, "jsq_tpot_p95": 0.0893},
}
PROMPT_CV = {"proprietary-like": 1.76, "azure2024-like": 0.63}
BEGIN = 12_000
POLICIES = ["jsq", "br0", "brh:beta=14.67,gamma=0.64", "level-plus", "level-h"]


def cells(scale):
    """A snapshot of each workload, and the mean idle shares at 8 and 32 workers with an overtaking cap of 64."""
    found = []
    for workload, row in ROWS.items():
        common = {"workload": workload, "slots": 8, "queue": 64, "overtake": None}
        shot = {"policies": ["jsq"], "workers": 32, "prompt_cv": PROMPT_CV[workload], "begin": BEGIN, "iterations": 1}
        found.append(("lbtheory.decode.tasks:trajectories", {**common, **shot}, 0))
        for workers in (8, 32):
            run = {"policies": POLICIES, "workers": workers, "warmup": 3_000, "calibrated_on": 8, **row, "overtake": 64}
            found += [
                ("lbtheory.decode.tasks:replay", {**common, **run}, seed) for seed in range(2 if scale == "quick" else 10)
            ]
    return found
