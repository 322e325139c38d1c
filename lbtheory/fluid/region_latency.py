"""Networks from a square CSV of round-trip times between regions, in milliseconds.

The first row and the first column name the regions, in one order; rows are where a request starts. What such a file leaves open
is decided by the caller and said in ``notes``: a blank is a missing arc, the diagonal has a stated default, directions that
differ are kept or made equal, and half a round trip is taken for the one-way latency, which was not measured. A row with too
few values has lost some, and nothing says which.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from lbtheory.core import FileFormatError, ParameterError, UnknownNameError, readonly
from lbtheory.fluid.network import Cell, Network, Source

Array = np.ndarray

SYMMETRY = ("keep", "mean", "larger")
"""What to do with two directions that differ: keep both, or use their mean or the larger for both."""
SHORT_ROWS = ("omit", "pad", "refuse")
"""What to do with a row of too few values: leave all of it blank, take the blanks to be at its end, or raise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionLatency:
    """One-way latencies between regions.

    Attributes
    ----------
    regions : tuple of str
    one_way : float array (n, n)
        Seconds, from row to column; infinite where the file has no value.
    blanks : int
        Entries off the diagonal without a value, before any direction stands in for the other.
    asymmetric : int
        Unordered pairs whose two directions differ in the file, both present.
    largest_difference : float
        Of those, seconds of round trip.
    notes : tuple of str
        What was assumed, one sentence each.
    """

    regions: tuple[str, ...]
    one_way: Array
    blanks: int
    asymmetric: int
    largest_difference: float
    notes: tuple[str, ...]


def read_region_latency(
    path: str | Path, *, diagonal: float = 0.0, symmetry: str = "keep", short_rows: str = "omit"
) -> RegionLatency:
    """Read a square CSV of round-trip milliseconds.

    Parameters
    ----------
    path : path
    diagonal : float
        Round trip inside a region where the file leaves it blank, milliseconds, ≥ 0.
    symmetry : "keep", "mean" or "larger"
        For two directions that differ; a pair with one blank takes the other direction for both, unless they are kept.
    short_rows : "omit", "pad" or "refuse"
        For a row with fewer values than regions.

    Raises
    ------
    FileFormatError
        Names the file and the line: no square table, names that repeat or differ between row and column, a value that is no
        finite number ≥ 0.
    ParameterError, UnknownNameError
        For ``diagonal``, ``symmetry`` and ``short_rows``.
    """
    if isinstance(diagonal, bool) or not isinstance(diagonal, int | float) or not isfinite(diagonal) or diagonal < 0:
        raise ParameterError(f"`diagonal` of `read_region_latency` must be milliseconds ≥ 0; got {diagonal!r}.")
    if symmetry not in SYMMETRY:
        raise UnknownNameError("symmetry rule", str(symmetry), SYMMETRY)
    if short_rows not in SHORT_ROWS:
        raise UnknownNameError("rule for short rows", str(short_rows), SHORT_ROWS)
    regions, trips, short = _square(path, short_rows)
    notes = ["One-way latency is half of the round trip: an assumption, for one-way times are not measured."]
    if short:
        done = "all their values are left out" if short_rows == "omit" else "blanks are taken to be at their ends"
        notes.append(f"Rows with too few values, which may have lost some anywhere: {', '.join(short)}; {done}.")
    inside = np.isnan(np.diag(trips))
    if inside.any():
        notes.append(f"{inside.sum()} blank diagonal entries are set to a round trip of {diagonal:g} ms.")
        trips[np.diag_indices_from(trips)] = np.where(inside, diagonal, np.diag(trips))
    missing = np.isnan(trips)
    difference = np.triu(np.nan_to_num(np.abs(trips - trips.T)))
    unequal, largest = int(np.count_nonzero(difference)), float(difference.max(initial=0.0))
    one_sided = int(np.count_nonzero(missing & ~missing.T))
    if unequal or one_sided:
        found = (
            f"{unequal} pairs differ between their directions, by up to {largest:g} ms, and {one_sided} have one direction only"
        )
        rule = {"keep": "kept as they are", "mean": "both directions get the mean", "larger": "both directions get the larger"}
        notes.append(f"{found}: {rule[symmetry]}." + ("" if symmetry == "keep" else " A single direction serves for both."))
    if symmetry != "keep":
        low, high = np.fmin(trips, trips.T), np.fmax(trips, trips.T)
        trips = high if symmetry == "larger" else (low + high) / 2
    one_way = np.where(np.isnan(trips), np.inf, trips / 2000)
    if missing.any():
        notes.append(f"{missing.sum()} entries off the diagonal are blank; {np.isinf(one_way).sum()} arcs are missing.")
    return RegionLatency(
        regions=regions,
        one_way=readonly(one_way),
        blanks=int(missing.sum()),
        asymmetric=unequal,
        largest_difference=largest / 1000,
        notes=tuple(notes),
    )


