"""Networks from and to TOML files.

::

    [[cell]]
    name = "west"
    arrival_rate = 1.6            # requests per second, 0 allowed
    replicas = 4                  # optional, 1 by default; divides the RIF cost only
    rate = {family = "mm1", capacity = 2.0, half = 1.0}   # of the whole cell

    [[source]]                    # optional: a source that is no cell
    name = "edge"
    arrival_rate = 0.3

    [network]
    latency = [[0.0], [0.1]]      # one-way seconds; a row for each cell, then each source; inf: no arc
    allowed = [["west"], ["west"]]   # optional, rows as above; by default every finite latency

    [initial]                     # optional: where trajectories begin
    workloads = [3.0]             # optional, requests in flight, one a cell; empty by default
    routing = [[1.0], [1.0]]      # optional, shares, rows as above; uniform over the arcs by default
    workload_history = [3.0]      # optional: before time 0, as above; by default the values at 0
    routing_history = [[1.0], [1.0]]
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lbtheory.core import InputError, UnknownNameError, readonly
from lbtheory.core.toml_file import Misplaced, check_keys, one_table, read_toml, tables
from lbtheory.fluid.network import Cell, Network, NetworkError, Source, check_names
from lbtheory.fluid.rates import make_rate

"""Path of a value: keys, and indices into arrays, as in ``("cell", 1, "rate", "half")``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Initial:
    """Where trajectories begin: the table ``[initial]`` of a network file, None for what it leaves out.

    Attributes
    ----------
    workloads, workload_history : float array (n,) or None
        Requests in flight, ≥ 0.
    routing, routing_history : float array (s, n) or None
        Shares; rows on the simplex of the source's arcs.
    """

    workloads: np.ndarray | None = None
    routing: np.ndarray | None = None
    workload_history: np.ndarray | None = None
    routing_history: np.ndarray | None = None


def read_network(path: str | Path) -> Network:
    """Read a network file; see the module for its form.

    Raises
    ------
    FileFormatError
        Names the file and the line: TOML that cannot be parsed, unknown keys (with the nearest known one), missing keys, and
        whatever `Network`, `Cell`, `Source` and `make_rate` refuse.
    """
    return _read(path)[0]


def read_initial(path: str | Path) -> Initial:
    """The table ``[initial]`` of a network file; raises as `read_network`."""
    return _read(path)[1]


def _read(path: str | Path) -> tuple[Network, Initial]:
    """Both parts of a network file."""

    def build(data: dict[str, Any]) -> tuple[Network, Initial]:
        network = _network(data)
        return network, _initial(data.get("initial", {}), network)

    return read_toml(path, build)


def _network(data: dict[str, Any]) -> Network:
    """A network from parsed TOML; raises `Misplaced`."""
    check_keys(data, ("cell", "source", "network", "initial"), needed=("cell", "network"))
    cells = [_cell(table, i) for i, table in enumerate(tables(data, "cell"))]
    sources = [_source(table, i) for i, table in enumerate(tables(data, "source"))]
    network = one_table(data, "network")
    check_keys(network, ("latency", "allowed"), "network", needed=("latency",))
    try:
        check_names(cells, sources)
        allowed: Any = _mask(network["allowed"], cells) if "allowed" in network else None
        return Network(cells=tuple(cells), sources=tuple(sources), latency=network["latency"], allowed=allowed)
    except NetworkError as error:
        raise Misplaced(error, *error.where) from None


def _initial(table: Any, network: Network) -> Initial:
    """The table ``[initial]``; raises `Misplaced`."""
    if not isinstance(table, dict):
        raise Misplaced("`initial` must be one table: [initial].", "initial")
    keys = ("workloads", "routing", "workload_history", "routing_history")
    check_keys(table, keys, "initial", needed=())
    made: dict[str, Any] = {}
    for key in table:
        made[key] = _loads(table[key], key, network) if key.startswith("workload") else _shares(table[key], key, network)
    return Initial(**made)


def _loads(values: Any, key: str, network: Network) -> np.ndarray:
    row = _numbers(values, key, len(network.cells), "cell", "initial", key)
    for j in np.nonzero(row < 0)[0]:
        raise Misplaced(
            f"`{key}` of cell {network.cell_names[j]!r} must be ≥ 0, requests; got {row[j]:g}.", "initial", key, int(j)
        )
    return readonly(row)


