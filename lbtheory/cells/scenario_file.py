"""Scenarios from TOML files.

::

    [scenario]
    cells = 6                 # sampled; or as many as there are [[cell]] tables
    utilisation = 0.8
    duration = 600.0          # seconds
    warmup = 60.0
    length_scale = 1.0        # y: token times divided, rates multiplied
    noise = 0.0               # ε of the latency models
    seed = 0

    [[cell]]                  # optional: instead of sampled cells, all of them
    name = "west"
    servers = 10
    prefill_token_time = 0.0002
    decode_token_time = 0.0032
    arrival_rate = 70.0       # optional: by default its share of the demand at `utilisation`
    region = "us-west"        # optional, with `regions` of [network]: by default the cell's name

    [network]                 # needed with [[cell]] tables
    latency = [[0.0005]]      # one-way seconds, a row a cell; inf: no arc
    regions = "regions.csv"   # in place of `latency`: round-trip milliseconds, path from the folder of this file
    hop = 0.0005              # with `regions`: added one way, seconds; `diagonal`, `symmetry`, `short_rows` as of
                              # `read_region_latency`
    allowed = [["west"]]      # optional: names of the cells that each may send to

    [lengths]                 # optional: prefill and decode tokens from a trace, drawn in pairs
    trace = "trace.csv"       # path from the folder of this file
    format = "azure"          # optional: by default found from the content
    columns = "prompt=B,output=C"  # optional: any CSV by its columns

    [[event]]
    kind = "burst"            # burst, outage, unhealthy, crash or slow
    start = 180.0
    end = 420.0
    cell = "west"             # optional, name or index; the other keys are fields of `Event`

    [[capacity]]              # optional: replicas by time
    cell = "west"
    time = 300.0
    servers = 4

    [demand]                  # optional: fields of `Demand`
    wave = 0.5

    [sampler]                 # optional, without [[cell]]: keywords of `sample_scenario`
    spread = 0.2

    [prefill_tokens]          # optional, and [decode_tokens]: fields of `TokenLaw`
    shift = 50.0
    shape = 2.0
    scale = 225.0

The same file may hold what `lbtheory.cells.setup_file` reads: [parameters], [sessions], [calibration] and [[stage]].
"""

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lbtheory.cells.demand import STEADY, Demand
from lbtheory.cells.lengths import TraceLengths
from lbtheory.cells.regions import HOP, latency_between
from lbtheory.cells.sampler import sample_scenario
from lbtheory.cells.scenario import (
    DECODE_TOKENS,
    PREFILL_TOKENS,
    CapacityStep,
    CellSpec,
    Event,
    Scenario,
    ScenarioError,
    TokenLaw,
)
from lbtheory.core import FileFormatError, InputError, UnknownNameError, generator
from lbtheory.core.toml_file import Misplaced, check_keys, one_table, read_toml, tables
from lbtheory.decode.traces import read_trace
from lbtheory.fluid.region_latency import read_region_latency

SCENARIO_KEYS = ("cells", "utilisation", "duration", "warmup", "length_scale", "noise", "seed")
CELL_KEYS = ("name", "servers", "prefill_token_time", "decode_token_time", "arrival_rate", "region")
NETWORK_KEYS = ("latency", "regions", "hop", "diagonal", "symmetry", "short_rows", "allowed")
LENGTHS_KEYS = ("trace", "format", "columns")
SAMPLER_KEYS = ("spread", "servers", "regions", "square", "scatter", "detour", "hop", "prefill_token_time", "decode_token_time")
SCENARIO_TABLES = (
    "scenario",
    "cell",
    "network",
    "event",
    "lengths",
    "capacity",
    "demand",
    "sampler",
    "prefill_tokens",
    "decode_tokens",
)
SETUP_TABLES = ("parameters", "sessions", "calibration", "stage")
Built = TypeVar("Built")
_LEGAL: dict[Any, tuple[Any, str]] = {
    float: (int | float, "a number"),
    int: (int, "a whole number"),
    bool: (bool, "true or false"),
    str: (str, "a text"),
}
"""What TOML may hold for a field of a type."""


def read_scenario(path: str | Path, *, seed: int | None = None) -> Scenario:
    """Read a scenario file; see the module for its form.

    Parameters
    ----------
    path : path
    seed : int, optional
        In place of the file's.

    Raises
    ------
    FileFormatError
        Names the file and the line: TOML that cannot be parsed, unknown keys (with the nearest known one), missing keys, and
        whatever `Scenario`, `CellSpec` and `Event` refuse.
    """
    return read_toml(path, lambda data: scenario_of(data, seed, Path(path).parent))


