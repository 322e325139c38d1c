"""The worst single decision of rules without forecasts against exact IO_0, by search; data only."""

TITLE = "The worst single decision of a rule, found by search"
REFERENCE = "lbtheory; BR-0 and IO_0 as in the decode paper, sections 3 and 5"
SECONDS = {"quick": 20, "full": 500}  # one process

POLICIES = ["br0", "level-plus", "level-x", "token-jsq", "jsq"]
# free slots of the workers, largest size, waiting
SMALL = [
    ([1, 1], 4, 4),
    ([2, 2], 10, 8),
    ([1] + [0] * 7, 100, 4),
    ([1] + [0] * 7, 100, 256),
    ([1, 1, 1] + [0] * 5, 100, 32),
    ([1, 1, 1] + [0] * 5, 100, 256),
]
REAL = [([8] * 8, 100, 64), ([8] * 8, 100, 128), ([8] * 8, 4_000, 192), ([8] * 8, 100, 192)]
WHOLE = ["level-plus:window=0", "level-x:window=256"]
"""The same rules, looking at the whole queue."""
LARGE = [([8] * 64, 100, 1_024)]
# systems, rules; starts, climbs and moves of a group of restarts, groups
EFFORT = {
    "quick": [
        (SMALL, POLICIES, (100, 2, 300), 1),
        (REAL, POLICIES, (60, 1, 400), 1),
        (REAL[3:], WHOLE, (60, 1, 400), 1),
    ],
    "full": [
        (SMALL, POLICIES, (200, 4, 2_000), 2),
        (SMALL[2:], ["spread-lex"], (100, 2, 500), 1),
        (REAL, POLICIES, (200, 2, 4_000), 2),
        (REAL[3:], WHOLE, (200, 2, 4_000), 2),
        (LARGE, POLICIES, (40, 1, 1_000), 1),
    ],
}
"""SpreadLex is IO_0 with two workers; with many free slots its special method would leave decisions to a solver."""


def cells(scale):
    """A cell a system, rule and group of restarts."""
    return [
        (
            "lbtheory.decode.adversary_tasks:worst_gap",
            {
                "policy": policy,
                "free": free,
                "largest": largest,
                "queue": queue,
                "starts": starts,
                "climbs": climbs,
                "moves": moves,
            },
            group,
        )
        for systems, policies, (starts, climbs, moves), groups in EFFORT[scale]
        for free, largest, queue in systems
        for policy in policies
        for group in range(groups)
    ]
