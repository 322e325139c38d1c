"""Metrics of a run, by the names of the field (and both names where the field disagrees).

Means over iterations run over iterations after the warm-up with a request active; request metrics over requests admitted after
the warm-up. ``imbalance_sum = G max − Σ`` and ``imbalance_range = max − min``. ``barrier_idle`` is the step average of
``I/(G M)``, ``barrier_idle_time`` the share of execution time ``Σ t_token I / (G Σ time)``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.decode.records import Run
from lbtheory.decode.statistics import Estimate, batch_means
from lbtheory.decode.timing import StepTime

OBJECTIVES = ("ttft", "tpot", "e2e")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """Mean and quantiles of a request metric over ``count`` requests; ``undefined`` ones are left out and counted."""

    count: int
    mean: float
    p50: float
    p95: float
    p99: float
    maximum: float
    undefined: int

    def as_json(self, *names: str) -> dict[str, float | int | None]:
        """The values by name, ``max`` for the maximum; null where no request has the metric."""
        values = {"mean": self.mean, "p50": self.p50, "p95": self.p95, "p99": self.p99, "max": self.maximum}
        return {n: self.undefined if n == "undefined" else (values[n] if self.count else None) for n in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantWaits:
    """Waits of one tenant's requests: of those released after the warm-up, and the share of them that was admitted."""

    tenant: int
    weight: int
    released: int
    admitted: float
    wait_iterations: Quantiles

    def as_json(self) -> dict[str, Any]:
        """The keys that ``lbtheory decode --json`` prints for a tenant."""
        waits = self.wait_iterations.as_json("mean", "p99", "max")
        counts = {"tenant": self.tenant, "weight": self.weight, "released": self.released}
        return {**counts, "admitted": self.admitted if self.released else None, "wait_iterations": waits}


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """All metrics of a run; times in seconds, loads in tokens.

    ``tokens`` generated and ``finished`` requests count the whole run, as do ``iterations``; ``throughput`` is tokens a second
    after the warm-up. ``wait`` and ``wait_iterations`` are of admitted requests, but their maxima include requests that still
    waited at the end. ``itl`` pools the latencies between tokens of all requests. ``goodput``: requests a second that met every
    objective; None without objectives. ``max_min_ratio``: mean of ``max/min`` over iterations where no worker was empty, None
    when there is none. ``paused``: share of the requests in flight that an iteration left out, after the warm-up. ``tenants``:
    waits by tenant, empty where the stream has none.
    """

    finished: int
    iterations: int
    tokens: int
    imbalance_sum: Estimate
    imbalance_range: Estimate
    barrier_idle: float
    barrier_idle_time: float
    balance_ratio: float
    jain: float
    coefficient_of_variation: float
    max_min_ratio: float | None
    throughput: float
    goodput: float | None
    tpot: Quantiles
    tpot_iteration: Quantiles
    itl: Quantiles
    ttft: Quantiles
    ttft_admission: Quantiles
    e2e: Quantiles
    wait: Quantiles
    wait_iterations: Quantiles
    refused: int
    occupancy: float
    occupancy_max: int
    paused: float
    tenants: tuple[TenantWaits, ...]
    stopped: str
    engine: str

    def undefined(self) -> list[str]:
        """Names of the metrics that no request has."""
        return [name for name in self.__slots__ if isinstance(v := getattr(self, name), Quantiles) and v.count == 0]

    def as_json(self) -> dict[str, Any]:
        """The keys that ``lbtheory decode --json`` prints for a policy."""
        four = ("mean", "p50", "p95", "p99")
        return {
            "finished": self.finished,
            "iterations": self.iterations,
            "tokens": self.tokens,
            "imbalance_sum": self.imbalance_sum.as_json(),
            "imbalance_range": self.imbalance_range.as_json(),
            "barrier_idle": self.barrier_idle,
            "barrier_idle_time": self.barrier_idle_time,
            "balance_ratio": self.balance_ratio,
            "jain": self.jain,
            "coefficient_of_variation": self.coefficient_of_variation,
            "max_min_ratio": self.max_min_ratio,
            "throughput": self.throughput,
            "goodput": self.goodput,
            "tpot": self.tpot.as_json(*four, "undefined"),
            "tpot_iteration": self.tpot_iteration.as_json(*four, "undefined"),
            "itl": self.itl.as_json(*four),
            "ttft": self.ttft.as_json(*four),
            "ttft_admission": self.ttft_admission.as_json(*four),
            "e2e": self.e2e.as_json(*four),
            "wait": self.wait.as_json("mean", "p99", "max"),
            "wait_iterations": self.wait_iterations.as_json("mean", "p99", "max"),
            "refused": self.refused,
            "occupancy": self.occupancy,
            "occupancy_max": self.occupancy_max,
            "paused": self.paused,
            "tenants": [one.as_json() for one in self.tenants],
            "stopped": self.stopped,
            "engine": self.engine,
        }


