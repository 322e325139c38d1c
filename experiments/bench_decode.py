"""Speed of the compiled decode engine: microseconds an iteration by policy, workers, slots and queue; compile time apart.

    python -m experiments.bench_decode [--quick]

The main table is the public workload of the field's one simulator of this model: 256 workers of 72 slots, 100,000 requests, all
present at the start, prompts and outputs from a truncated bivariate normal. One thread. These are wall times: on a shared
machine compare rows of one run, not runs.
"""

import argparse
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from lbtheory.core import generator
from lbtheory.decode.engine import simulate
from lbtheory.decode.policies import make_policy
from lbtheory.decode.predictors import History
from lbtheory.decode.stream import RequestStream, request_stream
from lbtheory.decode.traces import at_iterations, bivariate_normal, saturated

POLICIES = [
    "jsq",
    "rr",
    "p2c",
    "token-jsq",
    "br0",
    "level",
    "level-plus",
    "level-x",
    "brh:beta=14.67,gamma=0.64",
    "brh:beta=14.67,gamma=0.64,refresh=iteration",
    "brh:beta=14.67,gamma=0.64,predictor=survival",
    "level-h",
]
TARGETS = {"jsq": 10.0, "br0": 30.0, "level-plus": 30.0, "brh:beta=14.67,gamma=0.64": 150.0}
DECISION_TARGETS = {"br0": 10.0, "brh:beta=14.67,gamma=0.64": 50.0}
GROWTH = ["jsq", "br0", "level-plus", "brh:beta=14.67,gamma=0.64"]


def main_stream(requests: int) -> tuple[RequestStream, History]:
    """Everything present at iteration 1."""
    trace = bivariate_normal(requests, 0)
    other = bivariate_normal(10_000, 1)
    stream = request_stream(trace.prompts, trace.outputs, at_iterations(np.ones(requests, int)), seed=0)
    return stream, History(prompts=other.prompts, outputs=other.outputs)


def steady_stream(workers: int, slots: int, queue: int, steps: int) -> RequestStream:
    """A saturated geometric stream with 0.06 completions a worker and iteration, whatever ``B``."""
    p = 0.06 / slots
    n = int(workers * slots + queue + steps * workers * 0.06 * 1.1 + 2_000)
    rng = generator(0, "bench", workers, slots, queue)
    return request_stream(rng.integers(1, 5_001, n), rng.geometric(p, n), saturated(queue), seed=0)


def marks(
    stream: RequestStream, name: str, workers: int, slots: int, history: History | None, steps: int | None = None
) -> np.ndarray:
    """Wall time and iterations done after each chunk of iterations, one row a chunk."""
    rows: list[tuple[float, int]] = []
    simulate(
        stream,
        make_policy(name, history=history),
        workers=workers,
        slots=slots,
        steps=steps,
        engine="compiled",
        progress=lambda done, finished: rows.append((time.perf_counter(), done)),
    )
    return np.array(rows)


def chunk_times(*args: Any) -> np.ndarray:
    """Microseconds an iteration by chunk; laying out the stream and the first chunk, with its first fill, are left out."""
    return np.asarray(1e6 * np.divide(*np.diff(marks(*args), axis=0).T))


def per_iteration(*args: Any) -> float:
    """Mean microseconds an iteration; the better of two runs."""
    return float(min(chunk_times(*args).mean() for _ in range(2)))


def compile_seconds() -> dict[str, float]:
    """First call of each family; seconds, near 0 when the cache is warm."""
    stream = request_stream(np.array([3, 5, 4, 2]), np.array([2, 3, 1, 2]), at_iterations([1, 1, 2, 2]))
    result = {}
    for name in ("jsq", "br0", "level-plus"):
        began = time.perf_counter()
        marks(stream, name, 2, 1, None)
        result[name] = time.perf_counter() - began
    return result


def decision(name: str, steps: int) -> tuple[float, float]:
    """A decision at ``G = 8, B = 64, p = 1/100, R_max = 4``: median over chunks and mean, microseconds.

    Whole iterations are timed, of which 99 in 100 admit; so these are upper bounds.
    """
    workers, slots = 8, 64
    rng = generator(0, "bench", "decision")
    n = workers * slots + 64 + steps * 8
    stream = request_stream(rng.integers(1, 101, n), rng.geometric(0.01, n), saturated(64), seed=0)
    times = chunk_times(stream, name, workers, slots, None, steps)
    return float(np.median(times)), float(times.mean())


def table(title: str, heads: list[str], rows: list[list[str]]) -> Table:
    """A plain table."""
    result = Table(title=title, title_justify="left")
    for j, head in enumerate(heads):
        result.add_column(head, justify="left" if j == 0 else "right", no_wrap=True)
    for row in rows:
        result.add_row(*row)
    return result


def growth(label: str, systems: list[tuple[int, int, int]], steps: int) -> Table:
    """Microseconds an iteration as one number grows."""
    rows = []
    for name in GROWTH:
        times = [per_iteration(steady_stream(g, b, q, steps), name, g, b, None, steps) for g, b, q in systems]
        rows.append([name, *(f"{t:.2f}" for t in times)])
    return table(f"µs an iteration as {label} grows", ["policy", *(f"G={g} B={b} queue={q:,}" for g, b, q in systems)], rows)


def run(quick: bool) -> None:
    """Print all tables."""
    console = Console(width=150)
    compiled = compile_seconds()
    first = [["seconds", *(f"{s:.2f}" for s in compiled.values())]]
    console.print(table("first call (compilation where the cache is cold)", ["", *compiled], first))
    requests, steps = (40_000, 3_000) if quick else (100_000, 10_000)
    stream, history = main_stream(requests)
    rows = []
    for name in POLICIES:
        micro = per_iteration(stream, name, 256, 72, history)
        target = TARGETS.get(name)
        rows.append(
            [
                name,
                f"{micro:.2f}",
                "" if target is None else f"≤ {target:g}",
                "" if target is None else f"{target / micro:.1f}×",
            ]
        )
    console.print(table(f"G = 256, B = 72, {requests:,} requests", ["policy", "µs an iteration", "target", "margin"], rows))
    rows = []
    for name, target in DECISION_TARGETS.items():
        median, mean = decision(name, 10_000 if quick else 100_000)
        rows.append([name, f"{median:.2f}", f"{mean:.2f}", f"≤ {target:g}"])
    console.print(
        table(
            "one decision, G = 8, B = 64, R_max = 4 (published: median 1,200 µs)",
            ["policy", "median µs", "mean µs", "target"],
            rows,
        )
    )
    console.print(growth("G", [(64, 72, 64), (256, 72, 64), (1024, 72, 64)], steps))
    console.print(growth("B", [(256, 18, 64), (256, 72, 64), (256, 288, 64)], steps))
    console.print(growth("the queue", [(256, 72, 64), (256, 72, 4_096), (256, 72, 262_144)], steps))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller streams, about ten seconds")
    run(parser.parse_args().quick)
