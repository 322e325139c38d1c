"""Networks of cells (DLB paper, section 2.1): cells, sources that are no cells, and admissible arcs with one-way latencies."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, readonly
from lbtheory.fluid.costs import CellCost, cell_cost
from lbtheory.fluid.rates import RateFamily

Array = np.ndarray


class NetworkError(ParameterError):
    """A network contradicts itself. ``where`` is the place in the terms of a network file, such as ``("cell", 1, "name")``."""

    def __init__(self, message: str, *where: str | int) -> None:
        super().__init__(message)
        self.where = where


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell, which is also a source of requests.

    Parameters
    ----------
    name : str
        Printable.
    arrival_rate : float
        ``λ`` of the requests that enter the network here, per second, ≥ 0.
    replicas : int
        ``k ≥ 1``; divides the RIF cost and nothing else.
    rate : RateFamily
        ``μ`` of the whole cell.

    Raises
    ------
    NetworkError
    """

    name: str
    arrival_rate: float
    replicas: int = 1
    rate: RateFamily

    def __post_init__(self) -> None:
        _check_source(self, "Cell")
        if isinstance(self.replicas, bool) or not isinstance(self.replicas, int | np.integer) or self.replicas < 1:
            raise NetworkError(
                f"`replicas` of cell {self.name!r} must be a whole number ≥ 1; got {self.replicas!r}.", "replicas"
            )
        object.__setattr__(self, "replicas", int(self.replicas))
        if not isinstance(self.rate, RateFamily):
            raise NetworkError(
                f"`rate` of cell {self.name!r} must be a RateFamily; got {self.rate!r}. Use `make_rate`.", "rate"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source of requests that is no cell: ``name`` and ``arrival_rate`` (per second, ≥ 0) as of a `Cell`."""

    name: str
    arrival_rate: float

    def __post_init__(self) -> None:
        _check_source(self, "Source")


def _check_source(of: Cell | Source, kind: str) -> None:
    if not isinstance(of.name, str) or not of.name.strip() or not of.name.isprintable():
        raise NetworkError(f"`name` of `{kind}` must be a printable text that is not blank; got {of.name!r}.", "name")
    rate = of.arrival_rate
    if isinstance(rate, bool) or not isinstance(rate, int | float | np.integer | np.floating) or not isfinite(rate) or rate < 0:
        raise NetworkError(
            f"`arrival_rate` of {kind.lower()} {of.name!r} must be finite and ≥ 0, requests per second; got {rate!r}.",
            "arrival_rate",
        )
    object.__setattr__(of, "arrival_rate", float(rate))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Network:
    """Cells ``C = {0, …, n−1}``, sources (the cells, then ``sources``), and directed admissible arcs.

    Parameters
    ----------
    cells : sequence of Cell
        At least one.
    latency : array_like (s, n)
        ``τ_ij`` one-way seconds from source ``i`` to cell ``j``, ≥ 0; infinite where there is no arc. Not symmetric in general.
    sources : sequence of Source
        Beyond the cells, in the last rows of ``latency``.
    allowed : array_like of bool (s, n), optional
        Admissible arcs (residency); by default every arc of finite latency.

    Raises
    ------
    NetworkError
        Names that repeat; wrong shapes; a latency that is negative or NaN, or infinite on an allowed arc; arrivals at a source
        without an admissible cell; a cell without an in-neighbour, which can only drain.
    """

    cells: tuple[Cell, ...]
    latency: Array
    sources: tuple[Source, ...] = ()
    allowed: Array = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", _members(self.cells, Cell, "cells"))
        object.__setattr__(self, "sources", _members(self.sources, Source, "sources"))
        if not self.cells:
            raise NetworkError("`cells` of `Network` must hold at least one cell; got none.", "cell")
        check_names(self.cells, self.sources)
        object.__setattr__(self, "latency", readonly(_latency(self, self.latency)))
        object.__setattr__(self, "allowed", readonly(_allowed(self, self.allowed)))
        for i in np.nonzero((self.arrivals > 0) & ~self.allowed.any(axis=1))[0]:
            raise NetworkError(
                f"source {self.source_names[i]!r} must have an admissible cell, for its arrival rate is {self.arrivals[i]:g}. "
                "Allow an arc of finite latency, or set its arrival rate to 0.",
                *self.place(int(i)),
            )
        for j in np.nonzero(~self.allowed.any(axis=0))[0]:
            raise NetworkError(
                f"cell {self.cell_names[j]!r} must have an in-neighbour; no source may send to it, so it can only drain. "
                "Remove it, or allow an arc to it.",
                "cell",
                int(j),
            )

    @property
    def cell_names(self) -> tuple[str, ...]:
        """Names in cell order."""
        return tuple(cell.name for cell in self.cells)

    @property
    def source_names(self) -> tuple[str, ...]:
        """Names of the rows: cells, then sources beyond them."""
        return self.cell_names + tuple(source.name for source in self.sources)

    @property
    def arrivals(self) -> Array:
        """``λ``, float array (s,), requests per second."""
        rates = [cell.arrival_rate for cell in self.cells] + [source.arrival_rate for source in self.sources]
        return readonly(rates, dtype=float)

    @property
    def capacities(self) -> Array:
        """``μ̄``, float array (n,), requests per second."""
        return readonly([cell.rate.capacity_limit for cell in self.cells], dtype=float)

    @property
    def replicas(self) -> Array:
        """``k``, int array (n,)."""
        return readonly([cell.replicas for cell in self.cells], dtype=np.int64)

    @property
    def arcs(self) -> tuple[Array, Array]:
        """``A``: sources and cells of the admissible arcs, int arrays, by source and then cell."""
        at, to = np.nonzero(self.allowed)
        return readonly(at), readonly(to)

    @property
    def offered(self) -> Array:
        """``Λ_j = Σ_{i ∈ C⁻(j)} λ_i``, float array (n,): the most that may ever enter a cell, per second."""
        return readonly(self.arrivals @ self.allowed)

    @property
    def total(self) -> float:
        """``Λ = Σ_i λ_i``, requests per second."""
        return float(self.arrivals.sum())

    @property
    def longest_latency(self) -> float:
        """``τ̄ = max τ_ij`` over the admissible arcs, seconds."""
        return float(self.latency[self.allowed].max())

    def out_neighbours(self, source: int) -> Array:
        """``C⁺(i)``: indices of the cells that a source may send to."""
        return readonly(np.nonzero(self.allowed[source])[0])

    def in_neighbours(self, cell: int) -> Array:
        """``C⁻(j)``: indices of the sources that may send to a cell."""
        return readonly(np.nonzero(self.allowed[:, cell])[0])

    def costs(self, cost: str) -> tuple[CellCost, ...]:
        """One cost of every cell, in cell order."""
        return tuple(cell_cost(cost, cell.rate, cell.replicas) for cell in self.cells)

    def place(self, source: int) -> tuple[str, int]:
        """Table of a network file that a row belongs to: ``("cell", i)`` or ``("source", i − n)``."""
        n = len(self.cells)
        return ("cell", source) if source < n else ("source", source - n)


def _members(values: Any, kind: type, name: str) -> tuple[Any, ...]:
    if not isinstance(values, Sequence) or not all(isinstance(value, kind) for value in values):
        raise NetworkError(f"`{name}` of `Network` must be a sequence of {kind.__name__}; got {values!r}.", name[:-1])
    return tuple(values)


def check_names(cells: Sequence[Cell], sources: Sequence[Source]) -> None:
    """Raise `NetworkError` unless the names of cells and sources differ."""
    seen: set[str] = set()
    places = [("cell", i, cell.name) for i, cell in enumerate(cells)]
    for kind, i, name in places + [("source", i, source.name) for i, source in enumerate(sources)]:
        if name in seen:
            raise NetworkError(f"names of cells and sources must differ; got {name!r} again. Rename one.", kind, i, "name")
        seen.add(name)


def _latency(of: Network, values: Any) -> Array:
    """The matrix as floats; see `Network`."""
    shape = (len(of.cells) + len(of.sources), len(of.cells))
    times = _matrix("latency", values, shape, float)
    for i, j in np.argwhere(np.isnan(times) | (times < 0)):
        raise NetworkError(
            f"`latency` from {of.source_names[i]!r} to {of.cell_names[j]!r} must be one-way seconds ≥ 0, or inf where there is "
            f"no arc; got {times[i, j]:g}.",
            "network",
            "latency",
            int(i),
        )
    return times


def _allowed(of: Network, values: Any) -> Array:
    """The mask; see `Network`."""
    if values is None:
        return np.isfinite(of.latency)
    mask = _matrix("allowed", values, of.latency.shape, bool)
    for i, j in np.argwhere(mask & np.isinf(of.latency)):
        raise NetworkError(
            f"`latency` from {of.source_names[i]!r} to {of.cell_names[j]!r} must be finite, for that arc is allowed; got inf.",
            "network",
            "allowed",
            int(i),
        )
    return mask


def _matrix(name: str, values: Any, shape: tuple[int, int], kind: type) -> Array:
    """A matrix of numbers (or of booleans) of a shape; a row of wrong length is named."""
    if isinstance(values, np.ndarray) and values.shape == shape and values.dtype.kind in ("b" if kind is bool else "iuf"):
        return values.astype(kind)
    rows = values if isinstance(values, np.ndarray) else list(values) if isinstance(values, Sequence) else None
    if rows is None or len(rows) != shape[0]:
        got = "no matrix" if rows is None else f"{len(rows)} rows"
        raise NetworkError(
            f"`{name}` of `Network` must have {shape[0]} rows (each cell, then each source) of {shape[1]}; got {got}.",
            "network",
            name,
        )
    legal = (bool, np.bool_) if kind is bool else (int, float, np.integer, np.floating)
    for i, row in enumerate(rows):
        entries = list(row) if isinstance(row, Sequence | np.ndarray) and not isinstance(row, str) else None
        if entries is None or len(entries) != shape[1]:
            got = repr(row) if entries is None else f"{len(entries)} entries"
            raise NetworkError(
                f"row {i} of `{name}` of `Network` must have {shape[1]} entries, one a cell; got {got}.", "network", name, i
            )
        for entry in entries:
            if not isinstance(entry, legal) or (kind is float and isinstance(entry, bool)):
                what = "true or false" if kind is bool else "numbers"
                raise NetworkError(f"row {i} of `{name}` of `Network` must hold {what}; got {entry!r}.", "network", name, i)
    return np.array(rows, dtype=kind)
