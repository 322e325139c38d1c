"""Reading a table of probabilities: CSV ``value,probability`` or JSON, plain or gzip."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lbtheory.core import FileFormatError, ParameterError, SizeOverflowError
from lbtheory.decode.traces._parse import json_size, size
from lbtheory.decode.traces._source import BadRow, Source
from lbtheory.decode.traces._tables import DECODER, missing, split

TOLERANCE = 1e-6
"""How far from 1 the sum of the probabilities may be; within it they are renormalised."""

_SHAPES = 'Write CSV lines value,probability, or JSON {"value": probability, …} or [[value, probability], …].'


def read_pmf(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Values (int64, increasing, ≥ 1) and probabilities (float64, renormalised to sum 1) from a file.

    Raises
    ------
    FileFormatError
        Names the file and, in a CSV file, the line.
    ParameterError
        When the probabilities do not sum to 1 within 1e-6.
    """
    source = Source(path)
    table: dict[int, float] = {}
    line: int | None = None
    try:
        for line, value, weight in _pairs(source):
            if value < 1:
                raise BadRow("the value must be at least 1; got 0.", "Laws live on the positive integers.", line=line)
            if value in table:
                raise BadRow(f"the value {value} occurs twice.", "Give each value one probability.", line=line)
            table[value] = weight
    except BadRow as bad:
        place = bad.line if bad.line is not None else line
        if bad.error is not FileFormatError:
            raise SizeOverflowError(f"{source.file}: {bad.what} {bad.remedy}") from None
        raise FileFormatError(bad.what, file=source.file, line=place, remedy=bad.remedy) from None
    total = sum(table.values())
    if not table or abs(total - 1) > TOLERANCE:
        raise ParameterError(
            f"{source.file}: the probabilities must sum to 1 within {TOLERANCE:g}; they sum to {total:.9g}. Normalise them."
        )
    values = np.array(sorted(table), dtype=np.int64)
    weights = np.array([table[int(v)] for v in values])
    return values, weights / weights.sum()


def _pairs(source: Source) -> Iterator[tuple[int | None, int, float]]:
    """(line, value, probability) of each entry."""
    lines = source.lines()
    first = next(lines, None)
    if first is None:
        raise BadRow("is empty.", _SHAPES)
    if first[0] in "{[":
        yield from _json_pairs("\n".join([first, *lines]))
        return
    header = split(first)
    picks = [0, 1]
    if not _is_number(header[0]):
        if lacks := missing(("value", "probability"), header):
            raise BadRow(f"the header lacks {lacks}.", _SHAPES, line=source.line)
        if len(header) != 2:
            extra = [name for name in header if name not in ("value", "probability")]
            raise BadRow(
                f"the header has more columns: {', '.join(extra)}.", "Keep the rows of one law only.", line=source.line
            )
        picks = [header.index("value"), header.index("probability")]
    else:
        yield source.line, *_entry(header, picks, source.line)
    for line in lines:
        yield source.line, *_entry(split(line), picks, source.line)


def _entry(fields: list[str], picks: list[int], line: int) -> tuple[int, float]:
    if len(fields) != 2:
        raise BadRow(f"the line has {len(fields)} fields, not 2.", _SHAPES, line=line)
    try:
        return size("value", fields[picks[0]]), _weight(fields[picks[1]])
    except BadRow as bad:
        bad.line = line
        raise


def _json_pairs(text: str) -> Iterator[tuple[int | None, int, float]]:
    try:
        data, end = DECODER.raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise BadRow(f"not valid JSON ({error}).", _SHAPES, line=getattr(error, "lineno", None)) from None
    if text[end:].strip():
        raise BadRow("more than one JSON value.", _SHAPES)
    entries = list(data.items()) if isinstance(data, dict) else data
    for i, entry in enumerate(entries):
        try:
            if isinstance(entry, dict) and not missing(("value", "probability"), list(entry)):
                yield None, json_size("value", entry), _weight(entry["probability"])
            elif isinstance(entry, list | tuple) and len(entry) == 2:
                yield None, size("value", entry[0]), _weight(entry[1])
            else:
                raise BadRow("is not a pair of value and probability.", _SHAPES)
        except BadRow as bad:
            raise BadRow(f"entry {i}: {bad.what}", bad.remedy, error=bad.error) from None


def _weight(raw: Any) -> float:
    try:
        value = float(raw) if not isinstance(raw, bool) else float("nan")
    except (TypeError, ValueError, OverflowError):
        value = float("nan")
    if not 0 <= value <= 1 + TOLERANCE:
        raise BadRow(f"the probability must be between 0 and 1; got {raw!r}.", "Correct or remove the entry.")
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
