"""Exact parsing of sizes and times: integers only, so that no digit of a size, id or timestamp is lost."""

import re
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from lbtheory.core import SizeOverflowError
from lbtheory.decode.traces._source import BadRow
from lbtheory.decode.traces.base import SIZE_LIMIT

UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""Nanoseconds in each unit of time."""

_NS_LIMIT = 2**62
_FIX = "Correct or remove the line."
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d+))?\s*(Z|[+-]\d\d:?\d\d)?", re.ASCII)


class Number(str):
    """The text of a JSON number that is not an integer, kept as written."""

    __slots__ = ()


def size(name: str, value: Any, limit: int = SIZE_LIMIT) -> int:
    """A whole number from 0 up to ``limit`` (exclusive) of tokens from CSV text, a JSON integer or a `Number`.

    Raises
    ------
    BadRow
        Names the column and what was found.
    """
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) < 13:
            return int(value)
        number: Any = _decimal(name, value)
    else:
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadRow(f"{name} must be a whole number of tokens; got {_shown(value)}.", _FIX)
        number = value
    if number < 0:
        raise BadRow(f"{name} must not be negative; got {_shown(value)}.", _FIX)
    if number >= limit:
        raise BadRow(
            f"{name} must stay below {limit} tokens; got {_shown(value)}.",
            "Scale the sizes down.",
            error=SizeOverflowError,
        )
    if number != int(number):
        raise BadRow(f"{name} must be a whole number of tokens; got {_shown(value)}.", "Round the sizes first.")
    return int(number)


def json_size(name: str, record: dict[str, Any]) -> int:
    """`size` of an entry of a JSON record; strings are refused, numbers must be written as numbers."""
    value = record[name]
    if isinstance(value, str) and not isinstance(value, Number):
        raise BadRow(f"{name} must be a number; got the string {_shown(value)}.", "Write it without quotes.")
    return size(name, value)


def time_ns(name: str, value: Any, unit: str) -> int:
    """A time as whole nanoseconds, exactly (a finer part is rounded).

    Parameters
    ----------
    value : CSV text, JSON integer or `Number`
    unit : {"s", "ms", "us", "ns", "datetime"}
    """
    if unit == "datetime":
        return datetime_ns(name, value)
    scale = UNITS[unit]
    if isinstance(value, str):
        number: Any = _decimal(name, value)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    else:
        raise BadRow(f"{name} must be a time in {unit}; got {_shown(value)}.", _FIX)
    if abs(number) >= _NS_LIMIT // scale:
        raise BadRow(f"{name} is out of range as a time in {unit}; got {_shown(value)}.", "Check the time unit.")
    return int(number * scale) if isinstance(number, int) else int((number * scale).to_integral_value())


def datetime_ns(name: str, text: str) -> int:
    """Nanoseconds since 1970 of ``YYYY-MM-DD hh:mm:ss[.fraction][zone]``, exactly.

    Any number of fractional digits is read, none included (digits beyond nine are cut); a time without a zone is UTC.
    """
    match = _STAMP.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise BadRow(f"{name} must be a date and time such as 2024-05-10 00:00:00.009930+00:00; got {_shown(text)}.", _FIX)
    day, hour, minute, second, fraction, zone = match.groups()
    h, m, s = int(hour), int(minute), int(second)
    days = _days(day)
    if days is None or h > 23 or m > 59 or s > 59:
        raise BadRow(f"{name} is not a date and time that exists; got {_shown(text)}.", _FIX)
    seconds = ((days * 24 + h) * 60 + m) * 60 + s
    if zone and zone != "Z":
        offset = (int(zone[1:3]) * 60 + int(zone[-2:])) * 60
        seconds += -offset if zone[0] == "+" else offset
    return seconds * 10**9 + (int(fraction[:9].ljust(9, "0")) if fraction else 0)


@lru_cache(maxsize=4096)
def _days(day: str) -> int | None:
    try:
        return date.fromisoformat(day).toordinal() - date(1970, 1, 1).toordinal()
    except ValueError:
        return None


def _decimal(name: str, text: str) -> Decimal:
    """A finite decimal from text."""
    if not text.strip():
        raise BadRow(f"{name} is empty.", _FIX)
    try:
        value = Decimal(text) if "_" not in text else Decimal("sNaN")
    except InvalidOperation:
        value = Decimal("sNaN")
    if value.is_snan():
        raise BadRow(f"{name} must be a number; got {_shown(text)}.", _FIX)
    if not value.is_finite():
        raise BadRow(f"{name} must be finite; got {_shown(text)}.", _FIX)
    return value


def _shown(value: Any) -> str:
    """A value as shown in a message, at most 60 characters."""
    try:
        text = value if isinstance(value, Number) else repr(value)
    except ValueError:
        text = "an integer of thousands of digits"
    return text if len(text) <= 60 else text[:57] + "..."
