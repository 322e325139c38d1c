"""Arguments of `simulate`, checked and in the integrator's form; events that make arrival rates and capacities vary."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.fluid.assumptions import check_feasibility
from lbtheory.fluid.dynamics.result import HELD, ROUTINGS
from lbtheory.fluid.dynamics.signals import Signal, as_signal
from lbtheory.fluid.network import Cell, Network, Source
from lbtheory.fluid.rates import MM1

Array = np.ndarray

OFF = 1e-7
"""How far a row of shares may be from the simplex (solvers of linear programs leave 1e-8); it is then put onto it."""
TIES = ("lowest", "uniform")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is integrated, see `simulate`; arrays along arcs."""

    network: Network
    cost: str
    routing: str
    eta: Array
    period: float | None
    uniform_ties: bool
    delays: Array
    workloads: Array
    shares: Array
    workload_history: Signal
    routing_history: Signal
    arrivals: Signal
    capacity: Signal


def check_routing(routing: str) -> str:
    """``routing`` itself; raises `UnknownNameError`."""
    if routing not in ROUTINGS:
        raise UnknownNameError("routing", str(routing), ROUTINGS)
    return routing


def positive(name: str, value: Any, function: str = "simulate") -> float:
    """A positive finite float; raises `ParameterError`."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ParameterError(f"`{name}` of `{function}` must be a positive number; got {value!r}.")
    if not (isfinite(value) and value > 0):
        raise ParameterError(f"`{name}` of `{function}` must be positive and finite; got {value!r}.")
    return float(value)


def _floats(name: str, value: Any) -> Array:
    """A new array of floats; raises `ParameterError`."""
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ParameterError(f"`{name}` of `simulate` must be numbers; got {value!r}.") from None


def check_eta(eta: Any, routing: str, network: Network) -> Array:
    """``η`` (s,); NaN where the routing has none."""
    sources = len(network.source_names)
    if routing in ("discrete", "fixed"):
        return np.full(sources, np.nan)
    if eta is None:
        raise ParameterError(f"`eta` of `simulate` must be given for {routing} routing: a stepsize > 0, or one a source.")
    values = _floats("eta", eta)
    if values.shape not in ((), (sources,)):
        raise ParameterError(
            f"`eta` of `simulate` must be a number or {sources} of them, one a source; got shape {values.shape}."
        )
    values = np.broadcast_to(values, (sources,)).copy()
    for i in np.nonzero(~((values > 0) & np.isfinite(values)))[0]:
        raise ParameterError(
            f"`eta` of `simulate` must be positive and finite; got {values[i]} at index {i} ({network.source_names[i]!r})."
        )
    return values


def initial_workloads(workloads: Any, network: Network) -> Array:
    """``N(0)`` (n,), zeros by default."""
    n = len(network.cells)
    values = np.zeros(n) if workloads is None else _floats("workloads", workloads)
    if values.shape != (n,):
        raise ParameterError(f"`workloads` of `simulate` must have one number a cell, {n}; got shape {values.shape}.")
    for j in np.nonzero(~((values >= 0) & np.isfinite(values)))[0]:
        raise ParameterError(
            f"`workloads` of `simulate` must be finite and ≥ 0; got {values[j]} at index {j} ({network.cell_names[j]!r})."
        )
    return values


def initial_shares(shares: Any, network: Network, name: str = "shares") -> Array:
    """``x(0)`` along arcs; uniform by default and in rows of zeros of sources without arrivals."""
    allowed, arrivals = network.allowed, network.arrivals
    at, to = network.arcs
    even = 1.0 / np.maximum(allowed.sum(axis=1), 1)
    if shares is None:
        return np.asarray(even[at])
    matrix = _floats(name, shares)
    if matrix.shape != allowed.shape:
        raise ParameterError(f"`{name}` of `simulate` must have shape {allowed.shape}, sources by cells; got {matrix.shape}.")
    for i in range(len(matrix)):
        row = matrix[i]
        label = f"row {i} ({network.source_names[i]!r}) of `{name}` of `simulate`"
        if arrivals[i] == 0 and not row.any():
            matrix[i] = np.where(allowed[i], even[i], 0.0)
            continue
        if not np.isfinite(row).all() or (row < -OFF).any() or abs(row.sum() - 1) > OFF:
            raise ParameterError(f"{label} must be on the simplex: shares ≥ 0 with sum 1; got {row.tolist()}.")
        if (row[~allowed[i]] > 0).any():
            j = int(np.argmax(np.where(allowed[i], 0.0, row)))
            raise ParameterError(f"{label} must be 0 off its arcs; got {row[j]} to {network.cell_names[j]!r}.")
        row = np.maximum(row, 0.0)
        matrix[i] = row / row.sum()
    return np.asarray(matrix[at, to])


def check_history(value: Any, initial: Array, longest: float, name: str) -> Signal:
    """A history on ``[−τ̄, 0]``; the initial value by default."""
    signal = Signal.constant(initial) if value is None else as_signal(value, name, "simulate", initial.size)
    if signal.start > -longest or signal.end < 0:
        raise ParameterError(
            f"`{name}` of `simulate` must cover [−τ̄, 0], τ̄ = {longest:g} s the longest latency; got "
            f"[{signal.start:g}, {signal.end:g}]. Give it from {-longest:g} on."
        )
    return signal


def probes(signal: Signal, longest: float) -> Array:
    """Times in ``[−τ̄, 0)`` at which a history is checked: many a piece."""
    inner = signal.jumps[(signal.jumps > -longest) & (signal.jumps < 0)]
    ends = np.r_[-longest, inner, 0.0]
    return np.asarray((ends[:-1, None] + np.diff(ends)[:, None] * np.linspace(0.005, 0.995, 41)).ravel())


def workload_history(value: Any, initial: Array, longest: float, network: Network) -> Signal:
    """Checked to be ≥ 0."""
    signal = check_history(value, initial, longest, "workload_history")
    if longest > 0:
        times = probes(signal, longest)
        for k, j in np.argwhere(signal(times) < -OFF):
            raise ParameterError(
                f"`workload_history` of `simulate` must be ≥ 0; got {signal(times[k])[j]:g} in {network.cell_names[j]!r} at "
                f"{times[k]:g} s."
            )
    return signal


def routing_history(value: Any, initial: Array, longest: float, network: Network) -> Signal:
    """Along arcs, from a Signal or an array of shape (s, n) or (arcs,); checked to be on the simplex."""
    at, to = network.arcs
    allowed = network.allowed
    if isinstance(value, Signal) and value.size == allowed.size != at.size:
        flat = np.ravel_multi_index((at, to), allowed.shape)
        off = np.setdiff1d(np.arange(allowed.size), flat)
        if value.coefficients[:, :, off].any():
            raise ParameterError("`routing_history` of `simulate` must be 0 off the arcs of the network.")
        value = Signal(breaks=value.breaks, anchors=value.anchors, coefficients=value.coefficients[:, :, flat])
    elif value is not None and not isinstance(value, Signal):
        value = initial_shares(value, network, "routing_history") if np.ndim(value) == 2 else value
    signal = check_history(value, initial, longest, "routing_history")
    times = probes(signal, longest) if longest > 0 else np.zeros(1)
    rows = signal(times)
    sums = np.zeros((len(times), len(allowed)))
    np.add.at(sums.T, at, rows.T)
    wrong = (np.abs(sums - 1) > 1e-6) & allowed.any(axis=1)
    negative = np.zeros_like(wrong)
    np.logical_or.at(negative.T, at, (rows < -1e-6).T)
    for k, i in np.argwhere(wrong | negative):
        raise ParameterError(
            f"`routing_history` of `simulate` must be on the simplex; got {rows[k][at == i].tolist()} for "
            f"{network.source_names[i]!r} at {times[k]:g} s."
        )
    return signal


def varying(value: Any, default: Array, name: str, names: tuple[str, ...], t_end: float, longest: float, least: str) -> Signal:
    """Arrival rates or shares of capacity for ever; ``least`` is ≥ 0 or > 0."""
    signal = as_signal(default if value is None else value, name, "simulate", default.size).held()
    inner = signal.jumps[(signal.jumps > -longest) & (signal.jumps < t_end)]
    ends = np.unique(np.r_[-longest, 0.0, inner, t_end])
    times = (ends[:-1, None] + np.diff(ends)[:, None] * np.linspace(0.005, 0.995, 41)).ravel()
    rows = signal(times)
    for k, j in np.argwhere(~(rows >= -OFF if least == "≥ 0" else rows > 0)):
        remedy = "" if least == "≥ 0" else " For a full outage take a small share, such as 0.001."
        raise ParameterError(
            f"`{name}` of `simulate` must be {least}; got {rows[k, j]:g} for {names[j]!r} at {times[k]:g} s.{remedy}"
        )
    return signal


def make_setting(
    network: Network,
    cost: str,
    routing: str,
    *,
    eta: Any,
    t_end: float,
    period: float | None,
    ties: str,
    workloads: Any,
    shares: Any,
    past_workloads: Any,
    past_routing: Any,
    arrivals: Any,
    capacity: Any,
) -> Setting:
    """Check everything; see `simulate` for the arguments and errors."""
    check_routing(routing)
    network.costs(cost)
    if ties not in TIES:
        raise UnknownNameError("ties", str(ties), TIES)
    if period is not None and (routing not in HELD or routing == "fixed"):
        raise ParameterError(f"`period` of `simulate` must be left out for {routing} routing; got {period!r}.")
    longest = network.longest_latency
    first, x = initial_workloads(workloads, network), initial_shares(shares, network)
    if routing == "flow-periodic" and period is None:
        raise ParameterError("`period` of `simulate` must be given for flow-periodic routing: seconds between updates.")
    return Setting(
        network=network,
        cost=cost,
        routing=routing,
        eta=check_eta(eta, routing, network),
        period=None if period is None else positive("period", period),
        uniform_ties=ties == "uniform",
        delays=network.latency[network.arcs],
        workloads=first,
        shares=x,
        workload_history=workload_history(past_workloads, first, longest, network),
        routing_history=routing_history(past_routing, x, longest, network),
        arrivals=varying(arrivals, network.arrivals, "arrivals", network.source_names, t_end, longest, "≥ 0"),
        capacity=varying(capacity, np.ones(len(network.cells)), "capacity", network.cell_names, t_end, longest, "> 0"),
    )


def infeasible_times(setting: Setting, t_end: float, samples: int = 64) -> tuple[tuple[float, float], ...]:
    """Intervals within ``[0, t_end]`` in which Assumption 2 fails, to the resolution of the breaks and of ``samples``.

    Exact for rates and capacities that are constant between breaks.
    """
    both = np.unique(np.r_[0.0, setting.arrivals.jumps, setting.capacity.jumps, t_end])
    ends = both[(both >= 0) & (both <= t_end)]
    flat = not (setting.arrivals.coefficients[:, 1:].any() or setting.capacity.coefficients[:, 1:].any())
    if not flat:
        ends = np.unique(np.r_[ends if len(ends) <= samples else [], np.linspace(0, t_end, samples + 1)])
    found: list[tuple[float, float]] = []
    for low, high in pairwise(ends):
        middle = (low + high) / 2
        if _feasible(setting.network, setting.arrivals(middle), setting.capacity(middle)):
            continue
        if found and found[-1][1] == low:
            found[-1] = (found[-1][0], float(high))
        else:
            found.append((float(low), float(high)))
    return tuple(found)


def _feasible(network: Network, arrivals: Array, capacity: Array) -> bool:
    """Assumption 2 with these rates and shares of capacity."""
    limits = network.capacities * capacity
    rates = np.maximum(arrivals, 0.0).tolist()
    n = len(network.cells)
    cells = [
        Cell(name=cell.name, arrival_rate=rate, rate=MM1(capacity=float(limit), half=1.0))
        for cell, rate, limit in zip(network.cells, rates[:n], limits, strict=True)
    ]
    sources = [Source(name=one.name, arrival_rate=rate) for one, rate in zip(network.sources, rates[n:], strict=True)]
    return check_feasibility(
        Network(cells=tuple(cells), sources=tuple(sources), latency=network.latency, allowed=network.allowed)
    ).holds


def burst(network: Network, factors: Mapping[str, float], start: float, end: float) -> Signal:
    """Arrival rates times a factor at the named sources in ``[start, end)``: for ``arrivals`` of `simulate`."""
    factor = _named(network.source_names, factors, "source", 0.0)
    return _window(network.arrivals, network.arrivals * factor, start, end, "burst")


def outage(network: Network, shares: Mapping[str, float], start: float, end: float) -> Signal:
    """Shares of capacity at the named cells in ``[start, end)``, 1 elsewhere: for ``capacity`` of `simulate`."""
    share = _named(network.cell_names, shares, "cell", 1e-12)
    return _window(np.ones(len(share)), share, start, end, "outage")


def daily_arrivals(network: Network, swing: float, *, period: float, peak: float = 0.0, days: float = 1.0) -> Signal:
    """``λ_i (1 + swing cos(2π(t − peak)/period))``, see `Signal.daily`."""
    return Signal.daily(network.arrivals, swing, period=period, peak=peak, days=days)


def _named(names: tuple[str, ...], values: Mapping[str, float], kind: str, least: float) -> Array:
    made = np.ones(len(names))
    for name, value in values.items():
        if name not in names:
            raise UnknownNameError(kind, str(name), names)
        if not (isfinite(value) and value >= least):
            raise ParameterError(f"the factor of {kind} {name!r} must be finite and ≥ {least:g}; got {value!r}.")
        made[names.index(name)] = value
    return made


def _window(usual: Array, inside: Array, start: float, end: float, function: str) -> Signal:
    if not (0 <= start < end < np.inf):
        raise ParameterError(f"`start` and `end` of `{function}` must be seconds, 0 ≤ start < end; got {start!r}, {end!r}.")
    if start == 0:
        return Signal.steps([-1.0, 0.0, end], [usual, inside, usual])
    return Signal.steps([0.0, start, end], [usual, inside, usual])
