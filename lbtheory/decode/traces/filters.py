"""Filters: pure functions from a trace to a trace, each of which notes what it removed.

Arrival times are counted from the first request that is kept.
"""

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from lbtheory.core import EmptyTraceError, ParameterError, readonly, whole_number
from lbtheory.decode.traces.base import Note, Trace


def outputs_above(trace: Trace, n: int) -> Trace:
    """Keep the requests with more than ``n`` output tokens.

    Raises
    ------
    EmptyTraceError
        When no output is that long.
    """
    whole_number("n", "outputs_above", n, 0)
    longest = int(trace.outputs.max())
    return _keep(trace, trace.outputs > n, f"outputs_above({n})", f"the longest output has {longest} tokens")


def first(trace: Trace, n: int) -> Trace:
    """Keep the first ``n`` requests in order of arrival (all of them when there are fewer)."""
    whole_number("n", "first", n, 1)
    return _keep(trace, np.arange(trace.n) < n, f"first({n})", "")


def time_slice(trace: Trace, start: float, end: float) -> Trace:
    """Keep the requests that arrive in ``[start, end)``, seconds since the first arrival.

    Raises
    ------
    ParameterError
        When the trace has no times or the interval is not one.
    EmptyTraceError
    """
    arrivals = _arrivals(trace, "time_slice")
    if not start < end:
        raise ParameterError(f"`start` of `time_slice` must be less than `end`; got {start} and {end}.")
    mask = (arrivals >= start) & (arrivals < end)
    return _keep(trace, mask, f"time_slice({start:g}, {end:g})", f"the trace spans 0 to {arrivals[-1]:g} s")


def scale_rate(trace: Trace, factor: float) -> Trace:
    """Multiply the arrival rate by ``factor``: every time is divided by it, no request is removed.

    Raises
    ------
    ParameterError
        When the trace has no times or the factor is not positive and finite.
    """
    arrivals = _arrivals(trace, "scale_rate")
    if not (np.isfinite(factor) and factor > 0):
        raise ParameterError(f"`factor` of `scale_rate` must be positive and finite; got {factor}.")
    with np.errstate(over="ignore"):
        scaled = arrivals / factor
    if not np.isfinite(scaled[-1]):
        raise ParameterError(f"`factor` of `scale_rate` is so small that times overflow; got {factor}.")
    note = Note(kind="changed", count=trace.n, what=f"scale_rate({factor:g}): arrival rate times {factor:g}, nothing removed")
    return _replace(trace, note, arrivals=scaled)


def cap_prompts(trace: Trace, cap: int, action: Literal["refuse", "drop", "truncate"] = "refuse") -> Trace:
    """Deal with the requests whose prompt is above ``cap`` tokens.

    Parameters
    ----------
    cap : int
        Largest prompt that can be served, tokens.
    action : {"refuse", "drop", "truncate"}
        Leave them out and count them as refused (`Trace.refused`; admitted + refused = n), leave them out and count them as
        dropped, or cut their prompts to ``cap``.

    Raises
    ------
    ParameterError
    EmptyTraceError
        When every prompt is above the cap.
    """
    whole_number("cap", "cap_prompts", cap, 1)
    if action not in ("refuse", "drop", "truncate"):
        raise ParameterError(f"`action` of `cap_prompts` must be 'refuse', 'drop' or 'truncate'; got {action!r}.")
    above = trace.prompts > cap
    if action == "truncate":
        count = int(above.sum())
        note = Note(kind="truncated", count=count, what=f"cap_prompts({cap}): {count} prompts were cut to {cap} tokens")
        return _replace(trace, note, prompts=np.minimum(trace.prompts, cap))
    smallest = int(trace.prompts.min())
    kind = "refused" if action == "refuse" else "dropped"
    return _keep(trace, ~above, f"cap_prompts({cap})", f"the smallest prompt has {smallest} tokens", kind=kind)


def _keep(trace: Trace, mask: np.ndarray, label: str, fact: str, *, kind: str = "dropped") -> Trace:
    """The requests in ``mask`` with a note of what went; an empty result names the filter and what it removed."""
    removed = int((~mask).sum())
    if removed == trace.n:
        because = f": {fact}" if fact else ""
        raise EmptyTraceError(
            f"filter {label} leaves no request of trace {trace.name!r}{because}; all {removed} requests were {kind}. "
            "Loosen the filter or use another trace."
        )
    return trace.select(mask, Note(kind=kind, count=removed, what=f"{label}: {removed} of {trace.n} requests were {kind}"))


def _replace(trace: Trace, note: Note, **arrays: np.ndarray) -> Trace:
    """The same requests with other arrays and one more note."""
    fields: dict[str, Any] = {name: readonly(values) for name, values in arrays.items()}
    return replace(trace, notes=(*trace.notes, note), **fields)


def _arrivals(trace: Trace, filter_name: str) -> np.ndarray:
    if trace.arrivals is None:
        raise ParameterError(
            f"`{filter_name}` needs arrival times; trace {trace.name!r} has lengths only. Leave this filter out."
        )
    return trace.arrivals
