"""Requests of a trial, drawn before any policy runs: all policies meet the same arrivals, tokens and uniform numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lbtheory.cells.demand import STEADY
from lbtheory.cells.scenario import Scenario, ScenarioError
from lbtheory.core import ParameterError, frozen, generator, readonly, whole_number

Array = np.ndarray

MOST_REQUESTS = 50_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CellStream:
    """Requests in order of arrival.

    Attributes
    ----------
    arrivals : float array (m,)
        Seconds, at the root.
    sources : int array (m,)
    prefill, decode : int array (m,)
        Tokens, ≥ 1.
    keys : uint64 array (m,)
        From which a request's uniform numbers are made.
    sessions : int array (m,) or None
        Sessions that share a prefix; −1: none.
    savings : float array (m,) or None
        Share of the prefill that the prefix saves.
    targets : int array (m,) or None
        Cell that a background probe is for; −1: a request that is routed.
    """

    arrivals: Array
    sources: Array
    prefill: Array
    decode: Array
    keys: Array
    sessions: Array | None = None
    savings: Array | None = None
    targets: Array | None = None

    @property
    def session_count(self) -> int:
        """One above the largest session."""
        return 0 if self.sessions is None or not len(self.sessions) else int(self.sessions.max()) + 1

    def __len__(self) -> int:
        return len(self.arrivals)


def cell_stream(arrivals: Any, sources: Any, prefill: Any, decode: Any, *, seed: int = 0) -> CellStream:
    """A stream of one's own, with keys from a seed.

    Raises
    ------
    ParameterError
        Lengths that differ; times that are negative, not sorted or not numbers; token counts below 1.
    """
    times = np.asarray(arrivals, dtype=float)
    columns = [np.asarray(column) for column in (sources, prefill, decode)]
    if times.ndim != 1 or any(column.shape != times.shape for column in columns):
        raise ParameterError("`arrivals`, `sources`, `prefill` and `decode` of `cell_stream` must be of one length.")
    if np.isnan(times).any() or (times < 0).any() or (len(times) > 1 and (times[1:] < times[:-1]).any()):
        raise ParameterError("`arrivals` of `cell_stream` must be seconds ≥ 0 in ascending order.")
    if len(times) and min(int(columns[1].min()), int(columns[2].min())) < 1:
        raise ParameterError("`prefill` and `decode` of `cell_stream` must be ≥ 1 token.")
    keys = generator(whole_number("seed", "cell_stream", seed, 0), "keys").integers(0, 2**64, len(times), dtype=np.uint64)
    return CellStream(
        arrivals=readonly(times),
        sources=readonly(columns[0].astype(np.int32)),
        prefill=readonly(columns[1].astype(np.int32)),
        decode=readonly(columns[2].astype(np.int32)),
        keys=readonly(keys),
    )


def draw_stream(scenario: Scenario, trial: int = 0) -> CellStream:
    """Requests of a trial of a scenario: a Poisson process of varying rate at every root (by thinning), and their tokens.

    Streams are keyed by (seed of the scenario, trial, root), so that those of one root do not depend on the others.
    """
    whole_number("trial", "draw_stream", trial, 0)
    parts = []
    for i, cell in enumerate(scenario.cells):
        names = ("trial", trial, "root", i)
        times = poisson_times(
            generator(scenario.seed, *names, "arrivals"), cell.arrival_rate, scenario.duration, *_profile(scenario, i)
        )
        m = len(times)
        tokens = scenario.draw_tokens(
            generator(scenario.seed, *names, "prefill"), generator(scenario.seed, *names, "decode"), m
        )
        parts.append(
            (
                times,
                np.full(m, i, np.int32),
                *tokens,
                generator(scenario.seed, *names, "keys").integers(0, 2**64, m, dtype=np.uint64),
            )
        )
    times, sources, prefill, decode, keys = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(times, kind="stable")
    return CellStream(
        arrivals=frozen(times[order]),
        sources=frozen(sources[order]),
        prefill=frozen(prefill[order]),
        decode=frozen(decode[order]),
        keys=frozen(keys[order]),
    )


def poisson_times(
    rng: np.random.Generator, rate: float, end: float, factor: Callable[[Array], Array] | None, largest: float
) -> Array:
    """Times in ``[0, end)`` of a Poisson process of rate ``rate · factor(t)``, ``0 ≤ factor ≤ largest``, by thinning."""
    top = rate * largest
    if top * end > MOST_REQUESTS:
        raise ScenarioError(f"more than {MOST_REQUESTS:,} requests would be drawn; shorten the duration or lower the rates.")
    if top == 0:
        return np.empty(0)
    found, now = [], 0.0
    while now < end:
        size = int(top * (end - now) * 1.02 + 50)
        gaps = np.cumsum(rng.exponential(1 / top, size)) + now
        found.append(gaps)
        now = float(gaps[-1])
    times = np.concatenate(found)
    times = times[times < end]
    return times if factor is None else times[rng.random(len(times)) * largest < factor(times)]


def _profile(scenario: Scenario, i: int) -> tuple[Callable[[Array], Array] | None, float]:
    """Factor of the demand of root ``i`` over time, from its pattern and the bursts, and a bound of it."""
    steps = []
    for index, event in enumerate(scenario.events):
        if event.kind == "burst" and i in scenario.event_cells(index):
            extra = event.utilisation * scenario.capacities.sum() - scenario.arrivals.sum()
            if scenario.arrivals[i] <= 0:
                raise ScenarioError(
                    f"a burst needs demand: cell {scenario.cells[i].name!r} has an arrival rate of 0.", "event", index
                )
            steps.append((event.start, event.end, max(extra, 0.0) / scenario.arrivals[i]))
    demand = scenario.demand
    if not steps and demand == STEADY:
        return None, 1.0

    def bursts(t: Array) -> Array:
        total = np.ones(t.shape)
        for start, end, add in steps:
            total += add * ((t >= start) & (t < end))
        return total

    edges = np.array([0.0, *(start for start, _, _ in steps)])
    return lambda t: bursts(t) * demand.factor(t), float(bursts(edges).max()) * demand.largest
