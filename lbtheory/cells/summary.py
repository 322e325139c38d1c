"""Figures of a run, and several policies on the same trials."""

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from lbtheory.cells.calibration import COMPLETIONS, LEVELS, oracle_models
from lbtheory.cells.engine import ESTIMATE, simulate
from lbtheory.cells.parameters import Parameters
from lbtheory.cells.policies import make_schedule
from lbtheory.cells.records import CellRun
from lbtheory.cells.scenario import Scenario
from lbtheory.cells.sessions import Sessions, with_sessions
from lbtheory.cells.stream import CellStream, draw_stream
from lbtheory.core import ParameterError, UnknownNameError, whole_number
from lbtheory.fluid.rates import Softplus

REFERENCE = "rand"
MODELS = (ESTIMATE, "calibrated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Figures of the requests that arrived in ``[warmup, duration)``; latencies in seconds, of successes; NaN without any.

    Attributes
    ----------
    arrived, done, failed, in_flight : float
        ``arrived = done + failed + in_flight``; means over trials need not be whole.
    mean, p90, p99 : float
        End-to-end latency; quantiles by linear interpolation.
    first_token : float
        Mean time until prefill has ended and the news is at the client.
    network : float
        Mean of ``2τ_ij``.
    error_rate : float
        ``failed/arrived``.
    goodput : float
        Successes per second.
    remote : float
        Share of the arrivals that left their cell.
    diverted : float
        Share that error aversion sent elsewhere.
    spread : float
        Standard deviation over the cells of accepted requests per second over capacity.
    probes_per_second : float
        Of all roots.
    """

    arrived: float
    done: float
    failed: float
    in_flight: float
    mean: float
    p90: float
    p99: float
    first_token: float
    network: float
    error_rate: float
    goodput: float
    remote: float
    diverted: float
    spread: float
    probes_per_second: float


def summarise(run: CellRun, scenario: Scenario) -> Summary:
    """Figures of one run."""
    counted = run.counted
    done, arrived = counted & run.done, int(counted.sum())
    latency = (run.returned - run.arrival)[done]
    first = (run.prefilled + run.latency - run.arrival)[done]
    window = run.duration - run.warmup
    accepted = np.bincount(run.cell[counted & (run.server >= 0)], minlength=len(run.names)) / window
    failed = int((counted & run.failed).sum())
    p90, p99 = np.quantile(latency, [0.9, 0.99]) if len(latency) else (np.nan, np.nan)
    return Summary(
        arrived=arrived,
        done=len(latency),
        failed=failed,
        in_flight=arrived - len(latency) - failed,
        mean=_mean(latency),
        p90=float(p90),
        p99=float(p99),
        first_token=_mean(first),
        network=_mean(2 * run.latency[done]),
        error_rate=failed / arrived if arrived else np.nan,
        goodput=len(latency) / window,
        remote=_mean((run.cell != run.source)[counted]),
        diverted=_mean(run.diverted[counted]),
        spread=float(np.std(accepted / scenario.capacities)),
        probes_per_second=run.probes_per_second,
    )


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class CellComparison:
    """Policies on the same trials.

    Attributes
    ----------
    policies : tuple of str
    trials : tuple of dict
        For every trial the `Summary` by policy; the reference ``rand`` is always there.
    """

    policies: tuple[str, ...]
    trials: tuple[dict[str, Summary], ...]

    def averages(self, policy: str) -> dict[str, float]:
        """Figures averaged over trials, and ``normalised``: the mean over trials of the ratio of mean latency to ``rand``."""
        mine = [trial[policy] for trial in self.trials]
        found = {field.name: float(np.mean([getattr(one, field.name) for one in mine])) for field in fields(Summary)}
        found["normalised"] = float(np.mean([trial[policy].mean / trial[REFERENCE].mean for trial in self.trials]))
        return found

    def as_json(self) -> dict[str, Any]:
        """``{"policies": {NAME: {arrived, done, failed, in_flight, mean, p90, error_rate, goodput, normalised, …}}}``."""
        return {"policies": {name: self.averages(name) for name in self.policies}}

    def rows(self) -> list[dict[str, Any]]:
        """One flat record a trial and policy, ``rand`` first where it was not asked for."""
        names = self.policies if REFERENCE in self.policies else (REFERENCE, *self.policies)
        return [{"trial": t, "policy": name, **asdict(trial[name])} for t, trial in enumerate(self.trials) for name in names]


def models_of(
    scenario: Scenario,
    kind: str,
    parameters: Parameters | None = None,
    *,
    levels: tuple[float, ...] = LEVELS,
    completions: int = COMPLETIONS,
) -> Sequence[Softplus] | str:
    """``estimate`` as it is, ``calibrated`` as the models of the closed loop at these ``levels`` of ``N/R``."""
    if kind not in MODELS:
        raise UnknownNameError("kind of models", str(kind), MODELS)
    if kind == ESTIMATE:
        return ESTIMATE
    return oracle_models(scenario, levels=levels, completions=completions, parameters=parameters)


def compare_policies(
    scenario: Scenario,
    policies: Sequence[str],
    *,
    trials: int = 1,
    models: Sequence[Softplus] | str = ESTIMATE,
    parameters: Parameters | None = None,
    sessions: Sessions | None = None,
    workers: int = 1,
) -> CellComparison:
    """Run policies, and ``rand``, on the same trials.

    Parameters
    ----------
    scenario : Scenario
    policies : sequence of str
        Names, or schedules such as ``mnlb,flow-grad@180+60``.
    trials : int
        Trials 0 … ``trials`` − 1; a trial depends on the scenario's seed and its number only.
    models : sequence of Softplus, or "estimate"
    parameters : Parameters, optional
    sessions : Sessions, optional
        The requests come in sessions.
    workers : int
        Processes; the results do not depend on it.

    Raises
    ------
    ParameterError, UnknownNameError
    """
    whole_number("trials", "compare_policies", trials, 1)
    whole_number("workers", "compare_policies", workers, 1)
    if not policies:
        raise ParameterError("`policies` of `compare_policies` must name at least one policy; got none.")
    if len(set(policies)) != len(policies):
        raise ParameterError("`policies` of `compare_policies` names a policy twice. Give each once.")
    for name in policies:
        make_schedule(name)
    names = list(dict.fromkeys([REFERENCE, *policies]))
    jobs = [(scenario, names, trial, models, parameters, sessions) for trial in range(trials)]
    if workers == 1 or trials == 1:
        done = [_trial(*job) for job in jobs]
    else:
        with ProcessPoolExecutor(min(workers, trials), mp_context=multiprocessing.get_context("spawn")) as pool:
            done = list(pool.map(_trial, *zip(*jobs, strict=True)))
    return CellComparison(policies=tuple(policies), trials=tuple(done))


def _trial(
    scenario: Scenario,
    names: Sequence[str],
    trial: int,
    models: Sequence[Softplus] | str,
    parameters: Parameters | None,
    sessions: Sessions | None,
) -> dict[str, Summary]:
    stream: CellStream = draw_stream(scenario, trial)
    if sessions is not None:
        stream = with_sessions(stream, scenario, sessions, trial)
    return {
        name: summarise(simulate(scenario, name, stream=stream, trial=trial, models=models, parameters=parameters), scenario)
        for name in names
    }
