"""From identifiers to files: run the experiments, draw the figures, fill the captions, write the report."""

import sys
import time
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lbtheory.core import InputError, ParameterError, write_whole
from lbtheory.study import tables
from lbtheory.study.discovery import SCALES, Artefact, discover
from lbtheory.study.engines import Engine, make_engine
from lbtheory.study.runner import Plan, Progress, TableResult, clear, run_experiment, write_json
from lbtheory.study.statements import Statement
from lbtheory.study.store import BEGUN, FOLDER, Store

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtefactResult:
    """One figure or published table as written; ``figure`` is the SVG file, None for a table alone or after a failure."""

    id: str
    title: str
    reference: str
    figure: Path | None
    caption: str
    comparison: "pd.DataFrame | None"
    columns: Mapping[str, str]
    numbers: Mapping[str, Any]
    statements: "tuple[Statement, ...]"
    reads: tuple[str, ...]
    failure: dict[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What `rebuild` made: tables and artefacts by order of writing, the report, and the wall time in seconds."""

    tables: tuple[TableResult, ...]
    artefacts: tuple[ArtefactResult, ...]
    report: Path
    seconds: float

    @property
    def failures(self) -> list[dict[str, Any]]:
        """Every failure: of a cell, an analysis or an artefact, with its traceback."""
        failed = [{"id": one.id, **failure} for one in self.tables for failure in one.failures]
        return failed + [{"id": one.id, **one.failure} for one in self.artefacts if one.failure]

    @property
    def exit_code(self) -> int:
        """0 when everything was made, else 1."""
        return 1 if self.failures else 0

    def summary(self) -> dict[str, Any]:
        """The outcome as plain data, for ``--json``."""
        made = [{"id": one.id, "kind": "table", "rows": None if one.table is None else len(one.table)} for one in self.tables]
        drawn = [{"id": one.id, "kind": "figure" if one.figure else "comparison"} for one in self.artefacts if not one.failure]
        return {"report": str(self.report), "seconds": self.seconds, "made": made + drawn, "failures": self.failures}


def reproduce(
    ids: Iterable[str] = (),
    scale: str = "quick",
    out: str | Path = "results",
    *,
    engine: Engine | None = None,
    force: bool = False,
    root: Path | None = None,
    stream: TextIO | None = None,
) -> int:
    """Rebuild what ``ids`` name (everything when there are none), with the report, and say what was written.

    Parameters
    ----------
    ids : iterable of str
        Identifiers of experiments and figures.
    scale : {"quick", "full"}
        How much to compute.
    out : str or Path
        Folder to write to; results of cells are kept in its folder ``.store`` and taken from there.
    engine : Engine, optional
        What runs the cells; a pool of processes on this machine by default.
    force : bool
        Compute stored results again.
    root : Path, optional
        Folder that holds ``experiments/`` and ``paper_figures/``; the checkout by default.
    stream : text file, optional
        Where progress and the closing lines go; standard error by default.

    Returns
    -------
    int
        0 when everything was made, 1 when a cell, a table or a figure failed.

    Raises
    ------
    UnknownNameError
        An identifier is not known; the message offers the nearest.
    InputError
        The scale is unknown, a folder breaks its contract, or ``out`` cannot be written.
    Interrupted, StoreError
        Ctrl-C, a full disk: what was computed before is stored.
    """
    return rebuild(ids, scale, out, engine=engine, force=force, root=root, stream=stream).exit_code


def rebuild(
    ids: Iterable[str] = (),
    scale: str = "quick",
    out: str | Path = "results",
    *,
    engine: Engine | None = None,
    force: bool = False,
    root: Path | None = None,
    stream: TextIO | None = None,
) -> Outcome:
    """Do what `reproduce` does, and return all that was made."""
    from lbtheory.study.report import write_report

    if scale not in SCALES:
        raise ParameterError(f"`scale` of `reproduce` must be one of {', '.join(SCALES)}; got {scale!r}. Choose one of them.")
    ids = tuple(ids)
    start, out, stream = time.perf_counter(), Path(out), sys.stderr if stream is None else stream
    experiments, artefacts = discover(root).select(ids)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"`out` of `reproduce` cannot be made: {error}. Name a folder that can be written.") from error
    sweeps = [(one, one.cells(scale)) for one in experiments]
    progress = Progress(sum(len(cells) for _, cells in sweeps), stream)
    write_json(out / FOLDER / BEGUN, {"ids": list(ids), "scale": scale})
    plan = Plan(engine=engine or make_engine(), store=Store(out / FOLDER), force=force)
    results = tuple(run_experiment(one, cells, scale, out, progress, plan) for one, cells in sweeps)
    known = {result.id: result.table for result in results if result.table is not None}
    drawn = tuple(_make(one, known, out, progress) for one in artefacts)
    report = write_report(out / "report.html", results, drawn, scale)
    outcome = Outcome(tables=results, artefacts=drawn, report=report, seconds=round(time.perf_counter() - start, 3))
    _close(outcome, progress)
    return outcome


def _make(artefact: Artefact, known: "Mapping[str, pd.DataFrame]", out: Path, progress: Progress) -> ArtefactResult:
    """Draw one artefact and write its files; a failure is a result with its traceback."""
    folder = out / artefact.id
    for stem in ("figure", "comparison", "statements", "caption", "artefact-failure"):
        clear(folder, stem)
    title, reference, reads = artefact.plot.TITLE, artefact.plot.REFERENCE, artefact.tables
    numbers: dict[str, Any] = {}
    figure, caption, comparison, failure = None, "", None, None
    statements: tuple[Statement, ...] = ()
    missing = [name for name in reads if name not in known]
    try:
        if missing:
            raise InputError(f"{artefact.id} reads the table of {', '.join(missing)}, which failed. Mend that first.")
        inputs = {name: known[name].copy() for name in reads} | _published(artefact.folder)
        figure, comparison, numbers, caption = _draw(artefact, inputs, folder)
        statements = _statements(artefact, inputs, folder)
    except Exception as problem:
        error = f"{type(problem).__name__}: {problem}"
        failure = {"task": "artefact", "error": error, "traceback": traceback.format_exc()}
        write_json(folder / "artefact-failure.json", failure)
        progress.say(f"{artefact.id}: not made: {error}" + ("" if missing else f"\n{failure['traceback'].rstrip()}"))
    return ArtefactResult(
        id=artefact.id,
        title=title,
        reference=reference,
        figure=figure,
        caption=caption,
        comparison=comparison,
        columns=dict(getattr(artefact.plot, "COLUMNS", {})),
        numbers=numbers,
        statements=statements,
        reads=reads,
        failure=failure,
    )


def _draw(
    artefact: Artefact, inputs: "dict[str, pd.DataFrame]", folder: Path
) -> "tuple[Path | None, pd.DataFrame | None, dict[str, Any], str]":
    """Figure file, comparison table, numbers and caption of ``artefact``, all written under ``folder``."""
    from lbtheory.plots import style

    plot, path = artefact.plot, None
    with style.context():
        figure = plot.draw(inputs)
        if figure is not None:
            path = style.save(figure, folder / "figure")[0]
    comparison = plot.compare(inputs) if hasattr(plot, "compare") else inputs.get("published")
    if comparison is not None:
        tables.write(comparison, folder / "comparison", getattr(plot, "COLUMNS", {}))
    numbers = dict(plot.numbers(inputs)) if hasattr(plot, "numbers") else {}
    template = artefact.folder / "caption.md"
    try:
        caption = template.read_text(encoding="utf-8").format(**numbers)
    except (KeyError, IndexError, ValueError) as error:
        known = ", ".join(sorted(numbers)) or "none"
        raise InputError(f"{template}: cannot be filled ({error!r}). `numbers` of plot.py gives: {known}.") from error
    write_whole(folder / "caption.md", caption)
    return path, comparison, numbers, caption


def _statements(artefact: Artefact, inputs: "dict[str, pd.DataFrame]", folder: Path) -> tuple[Statement, ...]:
    """Published statements tried, also written as a table."""
    if not hasattr(artefact.plot, "statements"):
        return ()
    import pandas as pd

    found = tuple(Statement(**one) for one in artefact.plot.statements(inputs))
    tables.write(pd.DataFrame([one.as_row() for one in found]), folder / "statements")
    return found


def _published(folder: Path) -> "dict[str, pd.DataFrame]":
    """Published numbers of an artefact, when it has some."""
    path = folder / "published.csv"
    if not path.is_file():
        return {}
    import pandas as pd

    return {"published": pd.read_csv(path, comment="#")}


def _close(outcome: Outcome, progress: Progress) -> None:
    """Say what was written, and what failed."""
    for table in outcome.tables:
        rows = "no table" if table.table is None else f"{len(table.table):,} rows"
        progress.say(f"{table.id}: {rows}" + (f", {len(table.failures)} failed" if table.failures else ""))
    for one in outcome.artefacts:
        progress.say(f"{one.id}: " + ("not made" if one.failure else str(one.figure.parent if one.figure else "table only")))
    progress.say(f"report: {outcome.report} ({outcome.seconds:.0f} s)")
    if outcome.failures:
        progress.say(f"{len(outcome.failures)} failed; the tracebacks are above and beside the tables.")
