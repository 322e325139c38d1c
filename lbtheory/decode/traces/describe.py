"""What a trace file holds: format, counts, quantiles, rate, and every bad place by line."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lbtheory.core import EmptyTraceError
from lbtheory.decode.traces.base import Note, Problem, Trace, ZeroOutputs
from lbtheory.decode.traces.detect import scan, trace_name


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeSummary:
    """Mean, quantiles (linear interpolation) and maximum of sizes, tokens; None where there is no request."""

    mean: float | None
    p50: float | None
    p95: float | None
    p99: float | None
    max: int | None

    def as_json(self) -> dict[str, float | int | None]:
        """The five numbers by name."""
        return {"mean": self.mean, "p50": self.p50, "p95": self.p95, "p99": self.p99, "max": self.max}


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceDescription:
    """Counts and quantiles of a trace file.

    Attributes
    ----------
    name, format : str
    requests : int
        Good rows; the statistics are theirs.
    prompt, output : SizeSummary
        Tokens.
    rate, span : float or None
        Requests a second (requests / span) and seconds from the first to the last arrival; None without times.
    timed, keyed : bool
        Whether the file has arrival times, and prompt keys.
    sorted_rows, dropped : int
        Rows behind a later arrival; requests with zero outputs left out.
    problem_count : int
        Bad places in all.
    problems : tuple of Problem
        The first of them.
    trace_notes : tuple of Note
    """

    name: str
    format: str
    requests: int
    prompt: SizeSummary
    output: SizeSummary
    rate: float | None
    span: float | None
    timed: bool
    keyed: bool
    sorted_rows: int
    dropped: int
    problem_count: int
    problems: tuple[Problem, ...]
    trace_notes: tuple[Note, ...]

    @property
    def notes(self) -> dict[str, str]:
        """Why something is null, and what was done, by the name of what it concerns."""
        notes: dict[str, str] = {}
        if self.requests == 0:
            notes["prompt"] = notes["output"] = notes["rate"] = notes["span"] = "the file holds no usable request"
        elif not self.timed:
            notes["rate"] = notes["span"] = "the file has no arrival times"
        elif self.rate is None:
            notes["rate"] = "all requests arrive at the same time"
        for note in self.trace_notes:
            notes[note.kind] = f"{notes[note.kind]}; {note}" if note.kind in notes else str(note)
        if self.problem_count:
            listed = f"; the first {len(self.problems)} are listed" if self.problem_count > len(self.problems) else ""
            notes["problems"] = f"{self.problem_count} problems found{listed}; their lines are left out of the statistics"
        return notes

    def as_json(self) -> dict[str, Any]:
        """``{format, requests, prompt, output, rate, span, problems: [{line, what}], notes}``."""
        return {
            "format": self.format,
            "requests": self.requests,
            "prompt": self.prompt.as_json(),
            "output": self.output.as_json(),
            "rate": self.rate,
            "span": self.span,
            "problems": [{"line": problem.line, "what": problem.what} for problem in self.problems],
            "notes": self.notes,
        }


def describe(
    path: str | Path,
    format: str | None = None,
    columns: str | Mapping[str, str] | None = None,
    time_unit: str | None = None,
    zero_outputs: ZeroOutputs = "refuse",
) -> TraceDescription:
    """Describe a trace file; bad rows are listed with their lines and left out, the rest is described.

    Parameters are those of `read_trace`.

    Raises
    ------
    FileFormatError
        When the file cannot be read at all or its header fits no format.
    UnknownNameError, ParameterError, SizeOverflowError
    """
    collector, form = scan(path, format, columns, time_unit, zero_outputs, strict=False)
    trace: Trace | None
    try:
        trace = collector.trace(trace_name(path), form.name)
    except EmptyTraceError:
        trace = None
    return TraceDescription(
        name=trace_name(path),
        format=form.name,
        requests=0 if trace is None else trace.n,
        prompt=summarise(None if trace is None else trace.prompts),
        output=summarise(None if trace is None else trace.outputs),
        rate=None if trace is None else trace.rate,
        span=None if trace is None else trace.span,
        timed=trace is not None and trace.timed,
        keyed=trace is not None and trace.keys is not None,
        sorted_rows=0 if trace is None else trace.sorted_rows,
        dropped=collector.zeros,
        problem_count=collector.problem_count,
        problems=tuple(collector.problems),
        trace_notes=() if trace is None else trace.notes,
    )


def summarise(sizes: np.ndarray | None) -> SizeSummary:
    """`SizeSummary` of an int array (n,), all None for None."""
    if sizes is None:
        return SizeSummary(mean=None, p50=None, p95=None, p99=None, max=None)
    p50, p95, p99 = (float(q) for q in np.percentile(sizes, [50, 95, 99]))
    return SizeSummary(mean=float(sizes.mean()), p50=p50, p95=p95, p99=p99, max=int(sizes.max()))
