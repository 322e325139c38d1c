"""Gathering the rows of a file into arrays, strictly (the first bad row raises) or leniently (bad rows are listed)."""

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from lbtheory.core import EmptyTraceError, FileFormatError, SizeOverflowError
from lbtheory.decode.traces._source import BadRow, Source
from lbtheory.decode.traces.base import Note, Problem, Trace, ZeroOutputs, arrival_order, key_array, make_trace, zero_note

PROBLEM_LIMIT = 100
"""Problems whose text is kept; the rest are counted."""

Row = tuple[int, int, int | None, int | str | bytes | None]
"""Prompt tokens, output tokens, time in ns (or None), prompt key (or None)."""


@dataclass(slots=True)
class Options:
    """What the caller said about the file, for the readers that need it."""

    columns: dict[str, str] | None = None
    time_unit: str = "s"


class Collector:
    """Takes rows from a reader and makes the trace.

    Parameters
    ----------
    source : Source
    strict : bool
        Raise at the first bad row; otherwise keep it as a problem and go on.
    zero_outputs : {"refuse", "drop"}
    """

    def __init__(self, source: Source, *, strict: bool, zero_outputs: ZeroOutputs) -> None:
        self.source, self.strict, self.zero_outputs = source, strict, zero_outputs
        self.prompts, self.outputs, self.times = array("q"), array("q"), array("q")
        self.keys: list[int | str | bytes] = []
        self.timed: bool | None = None
        self.keyed: bool | None = None
        self.zeros = 0
        self.problems: list[Problem] = []
        self.problem_count = 0

    def run(self, rows: Iterable[tuple[int, Any]], convert: Callable[[int, Any], Row]) -> None:
        """Convert and add every row; ``rows`` gives (line, raw values)."""
        line = None
        try:
            for line, values in rows:
                try:
                    self.add(convert(line, values))
                except BadRow as bad:
                    self.problem(line, bad)
        except BadRow as bad:
            self.problem(bad.line if bad.line is not None else line, bad)

    def add(self, row: Row) -> None:
        """Check and keep one row; raises `BadRow`."""
        prompt, output, time, key = row
        if output == 0 and self.zero_outputs == "drop":
            self.zeros += 1
            return
        if output == 0:
            raise BadRow(
                "the request has zero output tokens.",
                "Remove the line, or drop and count such requests with `--zero-outputs drop` (zero_outputs='drop').",
            )
        if prompt == 0:
            raise BadRow("the request has zero prompt tokens; every prompt must have at least 1.", "Remove the line.")
        if self.timed is None:
            self.timed, self.keyed = time is not None, key is not None
        if (time is not None) != self.timed:
            raise BadRow("some requests have an arrival time and some have none.", "Give all of them a time, or none.")
        if (key is not None) != self.keyed:
            raise BadRow("some requests have a prompt key (hash list) and some have none.", "Give all of them one, or none.")
        if time is not None and not -(2**63) <= time < 2**63:
            raise BadRow("the arrival time is outside the years 1678 to 2262.", "Correct or remove the line.")
        self.prompts.append(prompt)
        self.outputs.append(output)
        if time is not None:
            self.times.append(time)
        if key is not None:
            self.keys.append(key)

    def problem(self, line: int | None, bad: BadRow) -> None:
        """Raise the error of a bad row, or list it."""
        remedy = bad.remedy
        if self.source.unterminated and line == self.source.line:
            remedy += " This last line has no line end: it may be cut short."
        if self.strict:
            if bad.error is FileFormatError:
                raise FileFormatError(bad.what, file=self.source.file, line=line, remedy=remedy.strip()) from None
            place = self.source.file if line is None else f"{self.source.file}, line {line}"
            raise bad.error(f"{place}: {bad.what} {remedy}".strip()) from None
        self.problem_count += 1
        if len(self.problems) < PROBLEM_LIMIT:
            self.problems.append(Problem(line=line, what=f"{bad.what} {remedy}".strip()))

    def trace(self, name: str, format: str) -> Trace:
        """The trace of the rows kept.

        Raises
        ------
        EmptyTraceError, SizeOverflowError
        """
        notes = [zero_note(self.zeros)] if self.zeros else []
        if not self.prompts:
            dropped = f" ({notes[0]})" if notes else ""
            raise EmptyTraceError(f"{self.source.file}: holds no request to replay{dropped}. Check that it has rows.")
        prompts, outputs = np.array(self.prompts, dtype=np.int64), np.array(self.outputs, dtype=np.int64)
        keys, note = (None, None) if not self.keyed else _keys(self.keys)
        notes += [note] if note is not None else []
        arrivals = None
        if self.timed:
            ticks = np.array(self.times, dtype=np.int64)
            order, note = arrival_order(ticks)
            if note is not None:
                notes.append(note)
                prompts, outputs, ticks = prompts[order], outputs[order], ticks[order]
                keys = None if keys is None else keys[order]
            arrivals = (ticks - ticks[0]) / 1e9
        try:
            return make_trace(
                prompts, outputs, arrivals=arrivals, keys=keys, name=name, format=format, notes=notes, problems=self.problems
            )
        except SizeOverflowError as error:
            raise SizeOverflowError(f"{self.source.file}: {error}") from None


def list_key(name: str, values: Any) -> bytes:
    """A 128-bit digest that stands for a whole list of integer ids.

    Raises
    ------
    BadRow
        When ``values`` is not a list of integers.
    """
    if not isinstance(values, list) or not all(type(v) is int for v in values):
        raise BadRow(f"{name} must be a list of whole numbers.", "Correct or remove the line.")
    return blake2b(repr(values).encode(), digest_size=16).digest()


def _keys(raw: list[int | str | bytes]) -> tuple[np.ndarray, Note | None]:
    """Integers of 64 bits as they are; anything else numbered by first appearance."""
    whole = [key for key in raw if isinstance(key, int)]
    if len(whole) == len(raw) and (min(whole) >= -(2**63) if max(whole) < 2**63 else min(whole) >= 0 and max(whole) < 2**64):
        return key_array(whole), None
    seen: dict[int | str | bytes, int] = {}
    dense = np.fromiter((seen.setdefault(key, len(seen)) for key in raw), dtype=np.int64, count=len(raw))
    if isinstance(raw[0], bytes):
        return dense, None
    what = f"{len(seen)} distinct prompt keys are not 64-bit integers; numbered by first appearance"
    return dense, Note(kind="changed", count=len(seen), what=what)
