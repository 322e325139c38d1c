"""Tasks of the decode experiments: what one cell of a sweep runs. Each returns a list of flat records."""

from time import perf_counter
from typing import Any

import numpy as np

from lbtheory.core import UnknownNameError, generator
from lbtheory.core.tasks import task_version
from lbtheory.decode.calibration import JsqRow, calibrate
from lbtheory.decode.comparison import Comparison, compare
from lbtheory.decode.engine import simulate
from lbtheory.decode.exact import compare as beside
from lbtheory.decode.exact import solve
from lbtheory.decode.instance import Assignment, DecodeInstance, decode_instance
from lbtheory.decode.policies import make_policy
from lbtheory.decode.policies.base import ForecastNeed, InformationSet, Policy, View
from lbtheory.decode.predictors import Oracle
from lbtheory.decode.timing import StepTime
from lbtheory.decode.traces.public import public_traces
from lbtheory.decode.workload import Source, Workload, make_workload

Record = dict[str, Any]


@task_version(2)
def replay(
    *,
    seed: int,
    workload: str,
    policies: list[str],
    workers: int,
    slots: int,
    queue: int,
    warmup: int,
    overtake: int | None,
    jsq_imbalance: float,
    jsq_throughput: float,
    jsq_tpot_p95: float,
    recurrence: float = 0.0,
    calibrated_on: int | None = None,
    factor: str | None = None,
) -> list[Record]:
    """Replay a synthetic trace, saturated and started near stationarity, through policies; one record a policy.

    Prompts and step time are calibrated on the published JSQ row alone, of ``calibrated_on`` workers (by default ``workers``).
    The first policy is the reference of the ratios; ``overtake`` is the cap of the policies that choose by size.
    """
    measured_on = workers if calibrated_on is None else calibrated_on
    row = JsqRow(imbalance=jsq_imbalance, throughput=jsq_throughput, tpot_p95=jsq_tpot_p95)
    fitted = calibrate(row, workload, workers=measured_on, slots=slots, warmup=warmup, recurrence=recurrence, seed=seed)
    work = _saturated(seed, workload, workers, slots, queue, fitted.prompt_cv, recurrence)
    constants = {"prompt_cv": fitted.prompt_cv, "t_fixed": fitted.timing.t_fixed, "t_token": fitted.timing.t_token}
    records = compared(
        work, policies, workers=workers, slots=slots, overtake=overtake, timing=fitted.timing, warmup=warmup, seed=seed
    )
    return [{**record, **constants} for record in records]


@task_version(2)
def versus(
    *,
    seed: int,
    workload: str,
    source: dict[str, Any],
    policies: list[str],
    workers: int,
    slots: int,
    overtake: int | None,
    queue: int = 64,
    release: str | None = "saturated",
    start: str = "residual",
    steps: int | None = None,
    warmup: int = 0,
    t_fixed: float | None = None,
    t_token: float | None = None,
    factor: str | None = None,
    value: float | None = None,
) -> list[Record]:
    """Policies on one stream; one record a policy, its ratio and difference paired with the first.

    ``workload`` is what the table calls the source; ``source`` holds the fields of `lbtheory.decode.workload.Source`, with
    ``public`` for the name of a public trace. ``factor`` and ``value`` are labels for the table. With tenants records also hold
    the mean wait and the admitted share of the requests of the first (``light``) and the last (``heavy``).
    """
    work = make_workload(
        read_source(source), workers=workers, slots=slots, release=release, queue=queue, start=start, steps=steps, seed=seed
    )
    timing = StepTime() if t_fixed is None or t_token is None else StepTime(t_fixed=t_fixed, t_token=t_token)
    return compared(
        work, policies, workers=workers, slots=slots, overtake=overtake, timing=timing, warmup=warmup, steps=steps, seed=seed
    )


def read_source(source: dict[str, Any]) -> Source:
    """A source from its fields; ``public`` names a public trace that is at hand."""
    rest = {key: value for key, value in source.items() if key != "public"}
    if "public" not in source:
        return Source(**rest)
    at_hand = public_traces()
    if source["public"] not in at_hand:
        raise UnknownNameError("public trace at hand", source["public"], at_hand)
    return Source(**{**at_hand[source["public"]], **rest})


