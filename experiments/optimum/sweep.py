"""The best long-run average imbalance of small systems, and rules beside it; data only."""

TITLE = "Is minimising today's imbalance right in the long run? Small systems, exactly"
REFERENCE = "decode paper, section 3; the long-run optimum is ours"
SECONDS = {"quick": 40, "full": 640}  # one process

# workers, slots, p, largest size
RICH = [(2, 1, p, s) for p, s in [("1/2", 2), ("1/2", 4), ("1/2", 6), ("3/10", 4), ("1/5", 3), ("1/10", 4)]]
RICH += [(3, 1, p, s) for p, s in [("1/2", 2), ("1/2", 4), ("2/5", 2), ("1/3", 2), ("3/10", 3), ("1/5", 2)]]
RICH += [(2, 2, "1/2", 2), (2, 2, "1/2", 3), (2, 2, "3/5", 4), (4, 1, "1/2", 2), (4, 1, "3/5", 3)]
# the same, and waiting requests
QUEUES = [
    (2, 1, "1/2", 3, 0),
    (2, 1, "1/2", 3, 1),
    (2, 1, "1/2", 3, 3),
    (2, 1, "3/10", 2, 4),
    (2, 1, "1/5", 3, 3),
    (2, 1, "1/10", 2, 2),
    (3, 1, "1/2", 2, 2),
    (3, 1, "1/2", 2, 4),
    (3, 1, "1/3", 2, 2),
]
# the same as the first, and iterations ahead that lives are known
LIVES = [
    (2, 1, "1/2", 4, 1),
    (2, 1, "1/2", 4, 2),
    (2, 1, "1/5", 4, 1),
    (2, 1, "1/5", 4, 2),
    (2, 1, "1/10", 4, 1),
    (3, 1, "1/2", 2, 1),
    (3, 1, "1/3", 2, 1),
]
# at full scale too; of the last the tables and vectors take more than 2 GB
MORE = {
    "rich": [
        (3, 1, "1/10", 2),
        (2, 2, "3/10", 2),
        (2, 2, "1/5", 3),
        (2, 3, "1/2", 2),
        (4, 1, "2/5", 2),
        (4, 1, "1/5", 2),
        (5, 1, "3/5", 2),
        (2, 2, "1/10", 3),
    ],
    "queues": [(2, 1, "1/5", 3, 8), (2, 1, "1/10", 3, 4), (3, 1, "2/5", 2, 8), (3, 1, "1/5", 2, 2), (2, 2, "1/2", 2, 2)],
    "lives": [(2, 1, "1/5", 4, 4), (3, 1, "1/2", 2, 2), (3, 1, "1/5", 2, 1), (2, 2, "3/5", 2, 1)],
}


def cells(scale):
    """One cell a system; sizes are uniform on 1 … s."""
    full = scale == "full"
    rows = [(*one, None, 0) for one in RICH + (MORE["rich"] if full else [])]
    rows += [(*one, 0) for one in QUEUES + (MORE["queues"] if full else [])]
    rows += [(g, b, p, s, None, look) for g, b, p, s, look in LIVES + (MORE["lives"] if full else [])]
    return [
        (
            "lbtheory.decode.mdp.tasks:averages",
            {
                "workers": g,
                "slots": b,
                "p": p,
                "sizes": list(range(1, s + 1)),
                "queue": queue,
                "look": look,
                "error": 1e-6 if g * b < 4 and not look else 2e-3,
            },
            0,
        )
        for g, b, p, s, queue, look in rows
    ]
