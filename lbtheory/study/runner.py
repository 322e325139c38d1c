"""Run the cells of an experiment one after another, and write its table with its provenance.

This is the small sequential runner: `run_cells` is the seam at which an engine and a result store take over.
"""

import json
import platform
import re
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import lbtheory
from lbtheory.study import tables, tasks
from lbtheory.study.discovery import Cell, Experiment

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """What one cell gave: its records, or the traceback of its failure (then ``records`` is empty)."""

    cell: Cell
    records: list[tasks.Record]
    seconds: float
    error: str | None
    trace: str | None


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
    """Says which cell is running and how long the rest will take, judged by the mean of the cells that are done."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.total, self.done, self.start = total, 0, time.perf_counter()
        self.live = self.stream.isatty()
        self.printed = float("-inf")

    def running(self, experiment: str) -> None:
        """Announce the next cell of ``experiment``: on a terminal always, in a log every two seconds at most."""
        now = time.perf_counter()
        if not self.live and now - self.printed < 2:
            return
        self.printed = now
        elapsed = now - self.start
        left = f", about {_duration(elapsed / self.done * (self.total - self.done))} left" if self.done else ""
        line = f"[{self.done + 1}/{self.total}] {experiment}: {_duration(elapsed)} so far{left}"
        self.stream.write(f"\r\x1b[2K{line}" if self.live else f"{line}\n")
        self.stream.flush()

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self.stream.write(f"\r\x1b[2K{text}\n" if self.live else f"{text}\n")
        self.stream.flush()


def run_cells(experiment: str, cells: Sequence[Cell], progress: Progress) -> list[CellResult]:
    """Run every cell in order; a cell that raises is a result with its traceback, and the others go on."""
    results = []
    for cell in cells:
        progress.running(experiment)
        start, records, error, trace = time.perf_counter(), [], None, None
        try:
            records = tasks.run(cell.task, cell.parameters, cell.seed)
        except Exception as problem:
            error, trace = f"{type(problem).__name__}: {problem}", traceback.format_exc()
            progress.say(f"{experiment}: a cell failed: {_described(cell)}\n{trace.rstrip()}")
        progress.done += 1
        seconds = time.perf_counter() - start
        results.append(CellResult(cell=cell, records=records, seconds=seconds, error=error, trace=trace))
    return results


def run_experiment(experiment: Experiment, cells: Sequence[Cell], scale: str, out: Path, progress: Progress) -> TableResult:
    """Run ``cells``, make the table, and write it.

    Writes ``table.csv``, ``table.md`` and ``table.provenance.json`` under ``out/<id>``, and ``failures.json`` when cells
    failed. The table is made from the cells that succeeded.
    """
    sweep, analysis = experiment.sweep, experiment.analysis
    start = time.perf_counter()
    results = run_cells(experiment.id, cells, progress)
    failures: list[dict[str, Any]] = [
        {**result.cell._asdict(), "error": result.error, "traceback": result.trace} for result in results if result.error
    ]
    columns = dict(getattr(analysis, "COLUMNS", {}))
    folder = out / experiment.id
    clear(folder, "table")
    table = None
    records = [record for result in results for record in result.records]
    if records:
        try:
            table = analysis.table(records)
            tables.write(table, folder / "table", columns)
        except Exception as problem:
            table, trace = None, traceback.format_exc()
            failures.append({"task": "analysis", "error": f"{type(problem).__name__}: {problem}", "traceback": trace})
            progress.say(f"{experiment.id}: its table cannot be made from {len(records)} records\n{trace.rstrip()}")
    provenance = _provenance(experiment.id, scale, results, time.perf_counter() - start, getattr(analysis, "MEASURED", ()))
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
        old.unlink()


def write_json(path: Path, content: Any) -> None:
    """Write ``content`` as indented JSON; what JSON does not know is written as text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False, default=str) + "\n", encoding="utf-8")


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
    identifier: str, scale: str, results: Sequence[CellResult], seconds: float, measured: Sequence[str]
) -> dict[str, Any]:
    """How a table came about."""
    return {
        "experiment": identifier,
        "scale": scale,
        "versions": versions(),
        "system": f"{platform.system()} {platform.machine()}",
        "wall_seconds": round(seconds, 3),
        "measured_columns": list(measured),
        "cells": [
            {**result.cell._asdict(), "seconds": round(result.seconds, 3), "failed": result.error is not None}
            for result in results
        ],
    }


def _described(cell: Cell) -> str:
    parameters = ", ".join(f"{key}={value!r}" for key, value in cell.parameters.items())
    return f"{cell.task}({parameters}, seed={cell.seed})"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.1f} min"