def compared(
    work: Workload,
    policies: list[str],
    *,
    workers: int,
    slots: int,
    overtake: int | None,
    timing: StepTime,
    warmup: int,
    seed: int,
    steps: int | None = None,
) -> list[Record]:
    """One record a policy on a workload: means with their intervals, pairs with the first policy, latencies and waits."""
    made = {name: make_policy(name, history=work.history, overtake=overtake, cap_all=True) for name in policies}
    result = compare(
        work.stream, made, workers=workers, slots=slots, timing=timing, warmup=warmup, steps=steps, seed=seed, keep=policies
    )
    if result.left_out:  # an interrupt stops the study, not only the comparison
        raise KeyboardInterrupt
    return [_record(name, result, work, warmup) for name in policies]


def _record(name: str, result: Comparison, work: Workload, warmup: int) -> Record:
    """The summary of one policy, flat."""
    s, pair, requests = result.summaries[name], result.paired.get(name), result.runs[name].requests
    ratio = None if pair is None else pair.imbalance_sum_ratio
    less = None if pair is None else pair.imbalance_sum_difference
    admitted = requests.admission_iteration > warmup
    tenants = {"light": s.tenants[0], "heavy": s.tenants[-1]} if s.tenants else {}
    return {
        "policy": name,
        "iterations": s.iterations,
        "imbalance": s.imbalance_sum.mean,
        "imbalance_low": s.imbalance_sum.low,
        "imbalance_high": s.imbalance_sum.high,
        "ratio": 1.0 if pair is None else None if ratio is None else ratio.mean,
        "ratio_low": None if ratio is None else ratio.low,
        "ratio_high": None if ratio is None else ratio.high,
        "excess": 0.0 if less is None else -less.mean,
        "excess_low": None if less is None or less.high is None else -less.high,
        "excess_high": None if less is None or less.low is None else -less.low,
        "tpot_p95": s.tpot_iteration.p95,
        "throughput": s.throughput,
        "barrier_idle": s.barrier_idle,
        "barrier_idle_time": s.barrier_idle_time,
        "wait_mean": s.wait_iterations.mean,
        "wait_max": s.wait_iterations.maximum,
        "wait_seconds": s.wait.mean,
        "mean_admitted": float(requests.prompts[admitted].mean()) if admitted.any() else None,
        "mean_offered": float(work.stream.prompts.mean()),
        "occupancy": s.occupancy,
        "paused": s.paused,
        **{f"wait_{key}": one.wait_iterations.as_json("mean")["mean"] for key, one in tenants.items()},
        **{f"admitted_{key}": one.admitted for key, one in tenants.items()},
    }


def trajectories(
    *,
    seed: int,
    workload: str,
    policies: list[str],
    workers: int,
    slots: int,
    queue: int,
    prompt_cv: float,
    begin: int,
    iterations: int,
    overtake: int | None,
    recurrence: float = 0.0,
    every: int = 1,
    part: str | None = None,
) -> list[Record]:
    """Loads of every worker over a common segment, one record a policy and (each so many) iteration; ``part`` is a label."""
    work = _saturated(seed, workload, workers, slots, queue, prompt_cv, recurrence)
    records = []
    for name in policies:
        policy = make_policy(name, history=work.history, overtake=overtake, cap_all=True)
        run = simulate(work.stream, policy, workers=workers, slots=slots, steps=begin + iterations, keep_loads=True, seed=seed)
        loads = run.iterations.loads
        assert loads is not None
        for k in range(begin, begin + iterations, every):
            columns = {f"worker_{g}": int(loads[k, g]) for g in range(workers)}
            records.append({"policy": name, "iteration": k + 1, **columns})
    return records


def _saturated(
    seed: int, workload: str, workers: int, slots: int, queue: int, prompt_cv: float, recurrence: float = 0.0
) -> Workload:
    source = Source(trace=workload, prompt_cv=prompt_cv, recurrence=recurrence)
    return make_workload(source, workers=workers, slots=slots, release="saturated", queue=queue, start="residual", seed=seed)


