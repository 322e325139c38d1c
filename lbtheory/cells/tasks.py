"""Tasks of the cell experiments: what one cell of a sweep runs. Each returns a list of flat records."""

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lbtheory.cells.calibration import calibrate
from lbtheory.cells.demand import Demand
from lbtheory.cells.engine import ESTIMATE, simulate, start_models
from lbtheory.cells.parameters import Parameters
from lbtheory.cells.records import CellRun
from lbtheory.cells.sampler import sample_scenario
from lbtheory.cells.scenario import Event, Scenario
from lbtheory.cells.sessions import Sessions, with_sessions
from lbtheory.cells.stream import CellStream, draw_stream
from lbtheory.cells.summary import REFERENCE, compare_policies, models_of
from lbtheory.core.tasks import task_version
from lbtheory.estimate import fit_softplus
from lbtheory.fluid.rates import Softplus

Record = dict[str, Any]
DISRUPTIONS = {
    "none": (),
    "burst": (Event(kind="burst", start=0.3, end=0.7),),
    "outage": (Event(kind="outage", start=0.3, end=0.7),),
}
"""Events of a variation; times are shares of the duration (3 and 7 of 10 minutes in the paper)."""


@task_version(1)
def variations(
    *,
    seed: int,
    policies: list[str],
    vary: str,
    values: list[Any],
    trials: int,
    duration: float,
    warmup: float,
    models: str = "calibrated",
    base: dict[str, Any] | None = None,
    parameters: dict[str, Any] | None = None,
    label: str = "",
) -> list[Record]:
    """A scenario under the values of one variation; one record a value, trial and policy.

    Parameters
    ----------
    seed : int
        Of the scenario: geometry, servers, token times and shares of the demand are the same for all values.
    vary : str
        ``disruption`` (a key of `DISRUPTIONS`), a keyword of `sample_scenario` (``utilisation`` …) or a field of `Parameters`.
    values : list
    trials : int
    duration, warmup : float
        Seconds.
    models : str
        ``calibrated`` (closed loop) or ``estimate`` (in the loop).
    base, parameters : dict, optional
        Other keywords of `sample_scenario` (``demand`` as a dict) and fields of `Parameters`.
    label : str
        Handed on to the records.
    """
    records: list[Record] = []
    known: dict[tuple[Any, ...], Sequence[Softplus] | str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for value in values:
            scenario, p = _varied(seed, vary, value, {"duration": duration, "warmup": warmup, **(base or {})}, parameters or {})
            key = tuple((cell.servers, cell.prefill_token_time, cell.decode_token_time) for cell in scenario.cells)
            if key not in known:
                known[key] = models_of(scenario, models, p)
            found = compare_policies(scenario, policies, trials=trials, models=known[key], parameters=p)
            for row in found.rows():
                reference = found.trials[row["trial"]][REFERENCE]
                records.append(
                    {
                        "label": label,
                        "vary": vary,
                        "value": value,
                        "scenario": seed,
                        "cells": len(scenario.cells),
                        "projected": p.project_noise,
                        **row,
                        "mean_ratio": row["mean"] / reference.mean,
                        "p90_ratio": row["p90"] / reference.p90,
                    }
                )
    return records


def _varied(seed: int, vary: str, value: Any, base: dict[str, Any], parameters: dict[str, Any]) -> tuple[Scenario, Parameters]:
    base = {**base, "demand": Demand(**base.get("demand", {}))}
    if vary == "disruption":
        length = base["duration"]
        events = tuple(Event(kind=one.kind, start=one.start * length, end=one.end * length) for one in DISRUPTIONS[value])
        return sample_scenario(seed, **base).changed(events=events), Parameters(**parameters)
    if vary in Parameters.__dataclass_fields__:
        return sample_scenario(seed, **base), Parameters(**{**parameters, vary: value})
    return sample_scenario(seed, **{**base, vary: value}), Parameters(**parameters)


@task_version(1)
def timeline(
    *,
    seed: int,
    policy: str,
    cells: int,
    duration: float,
    step: float,
    utilisation: float,
    aversion: bool,
    events: list[dict[str, Any]],
    models: str = "calibrated",
) -> list[Record]:
    """One run in steps of ``step`` seconds: for every cell its RIF per replica, mean latency and error rate; one record each.

    Latency and errors are of the requests that arrived in the step and were sent to the cell.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        bare = sample_scenario(seed, cells=cells, duration=duration, warmup=0.0, utilisation=utilisation)
        scenario = bare.changed(events=tuple(Event(**one) for one in events))
        run = simulate(
            scenario,
            policy,
            stream=draw_stream(scenario, 0),
            models=models_of(bare, models),
            parameters=Parameters(aversion=aversion),
        )
    edges = np.arange(0.0, duration + step / 2, step)
    records = []
    at = np.digitize(run.arrival, edges) - 1
    inside = run.server >= 0
    for j, cell in enumerate(scenario.cells):
        mine = inside & (run.cell == j)
        came, left = np.sort(run.accepted[mine]), np.sort(run.finished[mine & np.isfinite(run.finished)])
        for k in range(len(edges) - 1):
            here = (at == k) & (run.cell == j)
            middle = edges[k] + step / 2
            held = np.searchsorted(came, middle, side="right") - np.searchsorted(left, middle, side="right")
            latency = (run.returned - run.arrival)[here & run.done]
            records.append(
                {
                    "policy": policy,
                    "aversion": aversion,
                    "cell": cell.name,
                    "time": float(middle),
                    "load": float(held / cell.servers),
                    "latency": float(latency.mean()) if len(latency) else None,
                    "errors": float(run.failed[here].mean()) if here.any() else None,
                    "sent": int(here.sum()) / step,
                }
            )
    return records


@task_version(1)
def estimation(
    *,
    seed: int,
    policies: list[str],
    cells: int,
    utilisation: float,
    duration: float,
    slow: list[float],
    factor: float,
    step: float,
    variants: dict[str, dict[str, Any]],
) -> list[Record]:
    """Models estimated in the loop while cell 0 is slow for a time: one record a policy, variant and time step.

    Parameters
    ----------
    seed : int
    policies : list of str
        Of those that use models.
    cells, utilisation, duration
        Of the scenario, whose cells are equal but for the slow time.
    slow : [start, end]
        Seconds in which the token times of cell 0 are multiplied by ``factor``.
    step : float
        Seconds.
    variants : dict
        Fields of `Parameters` by name of the variant; the variant ``calibrated`` does not estimate at all.

    Returns
    -------
    list of dict
        ``share`` of the arrivals sent to cell 0 over its share of the servers, ``latency`` of all (mean) and ``errors``.
    """
    event = Event(kind="slow", start=slow[0], end=slow[1], cell=0, factor=factor)
    bare = sample_scenario(seed, cells=cells, utilisation=utilisation, spread=0.0, duration=duration, warmup=0.0)
    scenario = bare.changed(events=(event,))
    stream, known = draw_stream(scenario, 0), models_of(bare, "calibrated")
    edges = np.arange(0.0, duration + step / 2, step)
    at = np.digitize(stream.arrivals, edges) - 1
    weight = scenario.servers[0] / scenario.servers.sum()
    records = []
    for policy in policies:
        for name, fields in variants.items():
            models = known if name == "calibrated" else ESTIMATE
            run = simulate(scenario, policy, stream=stream, models=models, parameters=Parameters(**fields))
            for k in range(len(edges) - 1):
                here = at == k
                done = here & run.done
                records.append(
                    {
                        "policy": policy,
                        "variant": name,
                        "scenario": seed,
                        "time": float(edges[k] + step / 2),
                        "share": float((run.cell[here] == 0).mean() / weight),
                        "latency": float((run.returned - run.arrival)[done].mean()),
                        "errors": float(run.failed[here].mean()),
                    }
                )
    return records


@task_version(1)
def latency_curves(*, seed: int, cells: int, utilisation: float, wave: float, duration: float) -> list[Record]:
    """Latency by load: what leaves log under varying demand, in smoothed bins, beside closed loops; with both fits.

    Demand swings by ``wave`` around ``utilisation`` once in ``duration``. Records of kind ``bin`` and ``closed loop`` hold a
    load (RIF per replica), a latency and a count; each also holds the parameters ``a, b, k, w`` of the fit of its kind and
    ``ratio``, ``a/(bk)`` of the fit without the constraint.
    """
    p = Parameters()
    demand = Demand(wave=wave, period=duration)
    scenario = sample_scenario(seed, cells=cells, utilisation=utilisation, duration=duration, warmup=0.0, demand=demand)
    run = simulate(scenario, "rand")
    start, records = start_models(scenario)[0], []
    for j, cell in enumerate(scenario.cells):
        closed = calibrate(scenario, j)
        loads, latencies, counts = _bins(run, j, p)
        online = fit_softplus(loads, latencies, np.sqrt(counts), prior=start, pull=p.pull)
        points = [("bin", *row, online) for row in zip(loads, latencies, counts, strict=True)]
        points += [("closed loop", n, y, 1, closed.fit) for n, y in zip(closed.loads, closed.latencies, strict=True)]
        for kind, load, latency, count, fit in points:
            m = fit.model
            records.append(
                {
                    "cell": cell.name,
                    "kind": kind,
                    "load": float(load),
                    "latency": float(latency),
                    "count": int(count),
                    **{name: float(getattr(m, name)) for name in ("a", "b", "k", "w")},
                    "ratio": fit.ratio,
                    "relative_error": fit.relative_error,
                }
            )
    return records


def _bins(run: CellRun, cell: int, p: Parameters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centres, exponentially smoothed latencies and counts of the bins of RIF per replica that have samples."""
    mine = np.nonzero(run.done & (run.cell == cell))[0]
    mine = mine[np.argsort(run.finished[mine], kind="stable")]
    at = np.minimum((run.load[mine] / p.bin_width).astype(int), p.bins - 1)
    latency = run.finished[mine] - run.accepted[mine]
    found = np.unique(at)
    means = []
    for b in found:
        mean, *rest = latency[at == b]
        for value in rest:
            mean += p.smoothing * (value - mean)
        means.append(mean)
    return (found + 0.5) * p.bin_width, np.array(means), np.bincount(at)[found]


@task_version(1)
def affinities(
    *,
    seed: int,
    policy: str,
    kinds: list[str],
    utilisations: list[float],
    hot: list[float],
    duration: float,
    warmup: float,
) -> list[Record]:
    """Rules of affinity on the same sessions; one record a rule, utilisation and share of hot sessions.

    Returns
    -------
    list of dict
        ``hit``: share of the requests in sessions that met their prefix; ``saved``: share of all prefill tokens; ``hottest``:
        the largest number of requests that a server took over the mean of its cell; latency (mean, p90, seconds) and errors.
    """
    records = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for load in utilisations:
            scenario = sample_scenario(seed, utilisation=load, duration=duration, warmup=warmup)
            plain, models = draw_stream(scenario, 0), models_of(scenario, "calibrated")
            for share in hot:
                stream = with_sessions(plain, scenario, Sessions(hot=share))
                for kind in kinds:
                    run = simulate(scenario, policy, stream=stream, models=models, parameters=Parameters(affinity=kind))
                    records.append(
                        {"utilisation": load, "hot": share, "affinity": kind, "scenario": seed, **_reuse(run, stream, scenario)}
                    )
    return records


def _reuse(run: CellRun, stream: CellStream, scenario: Scenario) -> Record:
    counted = run.counted
    done, taken = counted & run.done, counted & (run.server >= 0)
    latency = (run.returned - run.arrival)[done]
    member = taken & (run.session >= 0)
    load = np.bincount(run.server[taken], minlength=int(scenario.servers.sum()))
    start = np.concatenate([[0], np.cumsum(scenario.servers)])
    hottest = max(load[a:b].max() / load[a:b].mean() for a, b in pairwise(start) if load[a:b].any())
    return {
        "hit": float(run.hit[member].mean()),
        "saved": float(1 - run.prefill[taken].sum() / stream.prefill[taken].sum()),
        "hottest": float(hottest),
        "mean": float(latency.mean()),
        "p90": float(np.quantile(latency, 0.9)),
        "errors": float(run.failed[counted].mean()),
    }
