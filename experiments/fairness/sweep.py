"""Balance against waits: caps on overtaking and on waiting, a penalty on waits by tenant, and both; data only."""

TITLE = "Fairness: imbalance against the longest wait, and tenants with weights"
REFERENCE = "lbtheory; the decode paper's conclusion lists it as open"
SECONDS = {"quick": 55, "full": 4_000}  # one process

SOURCE = {"p": "1/100", "prompts": "uniform:1000", "tenants": "1,4"}
SYSTEM = {"workload": "geometric 1/100, U{1..1000}", "source": SOURCE, "workers": 8, "slots": 16, "queue": 64, "warmup": 500}
RULES = ["br0", "br0:greedy=0", "level-plus"]
FORECASTING = ["brh:beta=14.67,gamma=0.64", "level-h"]
"""With the oracle's forecasts, under the overtaking cap alone."""
OVERTAKES = (0, 4, 16, 64, 256, None)
PATIENCES = (0, 55, 70, 100, 200, 800)
BONUSES = (0.1, 0.5, 2.0, 10.0, 50.0)
BOTH = 100
"""The waiting cap that goes with a bonus, iterations."""
BOTH_BONUSES = {"quick": (0.5, 10.0), "full": BONUSES}
EXACT_BONUSES = {"quick": (2.0, 10.0, 50.0), "full": BONUSES}
STEPS = {"quick": 5_000, "full": 20_000}
PLAIN_STEPS = {"quick": 2_000, "full": 20_000}
EXACT_STEPS = {"quick": 1_000, "full": 4_000}
CAPPED_STEPS = 1_500
SEEDS = {"quick": 1, "full": 8}
EXACT_SEEDS = {"quick": 1, "full": 4}


def _cell(factor, value, policies, overtake, seed, steps):
    run = {"factor": factor, "value": value, "policies": policies, "overtake": overtake, "steps": steps}
    return ("lbtheory.decode.tasks:versus", {**SYSTEM, **run}, seed)


def _with(name, option):
    return f"{name}{',' if ':' in name else ':'}{option}"


def cells(scale):
    """A cell a kind of control, value and seed."""
    found = []
    for seed in range(SEEDS[scale]):
        steps, plain = STEPS[scale], PLAIN_STEPS[scale]
        for cap in OVERTAKES:
            found.append(
                _cell("overtaking cap", -1.0 if cap is None else float(cap), ["jsq", *RULES, *FORECASTING], cap, seed, steps)
            )
        for patience in PATIENCES:
            policies = [_with(name, f"patience={patience}") for name in RULES]
            found.append(_cell("waiting cap", float(patience), ["jsq", *policies], None, seed, steps))
        for bonus in BONUSES:
            policies = [_with(name, f"bonus={bonus}") for name in RULES[:2]]
            found.append(_cell("bonus on waits", bonus, ["jsq", *policies], None, seed, plain))
        for bonus in BOTH_BONUSES[scale]:
            policies = [_with(name, f"bonus={bonus},patience={BOTH}") for name in RULES[:2]]
            found.append(_cell("bonus and waiting cap", bonus, ["jsq", *policies], None, seed, plain))
    for seed in range(EXACT_SEEDS[scale]):  # every decision is solved exactly
        steps = EXACT_STEPS[scale]
        for bonus in EXACT_BONUSES[scale]:
            found.append(_cell("bonus on waits", bonus, ["jsq", f"io:bonus={bonus}"], None, seed, steps))
        both = f"io:bonus=10.0,patience={BOTH}"
        found.append(_cell("bonus and waiting cap", 10.0, ["jsq", both], None, seed, steps))
    if scale == "full":  # a cap alone leaves CP-SAT more to prove: minutes
        found.append(_cell("overtaking cap", 64.0, ["jsq", "io"], 64, 0, CAPPED_STEPS))
        found.append(_cell("waiting cap", 100.0, ["jsq", "io:patience=100"], None, 0, CAPPED_STEPS))
    return found
