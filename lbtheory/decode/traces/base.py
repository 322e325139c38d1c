"""The one noun of this package: a `Trace`, the requests that a run replays.

A trace is data only: prompt sizes, output lengths, optionally arrival times and prompt keys, and notes on what was sorted,
dropped or refused on the way. Readers, filters and generators all make their traces through `make_trace`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from lbtheory.core import EmptyTraceError, ParameterError, SizeOverflowError, readonly

SIZE_LIMIT = 2**40
"""Every prompt and output must be smaller: sums over workers and iterations then stay inside 64 bits."""

TOTAL_LIMIT = 2**53
"""The tokens of a whole trace must be fewer: their sum is then exact in a double too."""

ZeroOutputs = Literal["refuse", "drop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something that was done to a trace.

    Attributes
    ----------
    kind : str
        ``sorted``, ``dropped``, ``refused``, ``truncated``, ``changed`` or ``made``.
    count : int
        Requests concerned.
    what : str
        The note in words.
    """

    kind: str
    count: int
    what: str

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A bad place in a file: its line (None for the whole file) and what is wrong there."""

    line: int | None
    what: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """Requests in order of arrival.

    Attributes
    ----------
    prompts : int64 array (n,)
        Prompt sizes ``S_i``, tokens, each ≥ 1.
    outputs : int64 array (n,)
        Output lengths ``O_i``, tokens, each ≥ 1.
    arrivals : float64 array (n,) or None
        Seconds since the first arrival, nondecreasing; None when only lengths are known.
    keys : int64 or uint64 array (n,) or None
        Equal keys mean equal prompts; 64-bit ids are kept whole.
    name, format : str
        What it is called and what it was read from.
    notes : tuple of Note
        What was sorted, dropped, refused or changed, in order.
    problems : tuple of Problem
        Bad places that were left out (only where the caller asked to go on past them).
    """

    prompts: np.ndarray
    outputs: np.ndarray
    arrivals: np.ndarray | None
    keys: np.ndarray | None
    name: str
    format: str
    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def n(self) -> int:
        """Number of requests."""
        return len(self.prompts)

    @property
    def timed(self) -> bool:
        """Whether arrival times are known."""
        return self.arrivals is not None

    @property
    def span(self) -> float | None:
        """Seconds from the first to the last arrival; None without times."""
        return None if self.arrivals is None else float(self.arrivals[-1] - self.arrivals[0])

    @property
    def rate(self) -> float | None:
        """Requests a second, ``n / span``; None without times or when all arrive at once."""
        return self.n / self.span if self.span else None

    @property
    def sorted_rows(self) -> int:
        """Rows that stood behind a later arrival and were moved."""
        return self._count("sorted")

    @property
    def dropped(self) -> int:
        """Requests left out by a reader or a filter, refused ones apart."""
        return self._count("dropped")

    @property
    def refused(self) -> int:
        """Requests refused because their prompt is above a capacity."""
        return self._count("refused")

    def _count(self, kind: str) -> int:
        return sum(note.count for note in self.notes if note.kind == kind)

    def select(self, index: Any, *notes: Note) -> "Trace":
        """The requests at ``index`` (integers in increasing order, a slice or a mask), arrivals counted from the first kept.

        Raises
        ------
        EmptyTraceError
            When nothing is selected.
        """
        prompts = self.prompts[index]
        if len(prompts) == 0:
            raise EmptyTraceError(f"`index` of `select` leaves no request of trace {self.name!r}. Select at least one.")
        arrivals = None if self.arrivals is None else self.arrivals[index]
        return replace(
            self,
            prompts=readonly(prompts),
            outputs=readonly(self.outputs[index]),
            arrivals=None if arrivals is None else readonly(arrivals - arrivals[0]),
            keys=None if self.keys is None else readonly(self.keys[index]),
            notes=self.notes + notes,
        )


def make_trace(
    prompts: Sequence[int] | np.ndarray,
    outputs: Sequence[int] | np.ndarray,
    *,
    arrivals: Sequence[float] | np.ndarray | None = None,
    keys: Sequence[int] | np.ndarray | None = None,
    name: str = "trace",
    format: str = "arrays",
    notes: Iterable[Note] = (),
    problems: Iterable[Problem] = (),
    zero_outputs: ZeroOutputs = "refuse",
) -> Trace:
    """Build and check a `Trace`; requests are sorted by arrival (stable) and times counted from the first.

    Parameters
    ----------
    prompts, outputs : sequences of n positive integers, tokens
    arrivals : sequence of n finite numbers, seconds, optional
    keys : sequence of n integers of at most 64 bits, optional
    zero_outputs : {"refuse", "drop"}
        What to do with requests that generate nothing: an error, or left out and counted.

    Raises
    ------
    ParameterError, SizeOverflowError, EmptyTraceError
    """
    check_zero_outputs(zero_outputs)
    done = list(notes)
    p, o = _sizes("prompts", prompts, 1), _sizes("outputs", outputs, 0 if zero_outputs == "drop" else 1)
    a = None if arrivals is None else _times(arrivals)
    k = None if keys is None else key_array(keys)
    for label, values in (("outputs", o), ("arrivals", a), ("keys", k)):
        if values is not None and len(values) != len(p):
            raise ParameterError(
                f"`{label}` of `make_trace` must have as many entries as `prompts` ({len(p)}); got {len(values)}."
            )
    keep = o > 0
    if not keep.all():
        done.append(zero_note(int((~keep).sum())))
        p, o = p[keep], o[keep]
        a, k = (None if a is None else a[keep]), (None if k is None else k[keep])
    if len(p) == 0:
        raise EmptyTraceError(f"trace {name!r} holds no request. Give at least one with an output of 1 token or more.")
    if float(p.sum(dtype=np.float64)) + float(o.sum(dtype=np.float64)) >= TOTAL_LIMIT:
        raise SizeOverflowError(
            f"the tokens of trace {name!r} sum to {TOTAL_LIMIT} or more. Scale the sizes down or replay a part of the trace."
        )
    if a is not None:
        order, note = arrival_order(a)
        if note is not None:
            p, o, a, k = p[order], o[order], a[order], (None if k is None else k[order])
            done.append(note)
        a = a - a[0]
    return Trace(
        prompts=readonly(p),
        outputs=readonly(o),
        arrivals=None if a is None else readonly(a),
        keys=None if k is None else readonly(k),
        name=name,
        format=format,
        notes=tuple(done),
        problems=tuple(problems),
    )


def arrival_order(times: np.ndarray) -> tuple[np.ndarray, Note | None]:
    """Stable order by time, and a note that counts the rows behind a later one (None when there are none)."""
    behind = int((times[1:] < np.maximum.accumulate(times)[:-1]).sum()) if len(times) else 0
    order = np.argsort(times, kind="stable")
    if not behind:
        return order, None
    return order, Note(kind="sorted", count=behind, what=f"{behind} rows were behind a later arrival; sorted by arrival")


def zero_note(count: int) -> Note:
    """The note for requests with zero output tokens that were left out."""
    return Note(kind="dropped", count=count, what=f"{count} requests with zero output tokens were dropped")


def check_zero_outputs(value: str) -> None:
    """Raise `ParameterError` unless ``value`` is ``refuse`` or ``drop``."""
    if value not in ("refuse", "drop"):
        raise ParameterError(f"`zero_outputs` must be 'refuse' or 'drop'; got {value!r}.")


def key_array(keys: Sequence[int] | np.ndarray) -> np.ndarray:
    """Prompt keys as int64, or uint64 where they need the top bit; never through floats.

    Raises
    ------
    ParameterError
        When a key is not an integer, or no 64-bit type holds them all.
    """
    if isinstance(keys, np.ndarray) and keys.dtype.kind in "iu":
        return keys.astype(np.uint64 if keys.dtype == np.uint64 else np.int64)
    values = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
    for i, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise ParameterError(
                f"`keys` must hold integers of at most 64 bits (floats lose digits); got {value!r} at index {i}."
            )
    low, high = min(values, default=0), max(values, default=0)
    if low >= -(2**63) and high < 2**63:
        return np.array(values, dtype=np.int64)
    if low >= 0 and high < 2**64:
        return np.array(values, dtype=np.uint64)
    raise ParameterError(f"`keys` must fit 64 bits (all signed or all unsigned); got values from {low} to {high}.")


def _sizes(name: str, values: Any, low: int) -> np.ndarray:
    """An int64 array of sizes from ``low`` up to `SIZE_LIMIT`; errors name the entry."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iufO" and array.size):
        raise ParameterError(f"`{name}` of `make_trace` must be a list of whole numbers of tokens.")
    if array.dtype.kind == "O" and not all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in array):
        raise ParameterError(f"`{name}` of `make_trace` must hold numbers only.")
    bad = np.array([v != v or v in (np.inf, -np.inf) or v != np.trunc(v) for v in array]) if array.dtype.kind == "O" else None
    if array.dtype.kind == "f":
        bad = ~np.isfinite(array) | (array != np.trunc(array))
    if bad is not None and bad.any():
        i = int(bad.argmax())
        raise ParameterError(
            f"`{name}` of `make_trace` must hold finite whole numbers; got {array[i]} at index {i}. Round them first."
        )
    small, large = array < low, array >= SIZE_LIMIT
    if np.any(small):
        i = int(np.argmax(small))
        hint = " Drop such requests with zero_outputs='drop'." if name == "outputs" and array[i] == 0 else ""
        raise ParameterError(f"`{name}` of `make_trace` must be ≥ {low} tokens; got {array[i]} at index {i}.{hint}")
    if np.any(large):
        i = int(np.argmax(large))
        raise SizeOverflowError(
            f"`{name}` of `make_trace` must stay below {SIZE_LIMIT} tokens; got {array[i]} at index {i}. Scale the sizes down."
        )
    return array.astype(np.int64)


def _times(arrivals: Any) -> np.ndarray:
    try:
        array = np.array(arrivals, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("`arrivals` of `make_trace` must be a list of numbers of seconds.") from None
    if array.ndim != 1 or not np.isfinite(array).all():
        i = int((~np.isfinite(array)).argmax()) if array.ndim == 1 else 0
        raise ParameterError(f"`arrivals` of `make_trace` must be finite seconds; got {array[i]} at index {i}.")
    return array
