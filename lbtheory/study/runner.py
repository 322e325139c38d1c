"""Run the cells of an experiment on an engine, keep their results in the store, and write the table with its provenance."""

import json
import platform
import re
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import lbtheory
from lbtheory.core import LBTheoryError, write_whole
from lbtheory.study import tables
from lbtheory.study.discovery import Cell, Experiment
from lbtheory.study.engines import Engine
from lbtheory.study.store import Store
from lbtheory.study.work import Attempt

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """What one cell gave, and whether it was in the store already."""

    cell: Cell
    attempt: Attempt
    stored: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TableResult:
    """The table of one experiment and how it came about; ``table`` is None when nothing could be made of the records."""

    id: str
    title: str
    reference: str
    table: "pd.DataFrame | None"
    columns: Mapping[str, str]
    failures: list[dict[str, Any]]
    provenance: dict[str, Any]


class Progress:
    """Says how many cells are done and how long the rest will take, judged by the rate at which cells finish in this run."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.total, self.done, self.skipped, self.start = total, 0, 0, time.perf_counter()
        self.live = self.stream.isatty()
        self.printed = float("-inf")

    def skip(self) -> None:
        """Count a cell whose result is stored."""
        self.done += 1
        self.skipped += 1

    def finished(self, experiment: str) -> None:
        """Count a cell that finished now."""
        self.done += 1
        self.running(experiment)

    def running(self, experiment: str) -> None:
        """Say how far ``experiment`` is: on a terminal always, in a log every two seconds at most."""
        now = time.perf_counter()
        if not self.live and now - self.printed < 2:
            return
        self.printed = now
        elapsed, made = now - self.start, self.done - self.skipped
        left = f", about {_duration(elapsed / made * (self.total - self.done))} left" if made else ""
        line = f"[{self.done}/{self.total}] {experiment}: {_duration(elapsed)} so far{left}"
        self.stream.write(f"\r\x1b[2K{line}" if self.live else f"{line}\n")
        self.stream.flush()

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self.stream.write(f"\r\x1b[2K{text}\n" if self.live else f"{text}\n")
        self.stream.flush()


class Interrupted(LBTheoryError):
    """The run was stopped; says how much is stored and how to go on."""

    exit_code = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How cells are run: by which engine, into which store, and whether stored results are computed again."""

    engine: Engine
    store: Store
    force: bool = False


def run_cells(experiment: str, cells: Sequence[Cell], progress: Progress, plan: Plan) -> list[CellResult]:
    """Take stored results and run the other cells; a cell that raises is a result with its traceback, and the others go on.

    Raises
    ------
    Interrupted
        On Ctrl-C; results that came before are stored.
    StoreError
        When a result cannot be stored.
    """
    results: dict[int, CellResult] = {}
    todo = []
    for index, cell in enumerate(cells):
        known, doubt = (None, None) if plan.force else plan.store.get(cell)
        if doubt is not None:
            progress.say(f"{experiment}: {doubt}")
        if known is not None and known.error is None:
            results[index] = CellResult(cell=cell, attempt=known, stored=True)
            progress.skip()
        else:
            todo.append(index)
    progress.running(experiment)
    work = plan.engine.run([cells[index] for index in todo])
    try:
        for place, made in work:
            cell = cells[todo[place]]
            kept = plan.store.put(cell, made)
            results[todo[place]] = CellResult(cell=cell, attempt=kept, stored=False)
            if made.error is not None:
                progress.say(f"{experiment}: a cell failed: {_described(cell)}\n{(made.trace or made.error).rstrip()}")
            progress.finished(experiment)
    except KeyboardInterrupt:
        raise Interrupted(
            f"stopped: {len(results)} of {len(cells)} cells of {experiment} are stored under {plan.store.folder}. "
            "Give the same command again to go on."
        ) from None
    finally:
        work.close()  # type: ignore[attr-defined]
    return [results[index] for index in range(len(cells))]


