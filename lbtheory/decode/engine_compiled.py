"""Driver of the compiled engine: lays out the arrays, runs the kernel in chunks of iterations, collects the records."""

from collections.abc import Callable

import numpy as np

from lbtheory.decode.known import check_hazard_run, known_at, known_requests
from lbtheory.decode.policies.base import CompiledRule, ForecastNeed, InformationSet, Policy
from lbtheory.decode.predictors import Oracle, Predictor
from lbtheory.decode.stream import RequestStream
from lbtheory.decode.timing import StepTime

CHUNK = 1024


def compiled_rule(stream: RequestStream, policy: Policy, workers: int) -> CompiledRule | None:
    """The compiled rule of a policy, or None when it (or its predictor) has none."""
    rule, need = policy.compiled(workers), policy.forecast_need()
    if rule is None or need is None or need.hazard or type(need.predictor) is Oracle:
        return rule
    return None if need.predictor.table(known_requests(stream, need.predictor), need.cap) is None else rule


def run(
    stream: RequestStream,
    policy: Policy,
    rule: CompiledRule,
    workers: int,
    slots: int,
    timing: StepTime,
    steps: int | None,
    keep_loads: bool,
    progress: Callable[[int, int], None] | None,
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Run a compiled rule; see `lbtheory.decode.engine.simulate`.

    Returns
    -------
    tuple
        Rows of the records by name, and by request: worker, admission iteration, release iteration, iterations paused; then
        the stop code.
    """
    from lbtheory.decode.kernels import state as layout

    arrays, limits, state = layout_arrays(stream, policy, rule, workers, slots, timing)
    rows: list[np.ndarray] = []
    loads: list[np.ndarray] = []
    done, stop = 0, layout.RUNNING
    need = policy.forecast_need()
    refit = 0 if need is None else need.predictor.refit
    while stop == layout.RUNNING and (steps is None or done < steps):
        chunk = CHUNK if steps is None else min(CHUNK, steps - done)
        if need is not None and refit:
            if done and done % refit == 0:
                known = known_at(stream, state.request["admitted"], done + 1)
                arrays = _with_forecasts(arrays, state.request, stream, need, need.predictor.learn(known))
            chunk = min(chunk, refit - done % refit)
        kept = np.zeros((chunk if keep_loads else 0, workers), np.int64)
        records = layout.Records(row=np.zeros(chunk, layout.ROW), loads=kept)
        written, stop = rule.run(arrays, limits, rule.rule, state, records, chunk)
        rows.append(records.row[:written])
        loads.append(kept[:written])
        done += written
        if progress is not None:
            progress(done, int(state.ints[layout.FINISHED]))
    whole = np.concatenate(rows)
    table = {name: whole[name].copy() for name in layout.ROW.names or ()} | {"loads": np.concatenate(loads)}
    requests = state.request
    paused = requests["paused"].copy()
    return table, requests["worker"].copy(), requests["admitted"] - paused, requests["released"].copy(), paused, int(stop)


def layout_arrays(stream: RequestStream, policy: Policy, rule: CompiledRule, workers: int, slots: int, timing: StepTime):  # type: ignore[no-untyped-def]
    """The stream, the limits and an empty system in the kernel's layout."""
    from lbtheory.decode.kernels import state as layout

    none = np.empty(0, np.int64)
    need, releases = policy.forecast_need(), stream.releases
    kind = {"saturated": layout.SATURATED, "iteration": layout.BY_ITERATION, "clock": layout.BY_CLOCK}[releases.kind]
    requests = np.zeros(len(stream), layout.REQUEST)
    requests["prompt"], requests["output"] = stream.prompts, stream.outputs
    requests["after"] = requests["before"] = requests["chain"] = -1
    if releases.times is not None:
        requests["release_time" if kind == layout.BY_CLOCK else "release_iteration"] = releases.times
    sizes, start, order = none, np.zeros(1, np.int64), none
    if rule.indexed:
        sizes, rank = np.unique(stream.prompts, return_inverse=True)
        order = np.argsort(rank, kind="stable").astype(np.int64)
        start = np.concatenate([start, np.cumsum(np.bincount(rank, minlength=len(sizes)))]).astype(np.int64)
        requests["rank"] = rank
    arrays = layout.Stream(
        coins=stream.coins() if InformationSet.COINS in policy.information else np.empty((0, 3)),
        sizes=np.array(sizes, np.int64),
        class_start=start,
        class_order=order,
        table=np.empty(0),
        alive=none,
        common=0,
    )
    forecast = layout.NO_FORECAST
    if need is not None:
        forecast = layout.HAZARD if need.hazard else layout.ORACLE if type(need.predictor) is Oracle else layout.TABLE
        if need.hazard:
            check_hazard_run(stream, need, slots)
        arrays = _with_forecasts(arrays, requests, stream, need, need.predictor)
    limits = layout.Limits(
        workers=workers,
        slots=slots,
        release=kind,
        queue=int(releases.queue),
        t_fixed=float(timing.t_fixed),
        t_token=float(timing.t_token),
        t_mean=float(timing.t_mean),
        overtake=-1 if policy.overtake is None else policy.overtake,
        patience=-1 if policy.patience is None else policy.patience,
        indexed=rule.indexed,
        forecast=forecast,
        horizon=0 if need is None else need.horizon,
        cap=0 if need is None else need.cap,
        refresh_each=need is not None and need.every_iteration,
        listed=forecast >= layout.TABLE or policy.pause is not None,
        pause=-1.0 if policy.pause is None else float(policy.pause),
    )
    return arrays, limits, _state(requests, limits, start[:-1].copy())


def _with_forecasts(arrays, requests: np.ndarray, stream: RequestStream, need: ForecastNeed, predictor: Predictor):  # type: ignore[no-untyped-def]
    """Put a predictor's forecasts where the kernel looks them up: tables in the arrays, places in the requests."""
    if type(predictor) is Oracle:
        return arrays
    known = known_requests(stream, predictor)
    if need.hazard:
        curves = predictor.curve_table(known)
        assert curves is not None
        requests["table_start"], requests["table_last"], requests["table_length"] = curves.start, curves.last, curves.usable
        return arrays._replace(alive=np.array(curves.alive, np.int64), common=curves.common)
    table = predictor.table(known, need.cap)
    assert table is not None
    requests["table_start"], requests["table_first"], requests["table_length"] = table.start, table.first, table.length
    return arrays._replace(table=np.array(table.values, float), common=table.common)


def _state(requests: np.ndarray, limits, class_head: np.ndarray):  # type: ignore[no-untyped-def]
    """An empty system."""
    from lbtheory.decode.kernels import state as layout

    workers = limits.workers
    ints = np.zeros(layout.INTS, np.int64)
    ints[layout.HEAD] = ints[layout.TAIL] = -1
    calendar = 1 << (int(requests["output"].max()) + 1).bit_length()
    ring = 1 << (limits.horizon + 1).bit_length() if limits.forecast else 1
    members = min(len(requests), workers * limits.slots) if limits.listed else 0
    return layout.State(
        ints=ints,
        floats=np.zeros(1),
        worker=np.zeros(workers, layout.WORKER),
        request=requests,
        free=np.zeros(workers, np.int64),
        head=np.full(calendar, -1, np.int64),
        class_head=class_head,
        tree=np.zeros(len(class_head) + 1, np.int64),
        ring_count=np.zeros((workers, ring), np.int64),
        ring_base=np.zeros((workers, ring), np.int64),
        members=np.zeros(members, np.int64),
    )
