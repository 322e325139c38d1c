"""Finding the format of a file from its content, and reading it."""

import io
import re
from collections.abc import Mapping
from pathlib import Path

from lbtheory.core import FileFormatError, ParameterError, UnknownNameError
from lbtheory.decode.traces import azure, burstgpt, llmservingsim, mooncake, plain_json, splitwise, vidur
from lbtheory.decode.traces import columns as named_columns
from lbtheory.decode.traces._collect import Collector, Options
from lbtheory.decode.traces._format import Format
from lbtheory.decode.traces._source import DAMAGED, BadRow, Source
from lbtheory.decode.traces._tables import COLUMNS_HINT, json_record, missing, split
from lbtheory.decode.traces.base import Trace, ZeroOutputs, check_zero_outputs

_MODULES = (azure, burstgpt, mooncake, vidur, splitwise, llmservingsim, plain_json, named_columns)

FORMATS: dict[str, Format] = {module.FORMAT.name: module.FORMAT for module in _MODULES}
"""Every format by name."""

_ALIASES = {alias: name for name, form in FORMATS.items() for alias in (name, *form.aliases)}
_HEAD = 64 * 1024
_FIRST = 16 * 2**20
_DATA = re.compile(r'"data"\s*:\s*\[')


def find_format(name: str) -> Format:
    """The format called ``name`` (or an alias of it).

    Raises
    ------
    UnknownNameError
    """
    key = name.strip().lower().replace("_", "-")
    if key not in _ALIASES:
        raise UnknownNameError("trace format", name, FORMATS)
    return FORMATS[_ALIASES[key]]


def detect(path: str | Path) -> Format:
    """Find the format of a file from its header or first JSON record.

    Raises
    ------
    FileFormatError
        When no format fits; it names what the nearest one lacks.
    """
    source = Source(path)
    with source.text() as handle:
        first = ""
        while not first.strip():
            line = handle.readline(_FIRST)
            if not line:
                raise FileFormatError("is empty.", file=source.file, remedy="Give a file with requests.")
            first, source.line = line, source.line + 1
        head = first if len(first) >= _HEAD or first.lstrip()[0] != "{" else first + _rest(handle)
    first = first.strip()
    if first.startswith("["):
        raise FileFormatError(
            "is a bare JSON list.",
            file=source.file,
            line=source.line,
            remedy='Wrap it as {"data": [...]} or write one record a line.',
        )
    try:
        if first.startswith("{"):
            if first == "{" or _DATA.search(head[:_HEAD]):
                return plain_json.FORMAT
            return _match(list(json_record(first, (), unterminated=first == head.strip())), ("jsonl", "json"), source)
        return _match(split(first), ("csv",), source)
    except BadRow as bad:
        raise FileFormatError(bad.what, file=source.file, line=source.line, remedy=bad.remedy) from None


def _rest(handle: io.TextIOBase) -> str:
    """The text after the first line, as far as `_HEAD`; what a damaged stream still gives."""
    try:
        return handle.read(_HEAD)
    except DAMAGED:
        return ""


def _match(present: list[str], layouts: tuple[str, ...], source: Source) -> Format:
    """The format whose needed names are all present, else an error that names what the nearest lacks."""
    forms = [form for form in FORMATS.values() if form.layout in layouts and form.needed]
    for form in forms:
        if not missing(form.needed, present):
            return form
    if "sub_requests" in present:
        return llmservingsim.FORMAT
    lower = {name.lower() for name in present}
    share = [sum(name.lower() in lower for name in form.needed) / len(form.needed) for form in forms]
    names = ", ".join(map(repr, present))[:300]
    if max(share) >= 0.5:
        near = forms[share.index(max(share))]
        what = f"looks like format {near.name!r} but lacks {missing(near.needed, present)}; it has {names}."
    else:
        what = f"the format cannot be told from its content; found {names}."
    raise FileFormatError(
        what, file=source.file, line=source.line, remedy=f"{COLUMNS_HINT} Known formats: {', '.join(FORMATS)}."
    )


def scan(
    path: str | Path,
    format: str | None,
    columns: str | Mapping[str, str] | None,
    time_unit: str | None,
    zero_outputs: ZeroOutputs,
    *,
    strict: bool,
) -> tuple[Collector, Format]:
    """Read every row of a file into a collector; the arguments are those of `read_trace`."""
    check_zero_outputs(zero_outputs)
    named = None if format is None else find_format(format)
    options = Options()
    if columns is not None:
        if named is not None and named.name != "columns":
            raise ParameterError(f"`columns` goes with format 'columns' only; got format {format!r}. Leave one of them out.")
        named = FORMATS["columns"]
        options = Options(
            columns=named_columns.parse_columns(columns), time_unit=named_columns.check_time_unit(time_unit or "s")
        )
    elif time_unit is not None:
        raise ParameterError("`time_unit` goes with `columns` only: every other format has its own unit. Leave it out.")
    form = named or detect(path)
    collector = Collector(Source(path), strict=strict, zero_outputs=zero_outputs)
    form.read(collector.source, collector, options)
    return collector, form


def read_trace(
    path: str | Path,
    format: str | None = None,
    columns: str | Mapping[str, str] | None = None,
    time_unit: str | None = None,
    zero_outputs: ZeroOutputs = "refuse",
) -> Trace:
    """Read a trace file, line by line; gzip is recognised.

    Parameters
    ----------
    path : path of the file
    format : str, optional
        A name in `FORMATS`; found from the content by default.
    columns : str or mapping, optional
        ``arrival=A,prompt=B,output=C[,key=D]``: read any CSV by these columns.
    time_unit : {"s", "ms", "us", "ns", "datetime"}, optional
        Unit of the arrival column of ``columns``; seconds by default.
    zero_outputs : {"refuse", "drop"}
        Requests with zero output tokens are an error, or left out and counted in the notes.

    Raises
    ------
    FileFormatError
        Names the file, the line and the remedy.
    SizeOverflowError, EmptyTraceError, UnknownNameError, ParameterError
    """
    collector, form = scan(path, format, columns, time_unit, zero_outputs, strict=True)
    return collector.trace(trace_name(path), form.name)


def trace_name(path: str | Path) -> str:
    """The file's name without ``.gz`` and its extension."""
    return Path(Path(path).name.removesuffix(".gz")).stem
