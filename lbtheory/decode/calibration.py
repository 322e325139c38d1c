"""Calibration of a synthetic workload on one published JSQ row, so that every other row is a prediction.

From the row's mean imbalance ``I``, throughput ``T`` and TPOT P95 (decode paper, Table 3), with full slots:

1. throughput × step time gives 64 to 67 requests in flight on 8 workers, so ``B = 8``;
2. the coefficient of variation of the lognormal prompts is the one at which the stationary imbalance of a size-blind rule is
   ``I``. Slots are independent in the long run, each with a prompt and an age that is uniform on a length-biased output;
3. with step time ``t_fixed + t_token max_g L_g``, and saturated releases, the trajectory does not depend on the clock, so a
   request's time per token is ``t_fixed + t_token m_i``, ``m_i`` the mean of ``max_g L_g`` over its iterations. Mean step time
   ``G B / T`` and P95 are two equations for the two coefficients.

Kind: empirical. No single pair of coefficients fits both published workloads: each has its own.
"""

from dataclasses import dataclass

import numpy as np

from lbtheory.core import ParameterError, generator
from lbtheory.decode.engine import simulate
from lbtheory.decode.policies import make_policy
from lbtheory.decode.timing import StepTime
from lbtheory.decode.traces import synthetic
from lbtheory.decode.workload import Source, make_workload

DRAWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JsqRow:
    """A published JSQ row: mean imbalance (tokens), throughput (tokens a second), TPOT P95 (seconds)."""

    imbalance: float
    throughput: float
    tpot_p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Coefficient of variation of the prompts, and the step time."""

    prompt_cv: float
    timing: StepTime


def calibrate(
    row: JsqRow,
    workload: str,
    *,
    workers: int,
    slots: int,
    warmup: int,
    recurrence: float = 0.0,
    seed: int = 0,
    draws: int = DRAWS,
) -> Calibration:
    """Calibrate a synthetic workload on a JSQ row.

    Parameters
    ----------
    row : JsqRow
    workload : str
        Name of a synthetic trace.
    workers, slots, warmup : int
        Of the JSQ run behind step 3.
    recurrence : float
        Share of requests that repeat a prompt.
    seed : int
    draws : int
        Snapshots of the system behind step 2.

    Raises
    ------
    ParameterError
        When no coefficient of variation in [0.05, 4] gives the imbalance, or the coefficients come out negative.
    """
    cv = _prompt_cv(row, workload, workers, slots, recurrence, seed, draws)
    source = Source(trace=workload, prompt_cv=cv, recurrence=recurrence)
    work = make_workload(source, workers=workers, slots=slots, release="saturated", start="residual", seed=seed)
    run = simulate(work.stream, make_policy("jsq"), workers=workers, slots=slots, timing=StepTime(t_fixed=0.0, t_token=1.0))
    chosen = run.requests.finished & (run.requests.admission_iteration > warmup)
    largest = float(run.iterations.maximum[warmup:].mean())
    tail = float(np.quantile(run.requests.tpot_iteration[chosen], 0.95))
    step = workers * slots / row.throughput
    t_token = (row.tpot_p95 - step) / (tail - largest)
    return Calibration(prompt_cv=cv, timing=StepTime(t_fixed=step - t_token * largest, t_token=t_token))


def snapshot_imbalance(
    workload: str, prompt_cv: float, workers: int, slots: int, recurrence: float, seed: int, draws: int
) -> float:
    """Stationary mean imbalance under a size-blind rule, from ``draws`` independent snapshots."""
    rng = generator(seed, "snapshot", workload)
    trace = synthetic(workload, seed, prompt_cv=prompt_cv, recurrence=recurrence)
    shape = (draws, workers, slots)
    prompts = trace.prompts[rng.integers(0, len(trace), shape)]
    ends = np.cumsum(trace.outputs)  # a uniform token of the trace: its request is length-biased and its age uniform
    tokens = rng.integers(0, ends[-1], shape)
    ages = ends[np.searchsorted(ends, tokens, side="right")] - 1 - tokens
    loads = (prompts + ages).sum(axis=2)
    return float((workers * loads.max(axis=1) - loads.sum(axis=1)).mean())


def _prompt_cv(row: JsqRow, workload: str, workers: int, slots: int, recurrence: float, seed: int, draws: int) -> float:
    """Bisection; the imbalance rises with the coefficient of variation."""

    def imbalance(cv: float) -> float:
        return snapshot_imbalance(workload, cv, workers, slots, recurrence, seed, draws)

    low, high = 0.05, 4.0
    if not imbalance(low) < row.imbalance < imbalance(high):
        raise ParameterError(
            f"`imbalance` of the JSQ row must be within reach of prompt CVs {low} to {high}; got {row.imbalance}."
        )
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if imbalance(middle) < row.imbalance else (low, middle)
    return (low + high) / 2
