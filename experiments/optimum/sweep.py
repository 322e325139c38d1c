"""The best long-run average imbalance of small systems, and rules beside it; data only."""

TITLE = "Is minimising today's imbalance right in the long run? Small systems, exactly"
REFERENCE = "decode paper, section 3; the long-run optimum is ours"
SECONDS = {"quick": 30, "full": 240}  # one process

TWO = [("1/2", 2), ("1/2", 3), ("1/2", 4), ("1/2", 6), ("3/10", 2), ("3/10", 4), ("3/10", 6), ("1/5", 3), ("1/10", 4)]
THREE = [("1/2", 2), ("1/2", 3), ("1/2", 4), ("2/5", 2), ("1/3", 2), ("3/10", 3)]
WIDE = [(2, 2, "1/2", 2), (2, 2, "1/2", 3), (2, 2, "3/5", 4), (4, 1, "1/2", 2), (4, 1, "3/5", 3)]
QUEUES = [
    (2, 1, "1/2", 3, 0),
    (2, 1, "1/2", 3, 1),
    (2, 1, "1/2", 3, 3),
    (2, 1, "3/10", 2, 4),
    (3, 1, "1/2", 2, 2),
    (3, 1, "1/2", 2, 4),
]
LIVES = [
    (2, 1, "1/2", 4, 1),
    (2, 1, "1/2", 4, 2),
    (2, 1, "3/10", 4, 1),
    (2, 1, "3/10", 4, 2),
    (2, 1, "3/10", 4, 3),
    (3, 1, "1/2", 2, 1),
]
MORE = {
    "systems": [(3, 1, "1/5", 2), (2, 2, "3/10", 2), (2, 3, "1/2", 2), (4, 1, "2/5", 2), (5, 1, "3/5", 2)],
    "queues": [(2, 1, "1/5", 3, 8), (3, 1, "2/5", 2, 8), (2, 2, "1/2", 2, 2)],
    "lives": [(2, 1, "1/5", 4, 4), (3, 1, "1/2", 2, 2), (2, 2, "3/5", 2, 1)],
}


def cells(scale):
    """One cell a system; sizes are uniform on 1 … s."""
    full = scale == "full"
    systems = [(2, 1, p, s) for p, s in TWO] + [(3, 1, p, s) for p, s in THREE] + WIDE
    rows = [(g, b, p, s, None, 0) for g, b, p, s in systems + (MORE["systems"] if full else [])]
    rows += [(g, b, p, s, queue, 0) for g, b, p, s, queue in QUEUES + (MORE["queues"] if full else [])]
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
                "error": 1e-6 if g * b < 4 and not look else 1e-3,
            },
            0,
        )
        for g, b, p, s, queue, look in rows
    ]
