"""Tasks about forecasts: accuracy by age, what a forecast costs, what one learns inside a run, how long decisions take.

``workload`` is what the table calls the source.
"""

from itertools import pairwise
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from lbtheory.core import ParameterError
from lbtheory.decode import engine_compiled
from lbtheory.decode.engine import simulate
from lbtheory.decode.engine_plain import PlainSystem
from lbtheory.decode.known import known_at
from lbtheory.decode.policies import make_policy
from lbtheory.decode.policies._balance import BalanceStep
from lbtheory.decode.policies.base import View
from lbtheory.decode.policies.brh import BrH
from lbtheory.decode.predictors import History, InFlight, Requests, Survival, make_predictor
from lbtheory.decode.predictors.accuracy import accuracy, looks
from lbtheory.decode.tasks import Record, read_source
from lbtheory.decode.timing import StepTime
from lbtheory.decode.workload import Workload, make_workload


def accuracies(
    *,
    seed: int,
    workload: str,
    source: dict[str, Any],
    predictors: list[str],
    horizon: int,
    every: int,
    buckets: list[int],
    requests: int,
) -> list[Record]:
    """Fit on the earlier part, look at the later one: a record a predictor and age bucket, and one a tenth of ``p̂_fin``.

    ``buckets`` are the lower ends of the age buckets; at most ``requests`` requests are looked at. Sizes of the tables and
    seconds to fit come with the bucket ``all``.
    """
    work = make_workload(read_source(source), workers=1, slots=1, release="saturated", queue=0, seed=seed)
    stream = work.stream
    n = min(requests, len(stream))
    known = Requests(
        prompts=stream.prompts[:n], keys=None if stream.keys is None else stream.keys[:n], outputs=stream.outputs[:n]
    )
    flight, remaining = looks(known, every)
    edges = [*buckets, np.iinfo(np.int64).max]
    records: list[Record] = []
    for name in predictors:
        began = perf_counter()
        made = make_predictor(name, work.history)
        table = made.table(known, horizon)
        seconds = perf_counter() - began
        size = None if table is None else table.nbytes
        whole = accuracy(made, flight, remaining, horizon, np.ones(len(remaining), bool))
        common = {"what": "accuracy", "predictor": name}
        records.append({**common, "bucket": "all", "fit_seconds": seconds, "bytes": size, **_errors(whole)})
        for low, high in pairwise(edges):
            chosen = (flight.ages >= low) & (flight.ages < high)
            if chosen.any():
                part = accuracy(made, flight, remaining, horizon, chosen)
                text = f"{low} to {high - 1}" if high < edges[-1] else f"{low} and more"
                records.append({**common, "bucket": text, **_errors(part)})
        for count, mean, share in whole.calibration:
            if count:
                tenth = {"looks": int(count), "chance": float(mean), "finishing": float(share)}
                records.append({"what": "calibration", "predictor": name, **tenth})
    return records


def _errors(a: Any) -> Record:
    names = ("looks", "finishing", "mae", "rmse", "bias", "brier", "auc")
    return {name: getattr(a, name) for name in names}


def query_costs(
    *,
    seed: int,
    workload: str,
    source: dict[str, Any],
    predictors: list[str],
    workers: int,
    slots: int,
    horizon: int,
    repeats: int,
) -> list[Record]:
    """Nanoseconds a forecast in the compiled path: the refresh of all forecasts of a running system, over its requests.

    The median of ``repeats`` batches of 20 refreshes each.
    """
    work = _running(source, workers, slots, seed)
    records = []
    for name in predictors:
        hazard = name.endswith("+hazard")
        text = f"brh:horizon={horizon},predictor={name.removesuffix('+hazard')}" + (",projection=hazard" if hazard else "")
        nanoseconds = _refresh_nanoseconds(work, text, workers, slots, repeats)
        records.append({"what": "cost", "predictor": name, "nanoseconds": nanoseconds})
    return records


def _refresh_nanoseconds(work: Workload, text: str, workers: int, slots: int, repeats: int) -> float:
    from lbtheory.decode.kernels import state as layout
    from lbtheory.decode.kernels import step

    policy = make_policy(text, history=work.history)
    rule = engine_compiled.compiled_rule(work.stream, policy, workers)
    assert rule is not None
    arrays, limits, state = engine_compiled.layout_arrays(work.stream, policy, rule, workers, slots, StepTime())
    records = layout.Records(row=np.zeros(200, layout.ROW), loads=np.zeros((0, workers), np.int64))
    rule.run(arrays, limits, rule.rule, state, records, 200)
    active, times = int(state.ints[layout.ACTIVE]), []
    for _ in range(repeats):
        began = perf_counter()
        for _ in range(20):
            if limits.forecast == layout.HAZARD:
                step.expected(arrays, limits, state, limits.horizon, rule.rule.projected)
            else:
                step.refresh(arrays, limits, state)
        times.append((perf_counter() - began) / (20 * active))
    return 1e9 * float(np.median(times))


