"""Speed of exact IO_H: the special method beside CP-SAT's class-count program, with what is proved.

    python -m experiments.bench_exact [--quick]

CP-SAT runs on one thread with a time limit; where it reaches the limit, the ratio is a lower bound. Times are wall times: on a
shared machine compare rows of one run, not runs. `method` is the special method from plain arrays (`decide_io`), `solve_io` the
checked door with instance, exact fractions and result around it.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from lbtheory.core import SolverStatus, generator
from lbtheory.decode.exact import Solution, decide_io, solve_io
from lbtheory.decode.instance import DecodeInstance, decode_instance

# largest size, workers, slots, queue over slots, instances for the special method and for CP-SAT, its limit in seconds
LEVELS = [
    (10, 8, 64, 2, 20, 3, 5.0),
    (100, 4, 64, 2, 20, 3, 5.0),
    (100, 8, 64, 3, 20, 3, 5.0),
    (4000, 4, 8, 3, 20, 3, 5.0),
    (4000, 4, 64, 2, 20, 3, 12.0),
    (4000, 8, 64, 2, 20, 2, 12.0),
    (4000, 8, 64, 3, 20, 1, 12.0),
]
LARGE = [(4000, 64, 512, 2), (4000, 128, 1024, 2), (4000, 128, 1024, 3)]
WINDOWS = [(20, 100, 4, 64), (20, 4000, 4, 64), (20, 4000, 8, 64)]
RATIO, LARGE_SECONDS, FEW_MICRO, FALLBACK = 1e4, 0.5, 100.0, 1.5
TARGETED = {(4000, 4, 64), (4000, 8, 64)}


def level_instance(top: int, workers: int, slots: int, pool: int, seed: int) -> DecodeInstance:
    """Equal free slots on every worker, loads spread within what they can make up for."""
    rng = generator(0, "bench-exact", top, workers, slots, pool, seed)
    each = slots // workers
    loads = rng.integers(1, top + 1, (workers, 2 * each)).sum(axis=1) + rng.integers(0, top * each // 2 + 1, workers)
    return decode_instance(loads, [each] * workers, rng.integers(1, top + 1, pool * slots))


def window_instance(
    horizon: int, top: int, workers: int, slots: int, seed: int, full: int = 0, pool: int = 2
) -> DecodeInstance:
    """Requests in flight that leave over 20 iterations; the first ``full`` workers have no free slot."""
    rng = generator(0, "bench-window", horizon, top, workers, slots, seed, full)
    each, rows = slots // workers, []
    for _ in range(workers):
        work, left = rng.integers(1, top + 1, 2 * each), rng.integers(1, 21, 2 * each)
        rows.append([int(((work + h) * (left > h)).sum()) for h in range(horizon + 1)])
    free = [0 if g < full else each for g in range(workers)]
    return decode_instance([row[0] for row in rows], free, rng.integers(1, top + 1, pool * slots), projected=rows)


def few_slots(free: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Loads, free slots and queue of a running system: eight workers, 256 waiting, sizes to 100."""
    rng = generator(0, "bench-few", free, seed)
    slots = np.bincount(rng.integers(0, 8, free), minlength=8)
    return np.array(9_000 + rng.normal(0, 600, 8), np.int64), slots, rng.integers(1, 101, 256)


