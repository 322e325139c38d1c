"""Balance against waits: caps on overtaking and on waiting, a bonus on waits, and tenants with weights; data only."""

TITLE = "Fairness: imbalance against the longest wait, and tenants with weights"
REFERENCE = "lbtheory; the decode paper's conclusion lists it as open"
SECONDS = {"quick": 60, "full": 700}  # one process

SOURCE = {"p": "1/100", "prompts": "uniform:1000"}
SYSTEM = {"workload": "geometric 1/100, U{1..1000}", "source": SOURCE, "workers": 8, "slots": 16, "queue": 64, "warmup": 500}
WEIGHTS = [1, 4]
RULES = ["br0", "br0:greedy=0", "level-plus"]
OVERTAKES = (0, 4, 16, 64, 256, None)
PATIENCES = (0, 55, 70, 100, 200, 800)
BONUSES = (0.1, 0.5, 2.0, 10.0, 50.0)
STEPS = {"quick": 5_000, "full": 20_000}
PLAIN_STEPS = {"quick": 2_500, "full": 20_000}
SEEDS = {"quick": 1, "full": 8}


def _cell(scale, factor, value, policies, overtake, seed, steps=STEPS):
    run = {"factor": factor, "value": value, "policies": policies, "overtake": overtake, "weights": WEIGHTS}
    return ("lbtheory.decode.tasks:tenants", {**SYSTEM, **run, "steps": steps[scale]}, seed)


def cells(scale):
    """A cell a kind of control, value and seed."""
    found = []
    for seed in range(SEEDS[scale]):
        found += [
            _cell(scale, "overtaking cap", -1.0 if cap is None else float(cap), ["jsq", *RULES], cap, seed) for cap in OVERTAKES
        ]
        for patience in PATIENCES:
            policies = [f"{name}{',' if ':' in name else ':'}patience={patience}" for name in RULES]
            found.append(_cell(scale, "waiting cap", float(patience), ["jsq", *policies], None, seed))
        for bonus in BONUSES:
            policies = ["jsq", f"br0:bonus={bonus}", f"br0:greedy=0,bonus={bonus}"]
            found.append(_cell(scale, "bonus on waits", bonus, policies, None, seed, PLAIN_STEPS))
    if scale == "full":  # every decision is solved exactly: minutes
        short = {"full": 1_500}
        found.append(_cell(scale, "exact, waiting cap", 100.0, ["jsq", "io:patience=100,tie=none"], None, 0, short))
        found.append(_cell(scale, "exact, overtaking cap", 64.0, ["jsq", "io:tie=none"], 64, 0, short))
    return found
