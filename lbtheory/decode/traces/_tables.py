"""What the CSV readers and the JSON-lines readers share."""

import csv
import json
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from lbtheory.core import FileFormatError
from lbtheory.decode.traces._collect import Collector
from lbtheory.decode.traces._parse import Number, size
from lbtheory.decode.traces._source import BadRow, Source
from lbtheory.decode.traces.base import SIZE_LIMIT

DECODER = json.JSONDecoder(parse_float=Number, parse_constant=Number)
"""Keeps numbers that are not integers as text, so that no digit is lost before they are checked."""

COLUMNS_HINT = "For another table name its columns: `--columns arrival=…,prompt=…,output=…` (and `--time-unit`)."


def split(line: str) -> list[str]:
    """The fields of one CSV line, stripped.

    Raises
    ------
    BadRow
        When a quoted field is not closed on the line.
    """
    if '"' not in line:
        return [field.strip() for field in line.split(",")]
    try:
        return [field.strip() for field in next(csv.reader([line], strict=True))]
    except (csv.Error, StopIteration):
        raise BadRow("a quoted field is not closed properly.", "Correct the quotes.") from None


def missing(needed: Sequence[str], present: Sequence[str]) -> str:
    """Which names are missing, each with the nearest one present; empty when none is."""
    lower = {name.lower(): name for name in present}
    parts = []
    for name in needed:
        if name not in present:
            near = get_close_matches(name.lower(), list(lower), n=1, cutoff=0.5)
            parts.append(repr(name) + (f" (nearest present: {lower[near[0]]!r})" if near else ""))
    return ", ".join(parts)


def csv_rows(
    source: Source, collector: Collector, needed: Sequence[str], optional: Sequence[str] = (), *, remedy: str = COLUMNS_HINT
) -> Iterator[tuple[int, list[str | None]]]:
    """Lines of a CSV file as (line, values of ``needed`` then of ``optional``), None for an optional column that is absent.

    Raises
    ------
    FileFormatError
        When the header lacks a needed column, or has it twice.
    """
    lines = source.lines()
    try:
        header = split(next(lines, ""))
    except BadRow as bad:
        raise FileFormatError(bad.what, file=source.file, line=source.line or None, remedy=bad.remedy) from None
    if header == [""]:
        raise FileFormatError("is empty.", file=source.file, remedy="Give a file with a header and rows.")
    if lacks := missing(needed, header):
        sep = next((s for s in (";", "\t") if len(header) == 1 and s in header[0]), None)
        more = f" The fields seem to be separated by {sep!r}: use commas." if sep else ""
        raise FileFormatError(
            f"the header lacks {lacks}; it has {', '.join(map(repr, header))[:300]}.{more}",
            file=source.file,
            line=source.line,
            remedy=remedy,
        )
    for name in (*needed, *optional):
        if header.count(name) > 1:
            raise FileFormatError(
                f"the column {name!r} occurs twice.", file=source.file, line=source.line, remedy="Rename one."
            )
    picks = [header.index(name) if name in header else None for name in (*needed, *optional)]
    for line in lines:
        try:
            fields = split(line)
            if len(fields) != len(header):
                short = len(fields) < len(header)
                what = "the last line is cut short" if short and source.unterminated else "the line does not fit the header"
                raise BadRow(f"{what}: {len(fields)} fields, the header has {len(header)}.", "Complete or remove the line.")
        except BadRow as bad:
            collector.problem(source.line, bad)
            continue
        yield source.line, [None if pick is None else fields[pick] for pick in picks]


def json_rows(source: Source, collector: Collector, needed: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Records of a JSON-lines file that have the keys ``needed``."""
    for line in source.lines():
        try:
            yield source.line, json_record(line, needed, source.unterminated)
        except BadRow as bad:
            collector.problem(source.line, bad)


def json_record(line: str, needed: Sequence[str], unterminated: bool = False) -> dict[str, Any]:
    """One JSON object from a line; raises `BadRow`."""
    try:
        record, end = DECODER.raw_decode(line)
        if end != len(line):
            raise BadRow("more than one JSON value on the line.", "Write one object a line.")
    except json.JSONDecodeError as error:
        what = "the last line is cut short" if unterminated else "the line is not valid JSON"
        raise BadRow(f"{what} ({error.msg} at column {error.colno}).", "Complete or remove the line.") from None
    except (ValueError, RecursionError) as error:
        raise BadRow(f"the line cannot be read as JSON ({error}).", "Correct or remove the line.") from None
    if not isinstance(record, dict):
        raise BadRow(f"the line must hold a JSON object; got {type(record).__name__}.", "Write one object a line.")
    if lacks := missing(needed, list(record)):
        raise BadRow(f"the record lacks {lacks}.", "Add the key or remove the line.")
    return record


def check_total(total: str | None, name: str, prompt: int, output: int) -> None:
    """Raise `BadRow` when a stated total is not prompt plus output."""
    if total is None:
        return
    stated = size(name, total, 2 * SIZE_LIMIT)
    if stated != prompt + output:
        raise BadRow(
            f"{name} is {stated} but prompt + output is {prompt} + {output} = {prompt + output}.",
            "Correct the line: the sizes contradict each other.",
        )
