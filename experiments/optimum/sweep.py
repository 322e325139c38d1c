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
    """One cell a system; sizes are uniform on 1 … s. The cap hides at most 1e-6 tokens, 2e-3 in the large systems of `MORE`."""
    found = []
    for kind, systems in {"rich": RICH, "queues": QUEUES, "lives": LIVES}.items():
        for one in systems + (MORE[kind] if scale == "full" else []):
            workers, slots, p, top = one[:4]
            look = one[4] if kind == "lives" else 0
            small = one in systems or (workers * slots < 4 and not look)
            system = {
                "workers": workers,
                "slots": slots,
                "p": p,
                "sizes": list(range(1, top + 1)),
                "queue": one[4] if kind == "queues" else None,
                "look": look,
                "error": 1e-6 if small else 2e-3,
            }
            found.append(("lbtheory.decode.mdp.tasks:averages", system, 0))
    return found