def scenario_of(data: dict[str, Any], seed: int | None, folder: Path, decode_slots: int = 8) -> Scenario:
    """The scenario in a file's data; paths in it start from ``folder``."""
    check_keys(data, SCENARIO_TABLES + SETUP_TABLES, needed=("scenario",))
    table = one_table(data, "scenario")
    check_keys(table, SCENARIO_KEYS, "scenario")
    options = dict(table)
    if seed is not None:
        options["seed"] = seed
    _check_numbers(options)
    given = tables(data, "cell")
    shared = {"demand": _from_table(data, "demand", Demand, STEADY), "decode_slots": decode_slots, **_tokens(data, folder)}
    try:
        if given or "cells" not in options:
            if "sampler" in data:
                raise Misplaced("[sampler] goes with sampled cells only; cells are given here. Leave it out.", "sampler")
            made = _explicit(data, given, options, shared, folder)
        elif "network" in data:
            raise Misplaced("`network` needs a [[cell]] table for each of its cells; cells are sampled here.", "network")
        else:
            sampler = one_table(data, "sampler") if "sampler" in data else {}
            check_keys(sampler, SAMPLER_KEYS, "sampler")
            made = sample_scenario(options.pop("seed", 0), **options, **sampler, **shared)
    except ScenarioError as error:
        raise Misplaced(error, *error.where) from None
    names = [cell.name for cell in made.cells]
    events = tuple(build(Event, one, "event", i, cells=names) for i, one in enumerate(tables(data, "event")))
    capacity = tuple(build(CapacityStep, one, "capacity", i, cells=names) for i, one in enumerate(tables(data, "capacity")))
    try:
        return made.changed(events=events, capacity=capacity)
    except ScenarioError as error:
        raise Misplaced(error, *error.where) from None


def build(kind: type[Built], table: dict[str, Any], *place: str | int, cells: list[str] | None = None) -> Built:
    """A dataclass from a table of its fields; ``cell`` may be one of the names of ``cells``."""
    own = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    needed = [name for name, field in own.items() if field.default is MISSING and field.default_factory is MISSING]
    check_keys(table, own, *place, needed=needed)
    values = dict(table)
    if cells is not None and "cell" in values:
        values["cell"] = _cell(values["cell"], cells, *place)
    for key, value in values.items():
        legal, words = _LEGAL.get(own[key].type, (object, ""))
        if not isinstance(value, legal) or (isinstance(value, bool) and legal in (int, int | float)):
            raise Misplaced(f"`{key}` must be {words}; got {value!r}.", *place, key)
    try:
        return kind(**values)
    except ScenarioError as error:
        raise Misplaced(error, *place, *error.where) from None
    except InputError as error:
        named = [key for key in re.findall(r"(?:`|unknown )(\w+)", str(error)) if key in values]
        raise Misplaced(error, *place, *named[:1]) from None


def _from_table(data: Mapping[str, Any], name: str, kind: type[Built], default: Built) -> Built:
    return build(kind, one_table(data, name), name) if name in data else default