def counted(run: Run, warmup: int) -> np.ndarray:
    """Indices of the iterations that means run over: after the warm-up, with a request active.

    Raises
    ------
    ParameterError
        When none is left.
    """
    kept = np.flatnonzero(run.iterations.active[warmup:] > 0) + warmup
    if len(kept) == 0:
        raise ParameterError(
            f"`warmup` must leave some iteration with a request active; got {warmup} of {len(run.iterations)} iterations. "
            "Shorten the warm-up or run longer."
        )
    return kept


def summarise(
    run: Run,
    timing: StepTime,
    *,
    warmup: int = 0,
    level: float = 0.95,
    refused: int = 0,
    objectives: Mapping[str, float] | None = None,
) -> Summary:
    """Summarise a run.

    Parameters
    ----------
    run : Run
    timing : StepTime
        The one that the run was made with.
    warmup : int
        Iterations to leave out.
    level : float
        Of the confidence intervals.
    refused : int
        Requests refused before the run.
    objectives : mapping, optional
        Largest ``ttft``, ``tpot``, ``e2e`` in seconds that a request may have to count as good.
    """
    rows = counted(run, warmup)
    its, requests, workers = run.iterations, run.requests, run.workers
    maximum, total, square = its.maximum[rows], its.total[rows], its.square[rows]
    imbalance, seconds = its.imbalance_sum[rows], float(its.duration[rows].sum())
    idle = its.barrier_idle[rows]
    mean_load = total / workers
    spread = np.sqrt(np.maximum(square / workers - mean_load**2, 0.0))
    no_empty = its.minimum[rows] > 0
    chosen = requests.admission_iteration > warmup
    served = its.active - its.paused
    return Summary(
        finished=int(requests.finished.sum()),
        iterations=len(its),
        tokens=int(served.sum()),
        imbalance_sum=batch_means(imbalance, level),
        imbalance_range=batch_means(its.imbalance_range[rows], level),
        barrier_idle=float(idle.mean()),
        barrier_idle_time=float(timing.t_token * imbalance.sum() / (workers * seconds)),
        balance_ratio=float(1 - idle.mean()),
        jain=float(np.mean(total.astype(float) ** 2 / (workers * square))),
        coefficient_of_variation=float(np.mean(spread / mean_load)),
        max_min_ratio=float(np.mean(maximum[no_empty] / its.minimum[rows][no_empty])) if no_empty.any() else None,
        throughput=float(served[rows].sum() / seconds),
        goodput=_goodput(run, chosen, seconds, objectives),
        tpot=quantiles(requests.tpot[chosen & requests.finished]),
        tpot_iteration=quantiles(requests.tpot_iteration[chosen & requests.finished]),
        itl=_latencies(run, rows),
        ttft=quantiles(requests.ttft[chosen]),
        ttft_admission=quantiles(requests.ttft_admission[chosen]),
        e2e=quantiles((requests.finish - requests.release)[chosen & requests.finished]),
        wait=_with_waiting(requests.wait[chosen], _still(run, times=True)),
        wait_iterations=_with_waiting(requests.wait_iterations[chosen].astype(float), _still(run, times=False)),
        refused=refused,
        occupancy=float(its.active[rows].mean() / (workers * run.slots)),
        occupancy_max=int(its.fullest.max()),
        paused=float(its.paused[rows].sum() / its.active[rows].sum()),
        tenants=_by_tenant(run, warmup),
        stopped=run.stopped,
        engine=run.engine,
    )


