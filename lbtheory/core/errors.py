"""One class a cause. Messages read "`arg` of `function` must be …; got … at index …. Remedy."

Everything under `InputError` is bad input: the command line prints its message and exits with 2.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import ClassVar


class LBTheoryError(Exception):
    """Base of every error that lbtheory raises on purpose; ``exit_code`` is what the command line returns for it."""

    exit_code: ClassVar[int] = 1


class InputError(LBTheoryError, ValueError):
    """The caller's input is wrong; the message names it and the remedy."""

    exit_code: ClassVar[int] = 2


class ParameterError(InputError):
    """A parameter is out of its range or of the wrong form."""


class InstanceError(InputError):
    """A decode instance contradicts itself (lengths, signs, missing keys)."""


class SizeOverflowError(InputError):
    """Sizes are so large that 64-bit integers (or exact doubles) could not hold a sum of them."""


class FileFormatError(InputError):
    """A file cannot be read as what it claims to be; carries the file and the line."""

    def __init__(self, what: str, *, file: str, line: int | None = None, remedy: str = "") -> None:
        self.file, self.line, self.what, self.remedy = file, line, what, remedy
        place = f"{file}, line {line}" if line is not None else file
        super().__init__(f"{place}: {what}" + (f" {remedy}" if remedy else ""))


class EmptyTraceError(InputError):
    """No request is left to replay."""


class CapacityError(InputError):
    """A request can never be served at the stated capacity."""


class InfeasibleError(InputError):
    """No assignment satisfies the constraints."""


class UnknownNameError(InputError):
    """A name (policy, format, law …) is not known; the message offers the nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = get_close_matches(name, names, n=1, cutoff=0.4)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"unknown {kind} {name!r}.{hint} Known: {', '.join(names)}.")
        self.kind, self.name, self.nearest = kind, name, near[0] if near else None


class InformationError(LBTheoryError, AttributeError):
    """A policy read something that its declared information set does not contain."""


class PolicyError(LBTheoryError):
    """A policy returned an assignment that is not feasible and maximal."""