def run_experiment(
    experiment: Experiment, cells: Sequence[Cell], scale: str, out: Path, progress: Progress, plan: Plan
) -> TableResult:
    """Run ``cells``, make the table, and write it.

    Writes ``table.csv``, ``table.md`` and ``table.provenance.json`` under ``out/<id>``, and ``failures.json`` when cells
    failed. The table is made from the cells that succeeded.
    """
    sweep, analysis = experiment.sweep, experiment.analysis
    start = time.perf_counter()
    results = run_cells(experiment.id, cells, progress, plan)
    failures: list[dict[str, Any]] = [
        {**result.cell._asdict(), "error": result.attempt.error, "traceback": result.attempt.trace}
        for result in results
        if result.attempt.error is not None
    ]
    columns = dict(getattr(analysis, "COLUMNS", {}))
    folder = out / experiment.id
    clear(folder, "table")
    table = None
    records = [record for result in results for record in result.attempt.records]
    if records:
        try:
            table = analysis.table(records)
            tables.write(table, folder / "table", columns)
        except Exception as problem:
            table, trace = None, traceback.format_exc()
            failures.append({"task": "analysis", "error": f"{type(problem).__name__}: {problem}", "traceback": trace})
            progress.say(f"{experiment.id}: its table cannot be made from {len(records)} records\n{trace.rstrip()}")
    measured = getattr(analysis, "MEASURED", ())
    provenance = _provenance(experiment, scale, results, time.perf_counter() - start, measured, plan)
    write_json(folder / "table.provenance.json", provenance)
    if failures:
        write_json(folder / "failures.json", failures)
    else:
        (folder / "failures.json").unlink(missing_ok=True)
    return TableResult(
        id=experiment.id,
        title=sweep.TITLE,
        reference=sweep.REFERENCE,
        table=table,
        columns=columns,
        failures=failures,
        provenance=provenance,
    )


def clear(folder: Path, stem: str) -> None:
    """Make ``folder``, and remove what an earlier run wrote there as ``stem.…``, so that nothing stale is shown."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{stem}.*"):
        old.unlink(missing_ok=True)  # another driver may have been first


def write_json(path: Path, content: Any) -> None:
    """Write ``content`` as indented JSON; what JSON does not know is written as text."""
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False, default=str) + "\n")


def versions() -> dict[str, str]:
    """Versions of Python and of every package that lbtheory stands on."""
    found = {"python": platform.python_version(), "lbtheory": lbtheory.__version__}
    try:
        needed = metadata.requires("lbtheory") or []
    except metadata.PackageNotFoundError:
        needed = ["numpy", "scipy", "numba", "ortools", "matplotlib", "pandas", "pyarrow"]
    for requirement in needed:
        name = re.match(r"[\w.-]+", requirement)
        if name and "extra ==" not in requirement:
            found[name[0]] = metadata.version(name[0])
    return found


def _provenance(
    experiment: Experiment, scale: str, results: Sequence[CellResult], seconds: float, measured: Sequence[str], plan: Plan
) -> dict[str, Any]:
    """How a table came about."""
    return {
        "experiment": experiment.id,
        "scale": scale,
        "engine": plan.engine.name,
        "versions": versions(),
        "system": f"{platform.system()} {platform.machine()}",
        "wall_seconds": round(seconds, 3),
        "cell_seconds": round(sum(result.attempt.seconds for result in results), 3),
        "peak_memory_mib": round(max((result.attempt.peak_memory for result in results), default=0.0), 1),
        "measured_columns": list(measured),
        "inputs": file_hashes(experiment, [result.cell for result in results]),
        "cells": [
            {
                **result.cell._asdict(),
                "key": plan.store.path(result.cell).stem,
                "seconds": round(result.attempt.seconds, 3),
                "failed": result.attempt.error is not None,
                "from_store": result.stored,
            }
            for result in results
        ],
    }


def file_hashes(experiment: Experiment, cells: Sequence[Cell]) -> dict[str, str]:
    """SHA-256 of the experiment's own files and of every file that a parameter names."""
    named = {value for cell in cells for value in cell.parameters.values() if isinstance(value, str) and Path(value).is_file()}
    files = sorted(experiment.folder.glob("*.*")) + [Path(name) for name in sorted(named)]
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in files if path.is_file()}


def _described(cell: Cell) -> str:
    parameters = ", ".join(f"{key}={value!r}" for key, value in cell.parameters.items())
    return f"{cell.task}({parameters}, seed={cell.seed})"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.1f} min"