def _latencies(run: Run, rows: np.ndarray) -> Quantiles:
    """Latencies between tokens: an iteration, or two for a request that was paused in the iteration before (never twice)."""
    its = run.iterations
    resumed, longer = np.append(0, its.paused[:-1])[rows], its.duration + np.append(0.0, its.duration[:-1])
    usual = its.active[rows] - its.admitted[rows] - its.paused[rows] - resumed
    if not resumed.any():
        return weighted_quantiles(its.duration[rows], usual)
    return weighted_quantiles(np.append(its.duration[rows], longer[rows]), np.append(usual, resumed))


def _by_tenant(run: Run, warmup: int) -> tuple[TenantWaits, ...]:
    """Waits of the requests of each tenant that were released after the warm-up."""
    requests = run.requests
    if requests.tenants is None:
        return ()
    found = []
    for tenant in range(int(requests.tenants.max()) + 1):
        mine = requests.tenants == tenant
        released = mine & (requests.release_iteration > warmup)
        admitted = released & (requests.admission_iteration > 0)
        found.append(
            TenantWaits(
                tenant=tenant,
                weight=1 if requests.weights is None or not mine.any() else int(requests.weights[mine][0]),
                released=int(released.sum()),
                admitted=float(admitted.sum() / max(1, released.sum())),
                wait_iterations=quantiles(requests.wait_iterations[admitted].astype(float)),
            )
        )
    return tuple(found)


def quantiles(values: np.ndarray) -> Quantiles:
    """Mean and quantiles of what is not NaN."""
    known = values[~np.isnan(values)]
    undefined = int(len(values) - len(known))
    if len(known) == 0:
        return Quantiles(count=0, mean=np.nan, p50=np.nan, p95=np.nan, p99=np.nan, maximum=np.nan, undefined=undefined)
    p50, p95, p99 = (float(q) for q in np.quantile(known, [0.5, 0.95, 0.99]))
    return Quantiles(
        count=len(known), mean=float(known.mean()), p50=p50, p95=p95, p99=p99, maximum=float(known.max()), undefined=undefined
    )


def weighted_quantiles(values: np.ndarray, weights: np.ndarray) -> Quantiles:
    """As `quantiles` for ``values`` that each occur ``weights`` times (the smallest value that covers the share)."""
    if weights.sum() == 0:
        return quantiles(np.empty(0))
    order = np.argsort(values, kind="stable")
    sorted_values, share = values[order], np.cumsum(weights[order]) / weights.sum()
    p50, p95, p99 = (float(sorted_values[np.searchsorted(share, q)]) for q in (0.5, 0.95, 0.99))
    return Quantiles(
        count=int(weights.sum()),
        mean=float(np.average(values, weights=weights)),
        p50=p50,
        p95=p95,
        p99=p99,
        maximum=float(values[weights > 0].max()),
        undefined=0,
    )


def _still(run: Run, *, times: bool) -> np.ndarray:
    """Waits so far of the requests that still waited when the run ended."""
    requests, last = run.requests, len(run.iterations)
    waiting = (requests.release_iteration > 0) & (requests.admission_iteration == 0) & (requests.release_iteration <= last)
    if times:
        return float(run.iterations.end[-1]) - requests.release[waiting]
    return (last - requests.release_iteration[waiting]).astype(float)


def _with_waiting(admitted: np.ndarray, waiting: np.ndarray) -> Quantiles:
    base = quantiles(admitted)
    if len(waiting) == 0:
        return base
    return replace(base, maximum=float(np.fmax(base.maximum, waiting.max())))


def _goodput(run: Run, chosen: np.ndarray, seconds: float, objectives: Mapping[str, float] | None) -> float | None:
    if not objectives:
        return None
    requests = run.requests
    metrics = {"ttft": requests.ttft, "tpot": requests.tpot, "e2e": requests.finish - requests.release}
    good = chosen & requests.finished
    for name, limit in objectives.items():
        if name not in metrics:
            raise UnknownNameError("objective", name, OBJECTIVES)
        good = good & ~(metrics[name] > limit)  # a metric that is undefined (TPOT of one token) is met
    return float(good.sum() / seconds)
