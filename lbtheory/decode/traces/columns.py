"""Any CSV file whose columns are named: ``arrival=…,prompt=…,output=…[,key=…]`` and a time unit.

Without ``arrival`` the trace has lengths only. Keys that are integers of 64 bits are kept as they are; other keys are numbered
by first appearance.
"""

from collections.abc import Mapping

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.decode.traces._collect import Collector, Options, Row
from lbtheory.decode.traces._format import Format
from lbtheory.decode.traces._parse import UNITS, size, time_ns
from lbtheory.decode.traces._source import BadRow, Source
from lbtheory.decode.traces._tables import csv_rows

ROLES = ("arrival", "prompt", "output", "key")
TIME_UNITS = (*UNITS, "datetime")

_FORM = "Write `arrival=COLUMN,prompt=COLUMN,output=COLUMN[,key=COLUMN]` (leave `arrival` out for lengths only)."


def parse_columns(columns: str | Mapping[str, str]) -> dict[str, str]:
    """Read ``arrival=A,prompt=B,output=C[,key=D]`` into a mapping from role to column.

    Raises
    ------
    ParameterError
        When the text has another form, a role is given twice, or ``prompt`` or ``output`` is missing.
    UnknownNameError
        When a role is unknown.
    """
    if isinstance(columns, Mapping):
        pairs = [(str(role), str(column)) for role, column in columns.items()]
    else:
        parts = [part.partition("=") for part in columns.split(",") if part.strip()]
        if any(not eq for _, eq, _ in parts):
            raise ParameterError(f"`columns` must name a column for each role; got {columns!r}. {_FORM}")
        pairs = [(role.strip(), column.strip()) for role, _, column in parts]
    roles = [role for role, _ in pairs]
    for role, column in pairs:
        if role not in ROLES:
            raise UnknownNameError("column role", role, ROLES)
        if roles.count(role) > 1 or not column:
            raise ParameterError(f"`columns` must name one column for {role!r}; got {columns!r}. {_FORM}")
    for role in ("prompt", "output"):
        if role not in roles:
            raise ParameterError(f"`columns` must name the column of {role!r}; got {columns!r}. {_FORM}")
    return dict(pairs)


def check_time_unit(unit: str) -> str:
    """Return ``unit``; raise `ParameterError` unless it is one of s, ms, us, ns, datetime."""
    if unit not in TIME_UNITS:
        raise ParameterError(f"`time_unit` must be one of {', '.join(TIME_UNITS)}; got {unit!r}.")
    return unit


def _read(source: Source, collector: Collector, options: Options) -> None:
    if options.columns is None:
        raise ParameterError(f"format 'columns' needs `columns` (`--columns`). {_FORM}")
    roles, unit = options.columns, options.time_unit
    names = [roles[role] for role in ("prompt", "output", "arrival", "key") if role in roles]
    timed, keyed = "arrival" in roles, "key" in roles

    def convert(line: int, values: list[str]) -> Row:
        time = None
        if timed:
            try:
                time = time_ns(names[2], values[2], unit)
            except BadRow as bad:
                raise BadRow(
                    bad.what, f"{bad.remedy} The time unit is {unit!r}; `--time-unit` takes {', '.join(TIME_UNITS)}."
                ) from None
        return size(names[0], values[0]), size(names[1], values[1]), time, _key(values[-1]) if keyed else None

    collector.run(csv_rows(source, collector, names, remedy="Name columns that the header has."), convert)


def _key(text: str) -> int | str:
    """An integer where the text is exactly one, otherwise the text."""
    if not text:
        raise BadRow("the prompt key is empty.", "Correct or remove the line.")
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) <= 20 and str(int(text)) == text:
        return int(text)
    return text


FORMAT = Format(name="columns", title="CSV with named columns", layout="csv", needed=(), read=_read, aliases=("csv",))
