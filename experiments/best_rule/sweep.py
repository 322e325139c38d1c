"""LEVEL-X beside LEVEL+, exact IO_0, BR-0 and FCFS from weak to strong control, tuning half and held-out half; data only."""

from lbtheory.decode.traces.public import PUBLIC, SYSTEMS, public_traces

TITLE = "The best prediction-free rule: tuned on half of the workloads, reported on the other half"
REFERENCE = "lbtheory; BR-0 and IO_0 as in the decode paper"
SECONDS = {"quick": 150, "full": 700}  # one process

POLICIES = ["level-plus", "level-x", "br0", "jsq"]
EXACT = ["level-plus", "level-x", "io:fallback=best,time_limit=0.2"]
# p, prompts, iterations, (workers, slots)
TUNING = [
    ("1/1000", "uniform:4000", 20_000, (8, 64)),
    ("1/100", "uniform:100", 20_000, (8, 64)),
    ("1/100", "uniform:100", 6_000, (64, 64)),
    ("1/100", "lognormal:300:1:3000", 20_000, (8, 32)),
    ("1/20", "uniform:50", 12_000, (8, 64)),
    ("1/10", "uniform:50", 6_000, (8, 64)),
    ("1/4", "uniform:16", 1_200, (16, 32)),
    ("1/3", "uniform:60", 800, (8, 128)),
]
HELD_OUT = [
    ("1/500", "uniform:2000", 20_000, (16, 32)),
    ("1/200", "lognormal:600:1.2:8000", 20_000, (8, 64)),
    ("1/300", "uniform:300", 12_000, (32, 64)),
    ("1/50", "uniform:200", 10_000, (16, 64)),
    ("1/20", "uniform:50", 5_000, (64, 32)),
    ("1/6", "uniform:40", 3_000, (12, 48)),
    ("1/7", "lognormal:80:1:1000", 3_000, (8, 64)),
    ("1/3", "uniform:200", 1_000, (8, 40)),
]
SYNTHETIC = [("proprietary-like", (8, 8)), ("proprietary-like", (8, 32)), ("azure2024-like", (8, 8))]
SEEDS = {"tuning": 1_000, "held out": 2}
REPEATS = {"quick": 1, "full": 5}
SOLVED = {"quick": 60, "full": 600}
WITH_EXACT = (3, 5)
"""Held-out laws that exact IO_0 also runs on, under the same cap."""


def _run(part, name, source, shape, policies, warmup, steps, seed):
    system = {"part": part, "workload": name, "source": source, "workers": shape[0], "slots": shape[1], "policies": policies}
    more = {} if steps is None else {"steps": steps}
    return ("lbtheory.decode.control_tasks:by_control", {**system, "overtake": 64, "queue": 64, "warmup": warmup, **more}, seed)


def cells(scale):
    """Public traces alternate between the halves in the order in which they are listed."""
    found, at_hand = [], public_traces()
    for number, name in enumerate(PUBLIC):
        part = "held out" if number % 2 else "tuning"
        warmup = 30 if "APEX" in name or "300" in name else 500
        if name in at_hand:
            found += [_run(part, name, {"public": name}, s, POLICIES, warmup, None, SEEDS[part]) for s in SYSTEMS[name]]
    for repeat in range(REPEATS[scale]):
        for part, laws in (("tuning", TUNING), ("held out", HELD_OUT)):
            seed = SEEDS[part] + repeat
            for p, prompts, steps, shape in laws:
                name, source = f"geometric {p}, {prompts}", {"p": p, "prompts": prompts}
                found.append(_run(part, name, source, shape, POLICIES, steps // 4, steps, seed))
        found += [
            _run("tuning", name, {"trace": name}, shape, POLICIES, 500, None, SEEDS["tuning"] + repeat)
            for name, shape in SYNTHETIC
        ]
    steps = SOLVED[scale]
    for p, prompts, _, shape in (HELD_OUT[i] for i in WITH_EXACT):
        name, source = f"geometric {p}, {prompts}", {"p": p, "prompts": prompts}
        found.append(_run("held out, exact", name, source, shape, EXACT, steps // 3, steps, SEEDS["held out"]))
    return found