def timed(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> tuple[Any, float]:
    """What ``work`` returns and its time."""
    began = clock()
    done = work()
    return done, clock() - began


def cp_sat(instance: DecodeInstance, limit: float) -> tuple[Solution, float]:
    """CP-SAT class-count without shortcuts."""
    return timed(lambda: solve_io(instance, formulation="class-count", shortcuts=False, tie="none", time_limit=limit))


def table(title: str, heads: list[str], rows: list[list[str]]) -> Table:
    """A plain table."""
    result = Table(title=title, title_justify="left")
    for j, head in enumerate(heads):
        result.add_column(head, justify="left" if j == 0 else "right", no_wrap=True)
    for row in rows:
        result.add_row(*row)
    return result


def special(instance: DecodeInstance) -> tuple[bool, float]:
    """Whether the method proves the instance, and its time."""
    found, seconds = timed(lambda: decide_io(instance.loads, instance.free, instance.waiting))
    return found.proved, seconds


def levels(quick: bool) -> Table:
    """Special method against CP-SAT where levels are reachable."""
    rows = []
    for top, workers, slots, pool, many, few, limit in LEVELS:
        instances = [level_instance(top, workers, slots, pool, k) for k in range(many)]
        mine = [special(one) for one in instances]
        whole = [timed(lambda one=one: solve_io(one, tie="none"))[1] for one in instances]  # type: ignore[misc]
        theirs = [cp_sat(one, limit / 4 if quick else limit) for one in instances[: 1 if quick else few]]
        seconds, other = float(np.median([s for _, s in mine])), float(np.median([s for _, s in theirs]))
        reached = sum(found.status is not SolverStatus.OPTIMAL for found, _ in theirs)
        goal = f"≥ {RATIO:,.0f}" if (top, workers, slots) in TARGETED else ""
        rows.append(
            [
                f"sizes to {top}, G = {workers}, {slots} slots, queue {pool * slots}",
                f"{sum(p for p, _ in mine)}/{many}",
                f"{1e6 * seconds:.0f}",
                f"{1e6 * np.median(whole):.0f}",
                f"{len(theirs) - reached}/{len(theirs)}",
                f"{other:.3f}",
                *(f"{'> ' if 2 * reached > len(theirs) else ''}{other / s:,.0f}" for s in (seconds, np.median(whole))),
                goal,
            ]
        )
    heads = [
        "H = 0, levels in reach",
        "proved",
        "method µs",
        "solve_io µs",
        "CP-SAT proved",
        "CP-SAT s",
        "ratio",
        "of solve_io",
        "target",
    ]
    return table("special method against CP-SAT class-count", heads, rows)


def large() -> Table:
    """Many workers."""
    rows = []
    for top, workers, slots, pool in LARGE:
        mine = [special(level_instance(top, workers, slots, pool, k)) for k in range(10)]
        times = [s for _, s in mine]
        target = f"≤ {LARGE_SECONDS}" if workers == 128 else ""
        proved = f"{sum(p for p, _ in mine)}/{len(mine)}"
        rows.append(
            [
                f"G = {workers}, {slots} slots, queue {pool * slots}",
                proved,
                f"{np.median(times):.4f}",
                f"{max(times):.4f}",
                target,
            ]
        )
    return table("sizes to 4000", ["", "proved", "median s", "worst s", "target s"], rows)


def few() -> Table:
    """The usual state of a running system."""
    rows = []
    for free in range(1, 6):
        states = [few_slots(free, k) for k in range(200)]
        mine = [timed(lambda one=one: decide_io(*one)) for one in states]  # type: ignore[misc]
        times = [s for _, s in mine]
        door = [timed(lambda one=one: solve_io(decode_instance(*one), tie="none"))[1] for one in states[:50]]  # type: ignore[misc]
        rows.append(
            [
                f"{free} free",
                f"{sum(found.proved for found, _ in mine)}/200",
                f"{1e6 * np.median(times):.0f}",
                f"{1e6 * np.quantile(times, 0.99):.0f}",
                f"{1e6 * np.median(door):.0f}",
                f"≤ {FEW_MICRO:.0f}",
            ]
        )
    return table("G = 8, 256 waiting, sizes to 100", ["", "proved", "method µs", "99 % µs", "solve_io µs", "target µs"], rows)


def windows(quick: bool) -> Table:
    """Windows of 20 iterations."""
    rows = []
    for horizon, top, workers, slots in WINDOWS:
        instances = [window_instance(horizon, top, workers, slots, k) for k in range(5)]
        mine = [timed(lambda one=one: solve_io(one, tie="none", time_limit=2.0)) for one in instances]  # type: ignore[misc]
        proved = [found.method in ("window", "search") for found, _ in mine]
        other, seconds = cp_sat(instances[0], 2.0 if quick else 6.0)
        rows.append(
            [
                f"H = {horizon}, sizes to {top}, G = {workers}, {slots} slots",
                f"{sum(proved)}/5",
                f"{1e3 * np.median([s for _, s in mine]):.1f}",
                f"{seconds:.2f}",
                str(other.status.value),
            ]
        )
    return table("windows, γ = 1", ["", "proved by the method", "solve_io ms", "CP-SAT s", "CP-SAT"], rows)


def poor_levels(seed: int) -> DecodeInstance:
    """Few requests of many sizes: levels that sums hardly ever hit."""
    rng = generator(0, "bench-poor", seed)
    free = np.bincount(rng.integers(0, 4, 8), minlength=4)
    return decode_instance(rng.integers(0, 4000, 4), free, rng.integers(1, 4001, 12))


FALLBACKS: list[tuple[str, Callable[[int], DecodeInstance]]] = [
    ("H = 3, G = 4, one worker full, 9 of 12 slots, sizes to 100", lambda seed: window_instance(3, 100, 4, 12, seed, full=1)),
    ("H = 0, G = 4, 8 slots, queue 12, sizes to 4000", poor_levels),
]


def fallback(pairs: int) -> Table:
    """Decisions that the special method leaves to CP-SAT, each solved both ways in turn; processor time, on one thread."""
    rows = []
    for title, make in FALLBACKS:
        spent: list[tuple[float, float]] = []
        agree, seed = 0, 0
        while len(spent) < pairs and seed < 20 * pairs:
            instance = make(seed)
            seed += 1
            work = [
                lambda one=instance: solve_io(one, tie="none", time_limit=10.0),  # type: ignore[misc]
                lambda one=instance: solve_io(one, formulation="class-count", tie="none", time_limit=10.0),  # type: ignore[misc]
            ]
            order = (0, 1) if seed % 2 else (1, 0)
            found = {k: timed(work[k], time.process_time) for k in order}
            if found[0][0].method != "cp-sat":
                continue
            spent.append((found[0][1], found[1][1]))
            agree += found[0][0].objective == found[1][0].objective
        mine, theirs = np.array(spent).T
        ratio = mine / theirs
        values = f"{np.median(ratio):.2f}", f"{ratio.max():.2f}", f"{mine.sum() / theirs.sum():.2f}"
        rows.append([f"{title}: {len(spent)} of {seed}", *values, f"≤ {FALLBACK}", f"{agree}/{len(spent)}"])
    heads = ["left to CP-SAT", "median ratio", "worst", "of sums", "target median", "equal value"]
    return table("after fallback, beside CP-SAT alone", heads, rows)


def run(quick: bool) -> None:
    """Print all tables."""
    console = Console(width=160)
    instance = level_instance(10, 2, 8, 2, 0)
    window = window_instance(3, 100, 4, 8, 0, full=1)
    compiled = timed(lambda: (special(instance), solve_io(instance, tie="none"), solve_io(window, tie="none")))[1]
    console.print(f"first call (compilation where the cache is cold): {compiled:.1f} s")
    console.print(few())
    console.print(large())
    console.print(fallback(6 if quick else 20))
    console.print(windows(quick))
    console.print(levels(quick))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter CP-SAT runs")
    run(parser.parse_args().quick)
