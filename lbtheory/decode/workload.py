"""From what a user names (a trace file, a synthetic trace, laws) to a stream of requests and a history to learn from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, UnknownNameError, generator
from lbtheory.decode import traces
from lbtheory.decode.predictors import History
from lbtheory.decode.stream import RequestStream, request_stream
from lbtheory.decode.traces import Releases, Trace

REQUEST_LIMIT = 50_000_000
HISTORY_DRAWS = 10_000
SATURATED_STEPS = 20_000
SATURATED_WARMUP = 2_000
"""Iterations of a saturated run, and of its warm-up, where none are named."""
RELEASE_FORMS = (
    "trace, saturated, batched:SIZE:EVERY, poisson:RATE (per iteration), poisson-clock:RATE (per second), bursts:SIZES:GAPS, "
    "size-paced:RATE:POWER"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A stream, requests to learn from, and what is said about both in the output."""

    stream: RequestStream
    history: History
    about: dict[str, Any]

    def default_steps(self, steps: int | None) -> int | None:
        """``steps``, or the default: 20,000 iterations when saturated, else all."""
        return SATURATED_STEPS if steps is None and self.stream.releases.kind == "saturated" else steps

    def default_warmup(self, warmup: int | None, steps: int | None) -> int:
        """``warmup``, or the default: 2,000 of ``steps`` iterations when saturated, at most half of them; else none."""
        if warmup is not None:
            return warmup
        if self.stream.releases.kind != "saturated":
            return 0
        return SATURATED_WARMUP if steps is None else min(SATURATED_WARMUP, steps // 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What the user named.

    ``trace`` is a file or the name of a synthetic trace; otherwise prompts follow ``prompts``, and outputs are geometric with
    ``p`` (``P:SHARE,…``: a mixture of classes with different hazards, whose class is the key that forecasts may use).
    ``tenants``: weights of tenants, ``WEIGHT:SHARE,…``, to which requests belong at random.
    ``filters`` are pairs (name, argument) applied in order: ``first``, ``outputs-above``, ``time-slice``, ``rate-scale``,
    ``prompt-cap``. ``split``: the run gets only the later half of a trace file, whose earlier half is the history.
    """

    trace: str | None = None
    p: str | None = None
    prompts: str | None = None
    requests: int | None = None
    trace_format: str | None = None
    columns: str | None = None
    time_unit: str | None = None
    zero_outputs: str = "refuse"
    filters: Sequence[tuple[str, str]] = ()
    recurrence: float = 0.0
    output_correlation: float = 0.8
    prompt_correlation: float = 0.0
    prompt_cv: float | None = None
    split: bool = False
    tenants: str | None = None


def make_workload(
    source: Source,
    *,
    workers: int,
    slots: int,
    release: str | None = None,
    queue: int = 64,
    start: str = "empty",
    prefill: str | None = None,
    steps: int | None = None,
    seed: int = 0,
) -> Workload:
    """Build the stream of a run.

    Parameters
    ----------
    source : Source
    workers, slots : int
        ``G`` and ``B``: a saturated stream from laws is drawn long enough for them.
    release : str, optional
        One of the release forms; by default ``trace`` where there are times, else ``saturated``.
    queue : int
        Requests left waiting after admission when saturated.
    start : empty | residual
        ``residual``: the first ``G B`` requests carry residual lengths, so that the run starts near stationarity.
    prefill : str, optional
        ``WORKERS:BATCH:FIXED:PER_TOKEN``: requests pass a pool of prefill workers first, which releases them in batches.
    steps : int, optional
        Iterations of a saturated run from laws, 20,000 by default.
    seed : int

    Raises
    ------
    InputError
        Of the class of the cause.
    """
    if (source.trace is None) == (source.prompts is None):
        raise ParameterError("give either `--trace FILE` or `--p P --prompts LAW`, and not both.")
    if start not in ("empty", "residual"):
        raise ParameterError(f"`--start` must be empty or residual; got {start!r}.")
    if source.trace is None:
        trace, history, about = _from_laws(source, workers, slots, release, queue, steps, seed)
    else:
        trace, history, about = _from_trace(source, seed)
    outputs = trace.outputs
    if start == "residual":
        outputs = traces.residual_start(outputs, min(workers * slots, len(outputs)), generator(seed, "residual"))
    kind = release or ("trace" if trace.timed else "saturated")
    releases, order = _releases(kind, trace, queue, seed), np.arange(len(trace))
    least = workers * slots + queue
    if releases.kind == "saturated" and len(trace) < least:
        raise ParameterError(
            f"`--release saturated` needs at least workers × slots + queue = {least} requests; got {len(trace)}. "
            "Take fewer workers or slots, a shorter `--queue`, or more requests."
        )
    if prefill is not None:
        releases, order = _through_prefill(releases, trace, prefill)
    tenants = weights = None
    if source.tenants is not None:
        each, shares = traces.parse_tenants(source.tenants)
        tenants = traces.draw_classes(shares, len(trace), generator(seed, "tenants"))
        weights = np.array(each, np.int64)[tenants]
    stream = request_stream(
        trace.prompts[order],
        outputs[order],
        releases,
        keys=None if trace.keys is None else trace.keys[order],
        weights=weights,
        tenants=tenants,
        seed=seed,
        refused=trace.refused,
    )
    notes = [str(note) for note in trace.notes]
    about |= {
        "release": kind,
        "queue": queue if releases.kind == "saturated" else None,
        "start": start,
        "prefill": prefill,
        "tenants": source.tenants,
        "notes": notes,
    }
    return Workload(stream=stream, history=history, about=about)


def _from_laws(
    source: Source, workers: int, slots: int, release: str | None, queue: int, steps: int | None, seed: int
) -> tuple[Trace, History, dict[str, Any]]:
    """A trace drawn from a prompt law and geometric outputs; the history is another draw."""
    if source.p is None or source.prompts is None:
        raise ParameterError("`--prompts LAW` needs `--p P` (completion probability a step, for example 1/4).")
    law, lengths = traces.parse_law(source.prompts), traces.parse_hazards(source.p)
    n = source.requests
    if n is None:
        if release not in (None, "saturated"):
            raise ParameterError(f"`--requests N` is needed with laws and `--release {release}`: say how many to draw.")
        n = workers * slots + queue + _completions(lengths, steps or SATURATED_STEPS, workers * slots)
    if not 1 <= n <= REQUEST_LIMIT:
        raise ParameterError(
            f"the run needs {n} requests; the limit is {REQUEST_LIMIT}. "
            "Take fewer `--steps`, `--workers`, `--slots` or `--requests`."
        )
    drawn = [
        (law.sample(size, generator(seed, *names, "prompts")), *_outputs(lengths, size, seed, names))
        for size, names in ((n, ()), (HISTORY_DRAWS, ("history",)))
    ]
    prompts, outputs, keys = drawn[0]
    trace = traces.make_trace(prompts, outputs, keys=keys, name="laws", format="laws")
    history = History(prompts=drawn[1][0], outputs=drawn[1][1], keys=drawn[1][2])
    about = {
        "trace": None,
        "format": "laws",
        "p": str(lengths.p) if isinstance(lengths, traces.Geometric) else source.p,
        "prompts": source.prompts,
        "history": "an independent draw from the laws",
    }
    return _filtered(trace, source.filters), history, about


def _completions(lengths: traces.Geometric | traces.GeometricMixture, steps: int, slots: int) -> int:
    """What the completions of a saturated run stay below, but for a chance of about 1e-20."""
    if isinstance(lengths, traces.GeometricMixture):
        return lengths.completions(steps, slots)
    done = steps * slots * float(lengths.p)
    return ceil(done + 10 * sqrt(done) + 10)


def _outputs(
    lengths: traces.Geometric | traces.GeometricMixture, n: int, seed: int, names: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray | None]:
    """Outputs, and the class of each request where there are classes."""
    rng = generator(seed, *names, "outputs")
    if isinstance(lengths, traces.Geometric):
        return lengths.sample(n, rng), None
    classes = traces.draw_classes(lengths.shares, n, generator(seed, *names, "classes"))
    return lengths.sample(classes, rng), classes


def _from_trace(source: Source, seed: int) -> tuple[Trace, History, dict[str, Any]]:
    """A trace file, or a synthetic trace by name; the history is its first half, or another draw."""
    assert source.trace is not None
    if source.p is not None:
        raise ParameterError("`--p` goes with `--prompts` only: a trace has its own output lengths. Leave it out.")
    if source.trace in traces.SYNTHETIC and not Path(source.trace).exists():
        if source.trace_format is not None or source.columns is not None or source.time_unit is not None:
            raise ParameterError("`--format`, `--columns` and `--time-unit` are for trace files. Leave them out.")
        options: dict[str, Any] = {
            "recurrence": source.recurrence,
            "output_correlation": source.output_correlation,
            "prompt_correlation": source.prompt_correlation,
            "prompt_cv": source.prompt_cv,
        }
        trace = traces.synthetic(source.trace, seed, n=source.requests, **options)
        about = {"trace": source.trace, "format": "synthetic", "history": "an independent draw of the synthetic trace"}
        if source.recurrence:  # prompts recur within a trace: the history is its earlier part
            other = traces.synthetic(source.trace, seed, n=2 * len(trace), **options)
            trace, other = _slice(other, slice(len(trace), None)), _slice(other, slice(0, len(trace)))
            about["history"] = "the first half of a synthetic trace of twice the length"
        else:
            other = traces.synthetic(source.trace, generator(seed, "history"), **options)
        trace = _filtered(trace, source.filters)
        return trace, History(prompts=other.prompts, outputs=other.outputs, keys=other.keys), about
    if source.requests is not None or source.recurrence or source.prompt_correlation:
        raise ParameterError(
            "`--requests`, `--recurrence` and `--prompt-correlation` are for synthetic traces and laws; "
            "use `--first N` on a trace file."
        )
    if not Path(source.trace).exists() and "/" not in source.trace and "." not in source.trace:
        raise UnknownNameError("trace file or synthetic trace", source.trace, traces.SYNTHETIC)
    read = traces.read_trace(source.trace, source.trace_format, source.columns, source.time_unit, source.zero_outputs)  # type: ignore[arg-type]
    trace = _filtered(read, source.filters)
    half = max(1, len(trace) // 2)
    history = History(
        prompts=trace.prompts[:half], outputs=trace.outputs[:half], keys=None if trace.keys is None else trace.keys[:half]
    )
    about = {"trace": trace.name, "format": trace.format, "history": "the first half of the trace itself"}
    if source.split:
        if len(trace) < 2:
            raise ParameterError(f"`split` needs a trace of at least two requests; got {len(trace)}.")
        trace, about["history"] = _slice(trace, slice(half, None)), "the earlier half, which is not replayed"
    return trace, history, about


def _slice(trace: Trace, rows: slice) -> Trace:
    """Some consecutive requests."""
    keys, arrivals = trace.keys, trace.arrivals
    return replace(
        trace,
        prompts=trace.prompts[rows],
        outputs=trace.outputs[rows],
        keys=None if keys is None else keys[rows],
        arrivals=None if arrivals is None else arrivals[rows] - arrivals[rows][0],
    )


def _filtered(trace: Trace, filters: Sequence[tuple[str, str]]) -> Trace:
    for name, argument in filters:
        trace = _filter(trace, name, argument)
    return trace


def _filter(trace: Trace, name: str, argument: str) -> Trace:
    parts = argument.split(":")
    try:
        match name, parts:
            case "first", [n]:
                return traces.first(trace, int(n))
            case "outputs-above", [n]:
                return traces.outputs_above(trace, int(n))
            case "time-slice", [a, b]:
                return traces.time_slice(trace, float(a), float(b))
            case "rate-scale", [factor]:
                return traces.scale_rate(trace, float(factor))
            case "prompt-cap", [n]:
                return traces.cap_prompts(trace, int(n))
            case "prompt-cap", [n, action]:
                return traces.cap_prompts(trace, int(n), action)  # type: ignore[arg-type]
    except ValueError as error:
        if isinstance(error, ParameterError) or type(error) is not ValueError:
            raise
    raise ParameterError(f"`--{name}` got {argument!r}; see `lbtheory decode --help` for its form.")


def _releases(kind: str, trace: Trace, queue: int, seed: int) -> Releases:
    """Releases by their form."""
    name, _, rest = kind.partition(":")
    parts = rest.split(":") if rest else []
    n, rng = len(trace), generator(seed, "releases")
    try:
        match name, parts:
            case "saturated", []:
                return traces.saturated(queue)
            case "trace", []:
                if trace.arrivals is None:
                    raise ParameterError(
                        f"`--release trace` needs arrival times, and {trace.name} has lengths only. Use saturated."
                    )
                return traces.at_times(trace.arrivals)
            case "batched", [size, every]:
                return traces.batched(n, int(size), int(every))
            case "poisson", [rate]:
                return traces.poisson_iterations(n, float(rate), rng)
            case "poisson-clock", [rate]:
                return traces.poisson_clock(n, float(rate), rng)
            case "bursts", [sizes, gaps]:
                return traces.bursts(n, [int(v) for v in sizes.split(",")], [int(v) for v in gaps.split(",")])
            case "size-paced", [rate, power]:
                return traces.size_paced(trace.prompts, float(rate), float(power), rng)
    except ValueError as error:
        if isinstance(error, ParameterError) or type(error) is not ValueError:
            raise
    raise ParameterError(f"`--release` must be one of {RELEASE_FORMS}; got {kind!r}.")


def _through_prefill(releases: Releases, trace: Trace, spec: str) -> tuple[Releases, np.ndarray]:
    """Send the requests through a prefill pool first; needs releases by the clock."""
    if releases.kind != "clock" or releases.times is None:
        raise ParameterError("`--prefill` needs releases by the clock: `--release trace` or `poisson-clock:RATE`.")
    try:
        pool, batch, fixed, per_token = (kind(v) for kind, v in zip((int, int, float, float), spec.split(":"), strict=True))
    except ValueError:
        raise ParameterError(
            f"`--prefill` must be WORKERS:BATCH:FIXED:PER_TOKEN, for example 4:8:0.1:1e-4; got {spec!r}."
        ) from None
    result = traces.prefill_pool(
        releases.times, trace.prompts, workers=int(pool), batch=int(batch), fixed=fixed, per_token=per_token
    )
    return replace(releases, times=result.times), result.order