def _square(path: str | Path, short_rows: str) -> tuple[tuple[str, ...], Array, list[str]]:
    """Names, the matrix with NaN where blank, and which rows are short."""
    file = str(path)
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream)
            rows = [(reader.line_num, [field.strip() for field in row]) for row in reader if any(map(str.strip, row))]
    except OSError as error:
        raise FileFormatError(f"cannot be read ({error.strerror or error}).", file=file) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"is not a CSV file in UTF-8 ({error}).", file=file) from None
    if not rows or len(rows[0][1]) < 2:
        raise FileFormatError("must have a header with a corner and the names of the regions.", file=file, line=1)
    head, (_, *names) = rows[0]
    if repeated := sorted({name for name in names if names.count(name) > 1 or not name}):
        raise FileFormatError(
            f"the regions of the header must differ and not be blank; got {repeated[0]!r}.", file=file, line=head
        )
    if len(rows) - 1 != len(names):
        raise FileFormatError(
            f"must be square: the header names {len(names)} regions and {len(rows) - 1} rows follow.",
            file=file,
            line=rows[-1][0],
        )
    trips, short = np.full((len(names), len(names)), np.nan), list[str]()
    for i, (line, (name, *fields)) in enumerate(rows[1:]):
        if name != names[i]:
            raise FileFormatError(
                f"rows must be in the order of the header: expected {names[i]!r}, got {name!r}.", file=file, line=line
            )
        if len(fields) > len(names) or (len(fields) < len(names) and short_rows == "refuse"):
            raise FileFormatError(f"row {name!r} must have {len(names)} values; got {len(fields)}.", file=file, line=line)
        if len(fields) < len(names):
            short.append(f"{name!r} (line {line})")
            fields = fields if short_rows == "pad" else []
        for j, field in enumerate(fields):
            if field:
                trips[i, j] = _milliseconds(field, name, names[j], file, line)
    return tuple(names), trips, short


def _milliseconds(field: str, start: str, end: str, file: str, line: int) -> float:
    try:
        value = float(field)
    except ValueError:
        value = np.nan
    if not (isfinite(value) and value >= 0):
        raise FileFormatError(
            f"the round trip from {start!r} to {end!r} must be milliseconds ≥ 0, or blank; got {field!r}.", file=file, line=line
        )
    return value


def network_from_latency(
    latency: RegionLatency, cells: Sequence[Cell], *, sources: Sequence[Source] = (), allowed: Any = None
) -> Network:
    """A network of cells, and sources, that are named after regions.

    Parameters
    ----------
    latency : RegionLatency
    cells, sources : sequences
        Any regions, in any order; others are left out.
    allowed : array_like of bool (s, n), optional
        As in `Network`: by default every arc that is not missing.

    Raises
    ------
    UnknownNameError
        For a name that is no region, with the nearest.
    NetworkError
        Whatever `Network` refuses, such as a cell that no arc leads to.
    """
    index = {name: i for i, name in enumerate(latency.regions)}
    names = [cell.name for cell in cells] + [source.name for source in sources]
    for name in names:
        if name not in index:
            raise UnknownNameError("region", name, index)
    rows = [index[name] for name in names]
    columns = rows[: len(cells)]
    return Network(cells=tuple(cells), sources=tuple(sources), latency=latency.one_way[np.ix_(rows, columns)], allowed=allowed)
