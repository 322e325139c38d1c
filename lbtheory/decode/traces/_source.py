"""Reading a file line by line: plain or gzip, UTF-8 with or without byte-order mark, any line end."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lbtheory.core import FileFormatError, InputError

LINE_LIMIT = 64 * 2**20
"""Longest line that is accepted, characters: a guard against files that are not made of lines."""


DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile)
"""What a gzip stream raises when it is cut short or corrupt."""


class BadRow(Exception):
    """A row cannot be used; the collector turns it into an error or a problem with the line."""

    def __init__(
        self, what: str, remedy: str = "", *, error: type[InputError] = FileFormatError, line: int | None = None
    ) -> None:
        super().__init__(what)
        self.what, self.remedy, self.error, self.line = what, remedy, error, line


class Source:
    """A text file that is read once, from the front.

    Attributes
    ----------
    file : str
        Its name, for messages.
    line : int
        Number of the line last given, from 1.
    unterminated : bool
        Whether that line ended with the file instead of a line end (as a last line cut short does).
    """

    def __init__(self, path: str | Path) -> None:
        self.path, self.file, self.line, self.unterminated = Path(path), str(path), 0, False

    @contextmanager
    def text(self) -> Iterator[io.TextIOBase]:
        """The open file as text; undecodable bytes pass through and fail where they are parsed, with their line.

        Raises
        ------
        FileFormatError
            When the file cannot be opened, is not text, or its compressed stream is damaged.
        """
        try:
            with self.path.open("rb") as raw:
                head = raw.peek(4)[:4]
                binary = io.BufferedReader(gzip.GzipFile(fileobj=raw)) if head[:2] == b"\x1f\x8b" else raw
                start = binary.peek(512)[:512]
                if start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start:
                    raise FileFormatError("is not UTF-8 text.", file=self.file, remedy="Save it as UTF-8 (or gzip of it).")
                yield io.TextIOWrapper(binary, encoding="utf-8-sig", errors="surrogateescape", newline=None)
        except DAMAGED as error:
            raise FileFormatError(f"the gzip stream is damaged ({error}).", file=self.file, remedy="Fetch it again.") from None
        except OSError as error:
            raise FileFormatError(
                f"cannot be read ({error.strerror or error}).", file=self.file, remedy="Check the path and its permissions."
            ) from None

    def lines(self) -> Iterator[str]:
        """The lines without their ends, blank ones left out; `line` and `unterminated` follow along."""
        with self.text() as handle:
            while True:
                try:
                    line = handle.readline(LINE_LIMIT)
                except DAMAGED as error:
                    raise BadRow(
                        f"the gzip stream is cut short or damaged here ({error}).", "Fetch the file again.", line=self.line + 1
                    ) from None
                if not line:
                    return
                self.line += 1
                if len(line) >= LINE_LIMIT:
                    raise BadRow(
                        f"the line is longer than {LINE_LIMIT} characters.", "Is this a file of lines?", line=self.line
                    )
                self.unterminated = not line.endswith("\n")
                if line := line.strip():
                    yield line