def _tokens(data: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Laws of the tokens, or the trace that takes their place."""
    if "lengths" in data:
        for name in ("prefill_tokens", "decode_tokens"):
            if name in data:
                raise Misplaced(f"[{name}] and [lengths] both give tokens. Leave one out.", name)
        return {"lengths": _lengths(one_table(data, "lengths"), folder)}
    return {
        "prefill_tokens": _from_table(data, "prefill_tokens", TokenLaw, PREFILL_TOKENS),
        "decode_tokens": _from_table(data, "decode_tokens", TokenLaw, DECODE_TOKENS),
    }


def _cell(value: Any, names: list[str], *place: str | int) -> int:
    """Index of a cell from its name or index."""
    if isinstance(value, str):
        if value not in names:
            raise Misplaced(UnknownNameError("cell", value, names), *place, "cell")
        return names.index(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Misplaced(f"`cell` must be the name or index of a cell; got {value!r}.", *place, "cell")
    return value


def _check_numbers(options: Mapping[str, Any]) -> None:
    for key, value in options.items():
        whole = key in ("cells", "seed")
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            raise Misplaced(f"`{key}` must be a {'whole ' if whole else ''}number; got {value!r}.", "scenario", key)
        low = 1 if key == "cells" else 0
        if not low <= value < np.inf:
            raise Misplaced(f"`{key}` must be finite and ≥ {low}; got {value!r}.", "scenario", key)


def _explicit(
    data: Mapping[str, Any],
    given: list[dict[str, Any]],
    options: dict[str, Any],
    shared: dict[str, Any],
    folder: Path,
) -> Scenario:
    """Cells of the file. Demand that is left out is drawn uniformly on the simplex, as for sampled cells."""
    if not given:
        raise Misplaced(
            "`cells` is missing and there is no [[cell]] table: a scenario must have at least one cell.", "scenario"
        )
    if "cells" in options and options["cells"] != len(given):
        raise Misplaced(f"`cells` is {options['cells']} but there are {len(given)} [[cell]] tables.", "scenario", "cells")
    if "network" not in data:
        raise Misplaced("[[cell]] tables need [network] with their latencies.", "cell")
    y = float(options.get("length_scale", 1.0))
    if y <= 0:
        raise Misplaced(f"`length_scale` must be > 0; got {y!r}.", "scenario", "length_scale")
    cells: list[CellSpec] = []
    open_demand = []
    for i, one in enumerate(given):
        check_keys(one, CELL_KEYS, "cell", i, needed=CELL_KEYS[:4])
        try:
            cell = CellSpec(**{"arrival_rate": 0.0, **{key: value for key, value in one.items() if key != "region"}})
        except ScenarioError as error:
            raise Misplaced(error, "cell", i, *error.where) from None
        if cell.name in (other.name for other in cells):
            raise Misplaced(f"names of cells must differ; got {cell.name!r} again. Rename one.", "cell", i, "name")
        open_demand.append("arrival_rate" not in one)
        cells.append(
            replace(
                cell,
                prefill_token_time=cell.prefill_token_time / y,
                decode_token_time=cell.decode_token_time / y,
                arrival_rate=cell.arrival_rate * y,
            )
        )
    network = one_table(data, "network")
    check_keys(network, NETWORK_KEYS, "network")
    bare = Scenario(
        cells=tuple(cells),
        latency=_latency(network, given, folder),
        allowed=_mask(network.get("allowed"), [cell.name for cell in cells]),
        **shared,
        **{key: options[key] for key in ("duration", "warmup", "noise", "seed") if key in options},
    )
    if "utilisation" not in options or not any(open_demand):
        if any(open_demand):
            i = open_demand.index(True)
            raise Misplaced("`arrival_rate` is missing and there is no `utilisation` to draw it from.", "cell", i)
        return bare
    wanted = float(options["utilisation"]) * bare.capacities.sum() - bare.arrivals.sum()
    share = generator(bare.seed, "demand").dirichlet(np.ones(sum(open_demand)))
    rates = iter((max(wanted, 0.0) * share).tolist())
    return bare.changed(
        cells=tuple(
            replace(cell, arrival_rate=next(rates)) if free else cell for cell, free in zip(cells, open_demand, strict=True)
        )
    )


def _lengths(table: dict[str, Any], folder: Path) -> TraceLengths:
    """Token pairs of the trace; what is wrong inside that file names it and its line."""
    check_keys(table, LENGTHS_KEYS, "lengths", needed=("trace",))
    for key, value in table.items():
        _check_text(value, "lengths", key)
    try:
        return TraceLengths.of(read_trace(folder / table["trace"], table.get("format"), table.get("columns")))
    except FileFormatError:
        raise
    except InputError as error:
        raise Misplaced(error, "lengths", "trace" if "format" not in table else "format") from None


def _latency(network: dict[str, Any], given: list[dict[str, Any]], folder: Path) -> np.ndarray:
    """The matrix of the file, or of the regions that its cells lie in."""
    if ("latency" in network) == ("regions" in network):
        raise Misplaced("[network] must have one of `latency` and `regions`.", "network")
    if "latency" in network:
        for key in ("hop", "diagonal", "symmetry", "short_rows"):
            if key in network:
                raise Misplaced(f"`{key}` goes with `regions` only. Leave it out.", "network", key)
        for i, one in enumerate(given):
            if "region" in one:
                raise Misplaced("`region` of a cell goes with `regions` of [network] only. Leave it out.", "cell", i, "region")
        return _matrix(network["latency"], len(given))
    _check_text(network["regions"], "network", "regions")
    for i, one in enumerate(given):
        _check_text(one.get("region", one["name"]), "cell", i, "region")
    options = {key: network[key] for key in ("diagonal", "symmetry", "short_rows") if key in network}
    try:
        known = read_region_latency(folder / network["regions"], **options)
    except FileFormatError:
        raise
    except InputError as error:
        raise Misplaced(error, "network") from None
    names = [one.get("region", one["name"]) for one in given]
    for i, name in enumerate(names):
        if name not in known.regions:
            raise Misplaced(
                UnknownNameError("region", name, known.regions), "cell", i, "region" if "region" in given[i] else "name"
            )
    try:
        return latency_between(known, names, hop=network.get("hop", HOP))
    except InputError as error:
        raise Misplaced(error, "network", "hop") from None


def _check_text(value: Any, *place: str | int) -> None:
    if not isinstance(value, str) or not value.strip():
        raise Misplaced(f"`{place[-1]}` must be a text that is not blank; got {value!r}.", *place)


def _matrix(rows: Any, n: int) -> np.ndarray:
    good = isinstance(rows, list) and len(rows) == n and all(isinstance(row, list) and len(row) == n for row in rows)
    if not good:
        raise Misplaced(f"`latency` must have {n} rows of {n} numbers.", "network", "latency")
    for i, row in enumerate(rows):
        for value in row:
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise Misplaced(f"row {i} of `latency` must hold numbers; got {value!r}.", "network", "latency", i)
    return np.array(rows, dtype=float)


def _mask(rows: Any, names: list[str]) -> Any:
    if rows is None:
        return None
    if not isinstance(rows, list) or len(rows) != len(names):
        raise Misplaced(f"`allowed` must have {len(names)} rows of cell names.", "network", "allowed")
    for i, row in enumerate(rows):
        if not isinstance(row, list) or not all(isinstance(name, str) for name in row):
            raise Misplaced(f"row {i} of `allowed` must be a list of cell names; got {row!r}.", "network", "allowed", i)
        for name in row:
            if name not in names:
                raise Misplaced(UnknownNameError("cell", name, names), "network", "allowed", i)
    return np.array([[name in row for name in names] for row in rows])
