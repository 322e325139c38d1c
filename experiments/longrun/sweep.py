"""Exact minimisation in long runs beside other rules; data only."""

TITLE = "Exact minimisation step by step, in the long run at real sizes"
REFERENCE = "decode paper, sections 3 and 5; ours: the comparison"
SECONDS = {"quick": 30, "full": 1300}  # one process

RULES = [
    "io:fallback=best",
    "spread-lex:time_limit=1",
    "level:overtake=none",
    "level-plus:overtake=none",
    "level-x:overtake=none",
    "br0",
    "token-jsq",
    "jsq",
]
AHEAD = ["brh:horizon=40,gamma=0.86"]
SLOW = ["min-max:time_limit=1"]
QUICK = [
    ({"workers": 8, "slots": 64, "p": "1/100", "prompts": "uniform:100", "queue": 64}, 1200),
    ({"workers": 8, "slots": 64, "p": "1/20", "prompts": "uniform:50", "queue": 64}, 600),
]
FULL = [
    ({"workers": 8, "slots": 64, "p": "1/100", "prompts": "uniform:100", "queue": 256}, 20_000),
    ({"workers": 8, "slots": 64, "p": "1/20", "prompts": "uniform:50", "queue": 256}, 10_000),
    ({"workers": 64, "slots": 64, "p": "1/100", "prompts": "uniform:100", "queue": 256}, 20_000),
]


def _left_out(system):
    """Rules that ask CP-SAT at most steps of the system."""
    return SLOW + RULES[1:2] if system["p"] == "1/20" else SLOW if system["workers"] == 64 else []


def cells(scale):
    """One cell a system; the exact min-max rule asks CP-SAT at every step, so it is in the full scale only."""
    systems, rules = (QUICK, RULES + AHEAD) if scale == "quick" else (FULL, RULES + AHEAD + SLOW)
    return [
        (
            "lbtheory.decode.long_run:long_run",
            {
                **system,
                "policies": [rule for rule in rules if rule not in _left_out(system)],
                "iterations": iterations,
                "warmup": iterations // 4,
            },
            0,
        )
        for system, iterations in systems
    ]
