"""Long-run imbalance of every policy over G and B; data only."""

TITLE = "Long-run imbalance against the number of workers and slots"
REFERENCE = "decode paper, Theorem 1"
SECONDS = {"quick": 60, "full": 1200}  # one process

POLICIES = ["jsq", "rr", "random", "p2c", "token-jsq", "br0", "level", "level-plus"]
EXACT = ["io", "spread-lex"]
SYSTEM = {"p": "1/20", "prompts": "uniform:50", "queue": 256, "warmup": 400}
SLOTS = [8, 16, 32, 64, 128, 256, 512, 1024]
WORKERS = [2, 4, 8, 16, 32, 64, 128, 256]
REQUESTS = {"quick": 100_000, "full": 2_000_000}
SOLVED = {"quick": ([8, 16], 8_000), "full": ([8, 16, 32, 64], 100_000)}


def cells(scale):
    """B at G = 8, G at B = 64; exact solvers on the smallest sizes only, they solve a program at every step."""
    task = "lbtheory.verify.tasks:scaling"
    sizes = [(8, slots) for slots in SLOTS] + [(workers, 64) for workers in WORKERS if workers != 8]
    many = [
        (task, {"workers": workers, "slots": slots, "policies": POLICIES, "requests": REQUESTS[scale], **SYSTEM}, 0)
        for workers, slots in sizes
    ]
    few, requests = SOLVED[scale]
    return many + [
        (task, {"workers": 8, "slots": slots, "policies": EXACT, "requests": requests, **SYSTEM}, 0) for slots in few
    ]
