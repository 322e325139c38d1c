"""Running one cell, wherever it runs: what it gave, how long it took, how much memory its process has used."""

import resource
import time
import traceback
from dataclasses import dataclass

from lbtheory.study import tasks
from lbtheory.study.discovery import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Records of a cell, or the traceback of its failure (then ``records`` is empty).

    ``seconds`` is wall time, ``peak_memory`` the largest resident size so far of the process that ran it, MiB.
    """

    records: list[tasks.Record]
    seconds: float
    peak_memory: float
    error: str | None = None
    trace: str | None = None


def attempt(cell: Cell) -> Attempt:
    """Run a cell; what it raises becomes part of the result."""
    start, records, error, trace = time.perf_counter(), [], None, None
    try:
        records = tasks.run(cell.task, cell.parameters, cell.seed)
    except Exception as problem:
        error, trace = f"{type(problem).__name__}: {problem}", traceback.format_exc()
    seconds = time.perf_counter() - start
    return Attempt(records=records, seconds=seconds, peak_memory=peak_memory(), error=error, trace=trace)


def limited(cell: Cell, time_limit: float | None) -> Attempt:
    """`attempt`, in a process of its own that is killed after ``time_limit`` seconds where there is a limit."""
    if time_limit is None:
        return attempt(cell)
    from lbtheory.study.isolated import attempt_within

    return attempt_within(cell, time_limit)


def out_of_time(limit: float) -> str:
    """What is said of a cell that exceeded ``limit`` seconds."""
    return f"TimeLimit: it ran longer than {limit:g} s and was stopped"


def lost(what: str, seconds: float) -> Attempt:
    """A cell that never came back."""
    return Attempt(records=[], seconds=seconds, peak_memory=0.0, error=what, trace=what)


def peak_memory() -> float:
    """Largest resident size of this process, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
