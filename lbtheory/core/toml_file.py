"""TOML files whose mistakes are named with their line."""

import re
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from lbtheory.core.errors import FileFormatError, UnknownNameError

Made = TypeVar("Made")
Place = tuple[str | int, ...]
"""Keys and indices that lead to a value."""


class Misplaced(Exception):
    """Something is wrong at a place in the file; `read_toml` turns it into a `FileFormatError` with the line."""

    def __init__(self, what: str | Exception, *place: str | int) -> None:
        super().__init__(str(what))
        self.place = place


def read_toml(path: str | Path, build: Callable[[dict[str, Any]], Made]) -> Made:
    """What ``build`` makes of a file's data.

    Raises
    ------
    FileFormatError
        Names the file, and the line of TOML that cannot be parsed or of the place of a `Misplaced`.
    """
    file = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FileFormatError(f"cannot be read ({error.strerror or error}).", file=file) from None
    except UnicodeDecodeError as error:
        raise FileFormatError(f"is not UTF-8 text ({error.reason}).", file=file) from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        raise FileFormatError(f"not valid TOML: {error}.", file=file, line=int(at[1]) if at else text.count("\n") + 1) from None
    except RecursionError:
        raise FileFormatError("its TOML is nested too deeply.", file=file) from None
    try:
        return build(data)
    except Misplaced as wrong:
        raise FileFormatError(str(wrong), file=file, line=toml_line(text, wrong.place)) from None


def check_keys(table: Mapping[str, Any], known: Iterable[str], *place: str | int, needed: Iterable[str] = ()) -> None:
    """Raise `Misplaced` for an unknown key, with the nearest known one, or for a missing one."""
    for key in table:
        if key not in known:
            raise Misplaced(UnknownNameError("key", key, known), *place, key)
    for key in needed:
        if key not in table:
            raise Misplaced(f"the key {key!r} is missing. Needed: {', '.join(needed)}.", *place)


def one_table(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """``[name]``."""
    table = data[name]
    if not isinstance(table, dict):
        raise Misplaced(f"`{name}` must be one table: [{name}].", name)
    return table


def tables(data: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    """``[[kind]]``, of which there may be none."""
    found = data.get(kind, [])
    if not isinstance(found, list) or not all(isinstance(table, dict) for table in found):
        raise Misplaced(f"`{kind}` must be a list of tables: write [[{kind}]] above each.", kind)
    return found


def toml_line(text: str, place: Place) -> int | None:
    """Line, from 1, of a value in valid TOML: that of its key or header, or of the nearest place above it that has one."""
    known = _Scan(text).lines
    while place and place not in known:
        place = place[:-1]
    return known.get(place)


_KEY = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)[ \t]*""")
_STRING = re.compile(r'"""(?:[^\\]|\\.)*?"""{1,3}|\'\'\'.*?\'\'\'{1,3}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)


class _Scan:
    """Lines of tables, keys and array elements, of text that is known to be valid TOML."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.ends = [match.start() for match in re.finditer("\n", text)]
        self.lines: dict[Place, int] = {}
        arrays: dict[str, int] = {}  # how many [[name]] have been seen, less one
        table: Place = ()
        i = 0
        while i < len(text):
            if text[i] in " \t\r\n":
                i += 1
            elif text[i] == "#":
                i = self._line_end(i)
            elif text[i] == "[":
                double = text.startswith("[[", i)
                key, end = self._key(i + 1 + double)
                if double and len(key) == 1:
                    arrays[key[0]] = arrays.get(key[0], -1) + 1
                first: Place = (key[0], arrays[key[0]]) if key[0] in arrays else (key[0],)
                table = first + tuple(key[1:])
                self._note(table, i)
                i = self._line_end(end)
            else:
                key, end = self._key(i)
                self._note(table + tuple(key), i)
                i = self._value(end + 1, table + tuple(key))

    def _note(self, place: Place, i: int) -> None:
        """The line of a place, and of every place above it that has none yet."""
        for size in range(1, len(place) + 1):
            self.lines.setdefault(place[:size], bisect_left(self.ends, i) + 1)

    def _line_end(self, i: int) -> int:
        end = self.text.find("\n", i)
        return len(self.text) if end < 0 else end

    def _key(self, i: int) -> tuple[list[str], int]:
        """A dotted key at ``i`` and where it ends."""
        parts: list[str] = []
        while match := _KEY.match(self.text, i):
            part = match[1]
            parts.append(tomllib.loads(f"k = {part}")["k"] if part[0] in "\"'" else part)
            i = match.end()
            if not self.text.startswith(".", i):
                break
            i += 1
        return parts, i

    def _value(self, i: int, place: Place) -> int:
        """Skip the value at ``i``, noting the elements of an array; returns where it ends."""
        open_brackets: list[str] = []
        element, fresh = -1, True
        while i < len(self.text):
            character = self.text[i]
            if character == "#":
                i = self._line_end(i)
                continue
            if character == "\n" and not open_brackets:
                return i
            if open_brackets == ["["]:
                if character == ",":
                    fresh = True
                elif fresh and character not in " \t\r\n]":
                    element, fresh = element + 1, False
                    self._note((*place, element), i)
            if match := _STRING.match(self.text, i):
                i = match.end()
                continue
            if character in "[{":
                open_brackets.append(character)
            elif character in "]}":
                open_brackets.pop()
            i += 1
        return i