def _shares(rows: Any, key: str, network: Network) -> np.ndarray:
    size = len(network.source_names)
    if not isinstance(rows, list) or len(rows) != size:
        got = f"{len(rows)} rows" if isinstance(rows, list) else repr(rows)
        raise Misplaced(f"`{key}` must have {size} rows, one for each cell, then each source; got {got}.", "initial", key)
    made = np.zeros(network.allowed.shape)
    for i, values in enumerate(rows):
        row = _numbers(values, f"row {i} of {key}", len(network.cells), "cell", "initial", key, i)
        name = network.source_names[i]
        rest = network.arrivals[i] == 0 and not row.any()
        if not rest and ((row < 0).any() or abs(row.sum() - 1) > 1e-9):
            raise Misplaced(
                f"`{key}` of {name!r} must be on the simplex, shares ≥ 0 with sum 1; got {values} with sum {row.sum():.12g}.",
                "initial", key, i,
            )  # fmt: skip
        for j in np.nonzero((row > 0) & ~network.allowed[i])[0]:
            raise Misplaced(f"`{key}` of {name!r} must be 0 to {network.cell_names[j]!r}: no arc.", "initial", key, i)
        made[i] = row
    return readonly(made)


def _numbers(values: Any, key: str, size: int, kind: str, *place: str | int) -> np.ndarray:
    """A list of finite numbers, one a cell."""
    legal = isinstance(values, list) and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    if not legal or len(values) != size or not np.isfinite(np.array(values, dtype=float)).all():
        raise Misplaced(f"`{key}` must be {size} finite numbers, one a {kind}; got {values!r}.", *place)
    return np.array(values, dtype=float)


def _cell(table: dict[str, Any], i: int) -> Cell:
    needed = ("name", "arrival_rate", "rate")
    check_keys(table, (*needed, "replicas"), "cell", i, needed=needed)
    try:
        rate = make_rate(table["rate"])
    except InputError as error:
        named = error.name if isinstance(error, UnknownNameError) else (re.findall(r"`(\w+)", str(error)) or [""])[0]
        raise Misplaced(error, "cell", i, "rate", named) from None
    try:
        return Cell(**{**table, "rate": rate})
    except NetworkError as error:
        raise Misplaced(error, "cell", i, *error.where) from None


def _source(table: dict[str, Any], i: int) -> Source:
    check_keys(table, ("name", "arrival_rate"), "source", i, needed=("name", "arrival_rate"))
    try:
        return Source(**table)
    except NetworkError as error:
        raise Misplaced(error, "source", i, *error.where) from None


def _mask(rows: Any, cells: list[Cell]) -> Any:
    """Rows of booleans from rows of cell names; what is no list of rows is left for `Network` to refuse."""
    if not isinstance(rows, list):
        return rows
    names = [cell.name for cell in cells]
    for i, row in enumerate(rows):
        if not isinstance(row, list) or not all(isinstance(name, str) for name in row):
            raise Misplaced(f"row {i} of `allowed` must be a list of cell names; got {row!r}.", "network", "allowed", i)
        for name in row:
            if name not in names:
                raise Misplaced(UnknownNameError("cell", name, names), "network", "allowed", i)
    return [[name in row for name in names] for row in rows]


def network_to_toml(network: Network) -> str:
    """The text of a network file that `read_network` reads back to the same network, to the last bit."""
    parts = []
    for cell in network.cells:
        rate = ", ".join(f"{name} = {_toml(value)}" for name, value in cell.rate.parameters().items())
        parts.append(
            f"[[cell]]\nname = {_toml(cell.name)}\narrival_rate = {_toml(cell.arrival_rate)}\n"
            f"replicas = {_toml(cell.replicas)}\nrate = {{{rate}}}\n"
        )
    for source in network.sources:
        parts.append(f"[[source]]\nname = {_toml(source.name)}\narrival_rate = {_toml(source.arrival_rate)}\n")
    rows = ",\n".join(f"  {_toml(row)}" for row in network.latency.tolist())
    parts.append(f"[network]\nlatency = [\n{rows},\n]\n")
    if not np.array_equal(network.allowed, np.isfinite(network.latency)):
        names = [[network.cell_names[j] for j in network.out_neighbours(i)] for i in range(len(network.latency))]
        rows = ",\n".join(f"  {_toml(row)}" for row in names)
        parts[-1] += f"allowed = [\n{rows},\n]\n"
    return "\n".join(parts)


def _toml(value: Any) -> str:
    """A text, a number or a list of them in TOML; names are printable, so that JSON's escapes are TOML's."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"[{', '.join(map(_toml, value))}]" if isinstance(value, list) else repr(value)
