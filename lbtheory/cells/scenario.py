"""Scenarios: cells of servers, the latencies between them, demand, and what disturbs them (DLB paper, appendix B)."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np

from lbtheory.cells.demand import STEADY, Demand
from lbtheory.cells.lengths import TraceLengths
from lbtheory.core import ParameterError, UnknownNameError, generator, readonly, whole_number

Array = np.ndarray

EVENT_KINDS = ("burst", "outage", "unhealthy", "crash", "slow")


class ScenarioError(ParameterError):
    """A scenario contradicts itself. ``where`` is the place in a scenario file, such as ``("cell", 1, "servers")``."""

    def __init__(self, message: str, *where: str | int) -> None:
        super().__init__(message)
        self.where = where


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLaw:
    """Tokens of a request: ``shift + Gamma(shape, scale)``, rounded to a whole number ≥ 1; defaults of prefill (ours)."""

    shift: float = 50.0
    shape: float = 2.0
    scale: float = 225.0

    def __post_init__(self) -> None:
        for name in ("shift", "shape", "scale"):
            value = getattr(self, name)
            if not isfinite(value) or value < 0 or (name == "shape" and value == 0):
                raise ScenarioError(f"`{name}` of `TokenLaw` must be finite and ≥ 0 (shape > 0); got {value!r}.", name)
        if self.mean <= 0:
            raise ScenarioError("`TokenLaw` must have a positive mean; got shift 0 and scale 0.", "scale")

    @property
    def mean(self) -> float:
        """Before rounding, which leaves it but for 1e-3 tokens."""
        return self.shift + self.shape * self.scale

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        """Whole numbers, int32 array (size,)."""
        return np.maximum(np.rint(self.shift + rng.gamma(self.shape, self.scale, size)), 1).astype(np.int32)


PREFILL_TOKENS = TokenLaw()
DECODE_TOKENS = TokenLaw(shift=20.0, shape=2.0, scale=90.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSpec:
    """A cell: ``servers`` ≥ 1, seconds a prefill and a decode token, and requests per second that enter at its root."""

    name: str
    servers: int
    prefill_token_time: float
    decode_token_time: float
    arrival_rate: float

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip() or not self.name.isprintable():
            raise ScenarioError(f"`name` of a cell must be a printable text that is not blank; got {self.name!r}.", "name")
        if isinstance(self.servers, bool) or not isinstance(self.servers, int | np.integer) or self.servers < 1:
            raise ScenarioError(f"`servers` of cell {self.name!r} must be a whole number ≥ 1; got {self.servers!r}.", "servers")
        for key, least in (("prefill_token_time", 0.0), ("decode_token_time", 0.0), ("arrival_rate", 0.0)):
            value = getattr(self, key)
            bad = isinstance(value, bool) or not isinstance(value, int | float | np.floating) or not isfinite(value)
            if bad or value < least:
                unit = "requests per second" if key == "arrival_rate" else "seconds a token"
                raise ScenarioError(f"`{key}` of cell {self.name!r} must be finite and ≥ 0, {unit}; got {value!r}.", key)
        if self.prefill_token_time == 0 and self.decode_token_time == 0:
            raise ScenarioError(
                f"cell {self.name!r} must take time for prefill or decode; both token times are 0.", "prefill_token_time"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happens in ``[start, end)`` seconds.

    Parameters
    ----------
    kind : str
        ``burst``: the demand of a cell grows until total utilisation is ``utilisation``. ``outage``: cells fall to one
        replica, in random order until utilisation exceeds ``utilisation``, or just the one named. ``unhealthy``: a cell
        fails ``share`` of its requests at once. ``crash``: a router replica of a cell stops, and restarts at the end.
        ``slow``: the token times of a cell are multiplied by ``factor``.
    start, end : float
    cell : int, optional
        Index; drawn when it is left out.
    utilisation : float
        0.95 in the paper.
    share : float
        Of an unhealthy cell (ours: 0.5).
    factor : float
        Of a slow cell, > 0 (ours: 3).
    router : "leaf" or "root"
    replica : int
        Which router replica crashes.
    hard : bool
        What lost servers hold fails at once; otherwise they finish it.
    """

    kind: str
    start: float
    end: float
    cell: int | None = None
    utilisation: float = 0.95
    share: float = 0.5
    factor: float = 3.0
    router: str = "leaf"
    replica: int = 0
    hard: bool = False

    def __post_init__(self) -> None:
        if self.kind not in EVENT_KINDS:
            raise UnknownNameError("event kind", str(self.kind), EVENT_KINDS)
        for key in ("start", "end", "utilisation", "share", "factor"):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
                raise ScenarioError(f"`{key}` of an event must be finite and ≥ 0; got {value!r}.", key)
        if self.end <= self.start:
            raise ScenarioError(f"`end` of an event must be after its start ({self.start:g}); got {self.end:g}.", "end")
        if self.factor <= 0:
            raise ScenarioError(f"`factor` of an event must be > 0; got {self.factor!r}.", "factor")
        if not 0 < self.share <= 1:
            raise ScenarioError(f"`share` of an event must be in (0, 1]; got {self.share!r}.", "share")
        if self.router not in ("leaf", "root"):
            raise UnknownNameError("router", str(self.router), ("leaf", "root"))
        whole_number("replica", "Event", self.replica, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityStep:
    """From ``time`` on, seconds, a cell has ``servers`` ≥ 1 replicas; those that it loses finish what they hold."""

    time: float
    cell: int
    servers: int

    def __post_init__(self) -> None:
        if isinstance(self.time, bool) or not isinstance(self.time, int | float) or not isfinite(self.time) or self.time < 0:
            raise ScenarioError(f"`time` of a capacity step must be finite and ≥ 0; got {self.time!r}.", "time")
        for key, least in (("cell", 0), ("servers", 1)):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise ScenarioError(f"`{key}` of a capacity step must be a whole number ≥ {least}; got {value!r}.", key)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scenario:
    """Cells, their network, demand and events.

    Parameters
    ----------
    cells : sequence of CellSpec
        At least one; each is a source of its own demand.
    latency : array_like (n, n)
        ``τ_ij`` one-way seconds, the router hop included; infinite where there is no arc.
    allowed : array_like of bool (n, n), optional
        Admissible arcs (residency); by default those of finite latency.
    duration, warmup : float
        Arrivals stop at ``duration``; those before ``warmup`` are not counted.
    prefill_tokens, decode_tokens : TokenLaw
    lengths : TraceLengths, optional
        Pairs from a trace, in place of both laws.
    decode_slots : int
        Of a server, for its capacity.
    noise : float
        ``ε`` of the models' parameters, in [0, 1).
    demand : Demand
        How the arrival rates vary over time.
    events : sequence of Event
    capacity : sequence of CapacityStep
        Replicas by time. Until its first step a cell has its ``servers``; by these go `capacities`, `utilisation` and bursts.
    seed : int

    Raises
    ------
    ScenarioError
        No cells, names that repeat, wrong shapes, a source without an admissible cell, an outage of all cells.
    """

    cells: tuple[CellSpec, ...]
    latency: Array
    allowed: Array = None  # type: ignore[assignment]
    duration: float = 600.0
    warmup: float = 60.0
    prefill_tokens: TokenLaw = field(default_factory=lambda: PREFILL_TOKENS)
    decode_tokens: TokenLaw = field(default_factory=lambda: DECODE_TOKENS)
    lengths: TraceLengths | None = None
    decode_slots: int = 8
    noise: float = 0.0
    demand: Demand = STEADY
    events: tuple[Event, ...] = ()
    capacity: tuple[CapacityStep, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", tuple(self.cells))
        object.__setattr__(self, "events", tuple(self.events))
        object.__setattr__(self, "capacity", tuple(self.capacity))
        if not self.cells:
            raise ScenarioError("`cells` of `Scenario` must hold at least one cell; got none.", "cell")
        names = [cell.name for cell in self.cells]
        for i, name in enumerate(names):
            if name in names[:i]:
                raise ScenarioError(f"names of cells must differ; got {name!r} again. Rename one.", "cell", i, "name")
        tau, mask = self._network()
        object.__setattr__(self, "latency", readonly(tau))
        object.__setattr__(self, "allowed", readonly(mask))
        self._check_times()
        self._check_events()
        if self.utilisation >= 1:
            warnings.warn(
                f"utilisation is {self.utilisation:.3g} ≥ 1: queues overflow and latencies depend on the duration.",
                stacklevel=3,
            )

    def _network(self) -> tuple[Array, Array]:
        n = len(self.cells)
        tau = np.asarray(self.latency, dtype=float)
        if tau.shape != (n, n):
            raise ScenarioError(f"`latency` must have a row and a column a cell ({n}); got {tau.shape}.", "network", "latency")
        for i, j in np.argwhere(np.isnan(tau) | (tau < 0)):
            raise ScenarioError(
                f"`latency` must be one-way seconds ≥ 0; got {tau[i, j]:g} at [{i}, {j}].", "network", "latency", int(i)
            )
        mask = np.isfinite(tau) if self.allowed is None else np.asarray(self.allowed, dtype=bool)
        if mask.shape != (n, n):
            raise ScenarioError(f"`allowed` must have a row and a column a cell ({n}); got {mask.shape}.", "network", "allowed")
        if np.isinf(tau[mask]).any():
            raise ScenarioError("`latency` must be finite on admissible arcs.", "network", "allowed")
        for i in np.nonzero(~mask.any(axis=1))[0]:
            raise ScenarioError(f"cell {self.cells[i].name!r} must have an admissible cell to send to.", "network", "allowed")
        return tau, mask

    def _check_times(self) -> None:
        for key in ("duration", "warmup", "noise"):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
                raise ScenarioError(f"`{key}` of `Scenario` must be finite and ≥ 0; got {value!r}.", "scenario", key)
        if not self.warmup < self.duration:
            raise ScenarioError(
                f"`warmup` ({self.warmup:g} s) must be shorter than `duration` ({self.duration:g} s).", "scenario", "warmup"
            )
        if self.noise >= 1:
            raise ScenarioError(f"`noise` of `Scenario` must be in [0, 1); got {self.noise:g}.", "scenario", "noise")
        whole_number("seed", "Scenario", self.seed, 0)
        whole_number("decode_slots", "Scenario", self.decode_slots, 1)

    def _check_events(self) -> None:
        n = len(self.cells)
        for i, event in enumerate(self.events):
            if event.cell is not None and not 0 <= event.cell < n:
                raise ScenarioError(f"`cell` of an event must be below {n}; got {event.cell}.", "event", i, "cell")
        taken = set()
        for i, step in enumerate(self.capacity):
            if step.cell >= n:
                raise ScenarioError(f"`cell` of a capacity step must be below {n}; got {step.cell}.", "capacity", i, "cell")
            if (step.cell, step.time) in taken:
                raise ScenarioError(
                    f"cell {self.cells[step.cell].name!r} has two capacity steps at {step.time:g} s.", "capacity", i, "time"
                )
            taken.add((step.cell, step.time))
        outages = [event for event in self.events if event.kind == "outage"]
        for at in {event.start for event in outages}:
            hit = {event.cell for event in outages if event.start <= at < event.end}
            if n == 1 or len(hit - {None}) == n:
                raise ScenarioError(
                    "an outage of all cells leaves nothing to route to; leave at least one cell out of it.", "event"
                )

    @property
    def arrivals(self) -> Array:
        """``λ``, float array (n,), requests per second."""
        return np.array([cell.arrival_rate for cell in self.cells], dtype=float)

    @property
    def servers(self) -> Array:
        """``R``, int array (n,)."""
        return np.array([cell.servers for cell in self.cells], dtype=np.int64)

    def servers_at(self, time: float) -> Array:
        """Replicas by the capacity schedule, whatever the events, int array (n,)."""
        found = self.servers
        for step in sorted(self.capacity, key=lambda step: step.time):
            if step.time <= time:
                found[step.cell] = step.servers
        return found

    @property
    def most_servers(self) -> Array:
        """The largest number of replicas of each cell in the schedule, int array (n,)."""
        found = self.servers
        for step in self.capacity:
            found[step.cell] = max(found[step.cell], step.servers)
        return found

    @property
    def mean_tokens(self) -> tuple[float, float]:
        """``E[P]`` and ``E[Q]``."""
        return (self.prefill_tokens.mean, self.decode_tokens.mean) if self.lengths is None else self.lengths.means

    def draw_tokens(self, prefill: np.random.Generator, decode: np.random.Generator, size: int) -> tuple[Array, Array]:
        """Prefill and decode tokens of ``size`` requests, int32 arrays; pairs of a trace come from the first generator."""
        if self.lengths is not None:
            return self.lengths.draw(prefill, size)
        return self.prefill_tokens.draw(prefill, size), self.decode_tokens.draw(decode, size)

    @property
    def server_rates(self) -> Array:
        """``min(1/(E[P] s^p), slots/(E[Q] s^d))``, requests per second of one server, float array (n,)."""
        p, q = self.mean_tokens
        prefill = p * np.array([cell.prefill_token_time for cell in self.cells])
        decode = q * np.array([cell.decode_token_time for cell in self.cells]) / self.decode_slots
        return 1 / np.maximum(prefill, decode)

    @property
    def idle_latencies(self) -> Array:
        """``E[P] s^p + E[Q] s^d``, seconds, float array (n,)."""
        times = np.array([[cell.prefill_token_time, cell.decode_token_time] for cell in self.cells])
        return times @ np.array(self.mean_tokens)

    @property
    def capacities(self) -> Array:
        """Requests per second a cell can serve, float array (n,)."""
        return self.servers * self.server_rates

    @property
    def utilisation(self) -> float:
        """Arrivals over capacity."""
        return float(self.arrivals.sum() / self.capacities.sum())

    def changed(self, **changes: Any) -> "Scenario":
        """A copy with other values of some fields."""
        return replace(self, **changes)

    def event_cells(self, index: int) -> Sequence[int]:
        """Cells that an event hits, drawn from the scenario's seed where none is named."""
        event = self.events[index]
        if event.cell is not None:
            return [event.cell]
        rng = generator(self.seed, "event", event.kind, index)
        if event.kind != "outage":
            return [int(rng.integers(len(self.cells)))]
        left, hit = self.capacities, []
        for j in rng.permutation(len(self.cells)).tolist():
            left[j] = self.server_rates[j]
            hit.append(j)
            if self.arrivals.sum() > event.utilisation * left.sum():
                break
        return hit[: max(len(self.cells) - 1, 1)]
