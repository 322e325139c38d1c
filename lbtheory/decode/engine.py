"""Simulate barrier-synchronised decoding: one stream, one policy, two engines with the same trajectory.

The compiled engine runs the policies that have a compiled rule; the plain engine runs any policy in Python. On the same stream
they agree bit for bit. In the compiled engine requests that leave at an iteration sit in a calendar, so an iteration costs
``O(G + departures + admissions)``, whatever ``B`` and the length of the queue.
"""

from collections.abc import Callable

import numpy as np

from lbtheory.core import ParameterError, readonly, whole_number
from lbtheory.decode.policies.base import Policy
from lbtheory.decode.records import IterationRecords, RequestRecords, Run
from lbtheory.decode.stream import RequestStream
from lbtheory.decode.timing import StepTime

ENGINES = ("auto", "compiled", "plain")
WORKER_LIMIT = 2**20
STOPPED = {0: "steps", 1: "drained", 2: "exhausted"}


def simulate(
    stream: RequestStream,
    policy: Policy,
    *,
    workers: int,
    slots: int,
    timing: StepTime | None = None,
    steps: int | None = None,
    engine: str = "auto",
    keep_loads: bool = False,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Run:
    """Run a policy on a stream.

    A policy with ``pause = δ`` relaxes the barrier (ours, a comparator). After admission, with loads ``L_g`` and mean ``L̄``,
    every worker with ``L_g > (1 + δ) L̄`` pauses requests one by one until it is no longer above: among those admitted in
    earlier iterations and not paused in the last one, the smallest whose workload covers the excess, else the largest (ties:
    earliest released); it stays above when only one request is left to run or none may be paused. A paused request keeps its
    slot and its tokens, generates none in this iteration, and so finishes an iteration later; the step takes
    ``t_fixed + t_token max_g`` of what is left. Loads and imbalance of the records are those of the requests that take part.

    Parameters
    ----------
    stream : RequestStream
    policy : Policy
    workers, slots : int
        ``G ≥ 1`` workers of ``B ≥ 1`` slots.
    timing : StepTime, optional
        Step-time model; its default is the calibration of the decode paper's Table 3.
    steps : int, optional
        Stop after so many iterations. Otherwise the run ends when every request has finished, or, with saturated releases, when
        the stream can no longer keep the queue at its length.
    engine : auto | compiled | plain
        ``auto`` takes the compiled engine where the policy has a compiled rule.
    keep_loads : bool
        Keep the load of every worker at every iteration (K × G integers).
    seed : int
        Seed of the generator that plain policies get.
    progress : callable, optional
        Called now and then with (iterations done, requests finished).

    Returns
    -------
    Run

    Raises
    ------
    ParameterError
    """
    whole_number("workers", "simulate", workers, 1)
    whole_number("slots", "simulate", slots, 1)
    if steps is not None:
        whole_number("steps", "simulate", steps, 1)
    if workers > WORKER_LIMIT:
        raise ParameterError(f"`workers` of `simulate` must be at most {WORKER_LIMIT}; got {workers}.")
    if engine not in ENGINES:
        raise ParameterError(f"`engine` of `simulate` must be one of {', '.join(ENGINES)}; got {engine!r}.")
    from lbtheory.decode import engine_compiled, engine_plain

    rule = None
    if engine != "plain":
        rule = engine_compiled.compiled_rule(stream, policy, workers)
        if rule is None and engine == "compiled":
            raise ParameterError(
                f"`engine` of `simulate` must be auto or plain for policy {policy.name!r}: it has no compiled rule."
            )
    if policy.pause is not None and policy.forecast_need() is not None:
        raise ParameterError(
            f"`pause` of policy {policy.name!r} must be none with forecasts: they do not know who will be paused. Leave it out."
        )
    timing = timing or StepTime()
    if rule is not None:
        trajectory = engine_compiled.run(stream, policy, rule, workers, slots, timing, steps, keep_loads, progress)
        used = "compiled"
    else:
        trajectory = engine_plain.run(stream, policy, workers, slots, timing, steps, keep_loads, seed, progress)
        used = "plain"
    return _run(stream, workers, slots, used, *trajectory)


def _run(
    stream: RequestStream,
    workers: int,
    slots: int,
    engine: str,
    rows: dict[str, np.ndarray],
    worker: np.ndarray,
    admitted: np.ndarray,
    released: np.ndarray,
    paused: np.ndarray,
    stop: int,
) -> Run:
    """Times of requests follow from the iterations in which things happened to them."""
    loads = rows.pop("loads")
    iterations = IterationRecords(
        workers=workers, loads=readonly(loads) if len(loads) else None, **{k: readonly(v) for k, v in rows.items()}
    )
    last = len(iterations)
    start, end = np.append(iterations.start, np.nan), np.append(iterations.end, np.nan)

    def at(times: np.ndarray, iteration: np.ndarray) -> np.ndarray:
        """The time of an iteration; NaN where it is 0 (never)."""
        return readonly(times[np.where(iteration > 0, iteration - 1, last)])

    leaves = admitted + stream.outputs + paused - 1
    finish = np.where((admitted > 0) & (leaves <= last), leaves, 0)
    times = stream.releases.times
    if stream.releases.kind == "clock" and times is not None:
        release = np.where(released > 0, times, np.nan)
    else:
        release = at(start, released)
    requests = RequestRecords(
        prompts=stream.prompts,
        outputs=stream.outputs,
        worker=readonly(np.where(admitted > 0, worker, -1)),
        release_iteration=readonly(released),
        admission_iteration=readonly(admitted),
        finish_iteration=readonly(finish),
        release=readonly(release),
        admission=at(start, admitted),
        first_token=at(end, admitted),
        finish=at(end, finish),
        paused=readonly(paused),
        tenants=stream.tenants,
        weights=stream.weights,
    )
    return Run(workers=workers, slots=slots, iterations=iterations, requests=requests, stopped=STOPPED[stop], engine=engine)