def gaps(
    *,
    seed: int,
    workers: int,
    slots: int,
    p: str,
    prompts: str,
    queue: int,
    horizon: int,
    gamma: float,
    driver: str,
    policies: list[str],
    warmup: int,
    states: int,
    every: int,
    time_limit: float,
) -> list[Record]:
    """Exact IO_H beside other policies on the same states of a running system; one record a state and policy.

    The states are met by ``driver``, every so many iterations after the warm-up. ``gap`` is the policy's objective less the
    exact bound; ``status`` that of the exact solve. ``seconds`` is the policy's decision time in plain Python or its solver.
    """
    work = _system(seed, workers, slots, p, prompts, queue, warmup + every * states)
    recorder = _Recorder(make_policy(driver), horizon, warmup, every)
    simulate(work.stream, recorder, workers=workers, slots=slots, steps=warmup + every * states, engine="plain", seed=seed)
    records = []
    for number, (view, instance) in enumerate(recorder.states(gamma)):
        exact = solve(instance, "io", time_limit=time_limit, tie="none", seed=seed)
        assert exact.objective is not None and exact.bound is not None
        common = {
            "state": number,
            "free": int(instance.free.sum()),
            "exact": float(exact.objective),
            "status": exact.status.value,
        }
        records.append(
            {
                **common,
                "policy": "io",
                "objective": float(exact.objective),
                "gap": float(exact.objective - exact.bound),
                "seconds": exact.seconds,
            }
        )
        for name in policies:
            made = make_policy(name.replace("HORIZON", str(horizon)))
            made.reset(workers, slots)
            rng = generator(seed, "gap", name, number)
            seen = view.as_seen(made.information)
            began = perf_counter()
            assignment = made.assign(seen, rng)
            seconds = perf_counter() - began
            answer = beside(instance, assignment, exact, name, seconds)
            assert answer.objective is not None and answer.gap is not None
            records.append(
                {
                    **common,
                    "policy": name.split(":")[0] if name.startswith("brh") else name,
                    "objective": float(answer.objective),
                    "gap": float(answer.gap),
                    "seconds": seconds,
                }
            )
    return records


def _system(seed: int, workers: int, slots: int, p: str, prompts: str, queue: int, steps: int) -> Workload:
    return make_workload(Source(p=p, prompts=prompts), workers=workers, slots=slots, queue=queue, steps=steps, seed=seed)


class _Recorder(Policy):
    """Runs another policy and keeps what it saw, with oracle forecasts over the window."""

    name = "recorder"
    information = (
        InformationSet.LOADS | InformationSet.AGES | InformationSet.PROMPTS | InformationSet.FORECAST | InformationSet.COINS
    )

    def __init__(self, inner: Policy, horizon: int, warmup: int, every: int) -> None:
        self.inner, self.horizon, self.warmup, self.every = inner, horizon, warmup, every
        self.kept: list[View] = []

    def reset(self, workers: int, slots: int) -> None:
        """Forget."""
        self.inner.reset(workers, slots)
        self.kept = []

    def forecast_need(self) -> ForecastNeed:
        """The window, every iteration, with ``min(r, H + 1)``."""
        return ForecastNeed(
            predictor=Oracle(), horizon=max(1, self.horizon), cap=max(1, self.horizon) + 1, every_iteration=True
        )

    def assign(self, view: View, rng: np.random.Generator) -> Assignment:
        """The inner policy's assignment."""
        if view.iteration > self.warmup and (view.iteration - self.warmup) % self.every == 0:
            self.kept.append(view)
        return self.inner.assign(view.as_seen(self.inner.information), rng)

    def states(self, gamma: float) -> list[tuple[View, DecodeInstance]]:
        """What was kept, as views and as instances."""
        found = []
        for view in self.kept:
            rows = view.forecast.loads[: self.horizon + 1]
            projected = np.array(rows, np.int64).T
            found.append((view, decode_instance(view.loads, view.free, view.prompts, projected=projected, gamma=gamma)))
        return found