def censoring(
    *, seed: int, workload: str, source: dict[str, Any], workers: int, slots: int, horizon: int, iterations: list[int]
) -> list[Record]:
    """A run that starts empty and knows nothing: the mean error of ``ĉ`` at age 0 … by what it learned until an iteration.

    The truth is the forecast from all outputs of the stream, averaged over the ages of the requests in flight.
    """
    work = make_workload(read_source(source), workers=workers, slots=slots, release="saturated", queue=64, seed=seed)
    stream = work.stream
    run = simulate(stream, make_policy("jsq"), workers=workers, slots=slots, steps=max(iterations), seed=seed)
    truth = Survival(History(prompts=stream.prompts, outputs=stream.outputs))
    records: list[Record] = []
    for k in iterations:
        admitted = np.where(run.requests.admission_iteration < k, run.requests.admission_iteration, 0)
        known = known_at(stream, admitted, k)
        assert known.running_ages is not None
        ages = known.running_ages
        flight = InFlight(ids=np.arange(len(ages)), ages=ages, prompts=np.ones(len(ages), int))
        for estimate in ("empirical", "product-limit"):
            if len(known.outputs):
                made = Survival(known, estimate=estimate)
                bias = float((made.finishing(flight, horizon) - truth.finishing(flight, horizon)).mean())
                row = {"predictor": estimate, "iteration": k, "bias": bias, "finished": len(known.outputs)}
                records.append({"what": "censoring", **row})
    return records


def decision_times(
    *,
    seed: int,
    workload: str,
    source: dict[str, Any],
    workers: int,
    slots: int,
    horizon: int,
    window: int,
    greedy: int,
    warmup: int,
    steps: int,
) -> list[Record]:
    """CPU seconds a decision of BR-H in plain Python, by stage, and the mean in the compiled path; one record a decision.

    *Look*: forecasts and projected loads. *Stage 1* and *stage 2* as in the paper. The compiled time is that of a run less that
    of Count-JSQ on the same stream, over the iterations that admit someone.
    """
    work = _running(source, workers, slots, seed)
    options = f"beta=14.67,gamma=0.64,horizon={horizon},window={window},greedy={greedy}"
    policy = make_policy(f"brh:{options}", history=work.history)
    assert isinstance(policy, BrH)
    system = PlainSystem(work.stream, policy, workers, slots)
    policy.reset(workers, slots)
    compiled = _compiled_seconds(work, f"brh:{options}", workers, slots)
    records: list[Record] = []
    for k in range(warmup + steps):
        system.depart()
        if system.release() is not None:
            break
        began = thread_time()
        system.look()
        view = system.view()
        looked = thread_time() - began
        if not view.admissions:
            continue
        clock = _StageClock(policy, view)
        began = thread_time()
        assignment = policy.decide(clock)
        decided = thread_time() - began
        system.admit(assignment)
        if k >= warmup:
            rest = decided - clock.first - clock.second
            records.append(
                {
                    "what": "decision",
                    "look": looked + rest,
                    "stage1": clock.first,
                    "stage2": clock.second,
                    "total": looked + decided,
                    "compiled": compiled,
                    "free": sum(view.free),
                }
            )
    return records


class _StageClock(BalanceStep):
    """A step that counts the seconds of its two stages."""

    def __init__(self, policy: BrH, view: View) -> None:
        super().__init__(policy, view, policy.rows(view))
        self.first = self.second = 0.0

    def best_single(self, g: int) -> int:
        """Stage 1's search."""
        began = thread_time()
        found = super().best_single(g)
        self.first += thread_time() - began
        return found

    def best_subset(self, g: int) -> Any:
        """Stage 2's search."""
        began = thread_time()
        found = super().best_subset(g)
        self.second += thread_time() - began
        return found


def _compiled_seconds(work: Workload, text: str, workers: int, slots: int) -> float:
    """Seconds a decision of a compiled policy."""
    times = []
    for name in (text, "jsq"):
        policy = make_policy(name, history=work.history)
        simulate(work.stream, policy, workers=workers, slots=slots, steps=10)  # compile first
        began = thread_time()
        run = simulate(work.stream, policy, workers=workers, slots=slots, steps=20_000)
        times.append(thread_time() - began)
        decisions = int((run.iterations.admitted > 0).sum())
    if decisions == 0:
        raise ParameterError("`source` of `decision_times` must admit requests within 20,000 iterations.")
    return max(0.0, times[0] - times[1]) / decisions


def _running(source: dict[str, Any], workers: int, slots: int, seed: int) -> Workload:
    return make_workload(
        read_source(source), workers=workers, slots=slots, release="saturated", queue=64, start="residual", seed=seed
    )
