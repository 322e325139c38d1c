"""Plain JSON: ``{"data": [{"input_length", "output_length", "arrival"?}, …]}``, arrivals in seconds.

The list is decoded record by record from a sliding buffer: the file is never held whole.
"""

import io
import json
from collections.abc import Iterator
from typing import Any

from lbtheory.decode.traces._collect import Collector, Options, Row
from lbtheory.decode.traces._format import Format
from lbtheory.decode.traces._parse import json_size, time_ns
from lbtheory.decode.traces._source import DAMAGED, BadRow, Source
from lbtheory.decode.traces._tables import DECODER, missing

CHUNK = 64 * 1024
VALUE_LIMIT = 16 * 2**20
"""Longest single value that is accepted, characters."""

_NEEDED = ("input_length", "output_length")
_SHAPE = 'The file must read {"data": [{"input_length": …, "output_length": …}, …]}.'


class _Buffer:
    """A window on the text with one value of look-ahead."""

    def __init__(self, handle: io.TextIOBase) -> None:
        self.handle, self.text, self.at, self.line, self.ended = handle, "", 0, 1, False

    def more(self) -> bool:
        """Read on; False at the end of the file."""
        try:
            chunk = self.handle.read(CHUNK)
        except DAMAGED as error:
            raise BadRow(
                f"the gzip stream is cut short or damaged ({error}).", "Fetch the file again.", line=self.line
            ) from None
        self.text, self.at, self.ended = self.text[self.at :] + chunk, 0, not chunk
        return bool(chunk)

    def skip(self, count: int) -> None:
        self.line += self.text.count("\n", self.at, self.at + count)
        self.at += count

    def peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            rest = self.at
            while rest < len(self.text) and self.text[rest] in " \t\r\n":
                rest += 1
            self.skip(rest - self.at)
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def take(self, wanted: str) -> str:
        """The next character, which must be one of ``wanted``."""
        found = self.peek()
        if not found:
            raise BadRow("the file is cut short: it ends inside the JSON value.", "Fetch or write it again.", line=self.line)
        if found not in wanted:
            choices = " or ".join(map(repr, wanted))
            raise BadRow(f"not valid JSON: expected {choices}, got {found!r}.", _SHAPE, line=self.line)
        self.skip(1)
        return found

    def value(self) -> Any:
        """Decode the next value, reading on until it is whole."""
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self.text, self.at)
                if end < len(self.text) or self.ended or self.text[end - 1] in '}]"':
                    self.skip(end - self.at)
                    return value
                bad = None
            except json.JSONDecodeError as error:
                bad = error
                real = not error.msg.startswith("Unterminated string") and error.pos < len(self.text) - 64
                if real:
                    line = self.line + self.text.count("\n", self.at, error.pos)
                    raise BadRow(f"not valid JSON ({error.msg}).", _SHAPE, line=line) from None
            except (ValueError, RecursionError) as error:
                raise BadRow(f"cannot be read as JSON ({error}).", _SHAPE, line=self.line) from None
            if len(self.text) - self.at > VALUE_LIMIT:
                raise BadRow(f"one JSON value is longer than {VALUE_LIMIT} characters.", _SHAPE, line=self.line)
            if not self.more() and bad is not None:
                cut = bad.pos >= len(self.text) or bad.msg.startswith("Unterminated")
                what = "the file is cut short: it ends inside a record" if cut else "not valid JSON"
                raise BadRow(f"{what} ({bad.msg}).", _SHAPE, line=self.line)


def _records(source: Source) -> Iterator[tuple[int, tuple[int, Any]]]:
    """(line, (index, record)) for every entry of ``data``."""
    with source.text() as handle:
        buffer, found = _Buffer(handle), False
        buffer.take("{")
        close = buffer.peek() == "}"
        while not close:
            if buffer.peek() != '"':
                buffer.take('"')
            key = buffer.value()
            buffer.take(":")
            if key == "data" and not found:
                found = True
                yield from _entries(buffer)
            else:
                buffer.value()
            close = buffer.take(",}") == "}"
        if not found:
            raise BadRow("the key 'data' is missing.", _SHAPE)


def _entries(buffer: _Buffer) -> Iterator[tuple[int, tuple[int, Any]]]:
    buffer.take("[")
    if buffer.peek() == "]":
        buffer.skip(1)
        return
    index = 0
    while True:
        buffer.peek()
        line = buffer.line
        yield line, (index, buffer.value())
        index += 1
        if buffer.take(",]") == "]":
            return


def _read(source: Source, collector: Collector, options: Options) -> None:
    def convert(line: int, entry: tuple[int, Any]) -> Row:
        index, record = entry
        try:
            if not isinstance(record, dict):
                raise BadRow(f"must be an object; got {type(record).__name__}.", _SHAPE)
            if lacks := missing(_NEEDED, list(record)):
                raise BadRow(f"lacks {lacks}.", "Add the key or remove the record.")
            arrived = record.get("arrival")
            time = None if arrived is None else time_ns("arrival", arrived, "s")
            return json_size("input_length", record), json_size("output_length", record), time, None
        except BadRow as bad:
            raise BadRow(f"data[{index}]: {bad.what}", bad.remedy, error=bad.error) from None

    collector.run(_records(source), convert)


FORMAT = Format(
    name="plain-json",
    title='Plain JSON {"data": [{"input_length", "output_length"}]}',
    layout="json",
    needed=("data",),
    read=_read,
    aliases=("json",),
)
