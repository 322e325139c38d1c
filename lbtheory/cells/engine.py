"""Simulation of one trial of a scenario under one policy, by the compiled engine."""

from collections.abc import Sequence

import numpy as np

from lbtheory.cells.background import with_background
from lbtheory.cells.disruptions import disruption_rows
from lbtheory.cells.kernels import layout
from lbtheory.cells.kernels.estimation import Estimates
from lbtheory.cells.kernels.table import Given, fill
from lbtheory.cells.parameters import AFFINITIES, Parameters
from lbtheory.cells.policies import Policy, PolicySchedule, make_schedule
from lbtheory.cells.policies.base import COSTS, MECHANISMS
from lbtheory.cells.records import CellRun
from lbtheory.cells.scenario import Scenario
from lbtheory.cells.stepsize import stepsizes
from lbtheory.cells.stream import CellStream, draw_stream
from lbtheory.core import LBTheoryError, ParameterError, generator
from lbtheory.estimate import perturb, project
from lbtheory.fluid.rates import Softplus

Array = np.ndarray
CHUNK = 5_000_000
ESTIMATE = "estimate"
"""In place of models: leaves estimate and publish them during the run."""


def simulate(
    scenario: Scenario,
    policy: PolicySchedule | Policy | str,
    *,
    stream: CellStream | None = None,
    trial: int = 0,
    models: Sequence[Softplus] | str | None = None,
    parameters: Parameters | None = None,
) -> CellRun:
    """Run a policy, or a schedule of policies, on a trial.

    Parameters
    ----------
    scenario : Scenario
    policy : str, Policy or PolicySchedule
        A name, or a schedule such as ``mnlb,flow-grad@180+60`` (see `lbtheory.cells.policies.schedule`).
    stream : CellStream, optional
        Requests; drawn from the scenario and ``trial`` by default.
    trial : int
    models : sequence of Softplus, or "estimate"
        Latency model of one replica of every cell, or let the leaves estimate them. Noise of the scenario is applied to both.
    parameters : Parameters, optional

    Returns
    -------
    CellRun

    Raises
    ------
    ParameterError
        A policy that needs models without them.
    """
    chosen = make_schedule(policy)
    p = parameters or Parameters()
    if p.slots != scenario.decode_slots:
        raise ParameterError(
            f"`parameters` give {p.slots} decode slots a server, the scenario's capacity {scenario.decode_slots}."
        )
    requests = stream if stream is not None else draw_stream(scenario, trial)
    if len(requests) and int(requests.sources.max()) >= len(scenario.cells):
        raise ParameterError("`stream` of `simulate` names a source that the scenario does not have.")
    if p.background_period is not None:
        requests = with_background(requests, scenario, p.background_period, trial)
    lim, net, st, est = layout_of(scenario, chosen, requests, models, p)
    run_kernels(lim, net, st, est)
    return CellRun.of(scenario, chosen.name, st, p)


def layout_of(
    scenario: Scenario, schedule: PolicySchedule, requests: CellStream, models: Sequence[Softplus] | str | None, p: Parameters
) -> tuple[layout.Limits, layout.Network, layout.State, Estimates]:
    """Everything that the kernels read and write, before the run."""
    given = _models(scenario, schedule, models, p)
    known = given or start_models(scenario, p)
    kind = layout.ESTIMATED if models == ESTIMATE else layout.FIXED if given else layout.NO_MODEL
    lim = _limits(scenario, schedule, p, kind, requests)
    net = _network(scenario, schedule, known, p)
    st = _state(scenario, schedule, requests, p, lim, net)
    return lim, net, st, _estimates(scenario, p, lim, st, known)


def run_kernels(lim: layout.Limits, net: layout.Network, st: layout.State, est: Estimates) -> None:
    """Run to the end; raises when a request was lost or counted twice at any event."""
    from lbtheory.cells.kernels.run import begin, run

    s, n = net.latency.shape
    plan = layout.Planner(
        supply=np.zeros(s),
        capacity=np.zeros(n),
        price=np.zeros((s, n)),
        flow=np.zeros((s, n)),
        room=np.zeros(n),
        excess=np.zeros(n),
        distance=np.zeros(s + n),
        parent=np.zeros(s + n, np.int64),
    )
    begin(st, lim, net)
    while run(st, lim, net, plan, est, CHUNK):
        pass
    if st.ints[layout.VIOLATIONS]:
        raise LBTheoryError(
            f"conservation of requests failed after {st.ints[layout.VIOLATIONS]} events: a defect of the engine."
        )


def start_models(scenario: Scenario, parameters: Parameters | None = None) -> list[Softplus]:
    """Models before anything is known: idle latency, slope at saturation ``1/rate``, ``a = (1 + δ) bk``, ``w = 2`` (ours).

    Both are of the mean cell: at the defaults ``a = 0.74`` s and ``b = 0.1`` s a request.
    """
    p = parameters or Parameters()
    a, b = float(scenario.idle_latencies.mean()), float((1 / scenario.server_rates).mean())
    return [project(Softplus(a=a, b=b, k=a / b, w=p.start_width), margin=p.margin)] * len(scenario.cells)


def noise_factors(scenario: Scenario) -> Array:
    """``1 + εξ_j``, ``ξ_j`` uniform on [−1, 1], one a cell."""
    return 1 + scenario.noise * generator(scenario.seed, "noise").uniform(-1, 1, len(scenario.cells))


def _needs_model(schedule: PolicySchedule, p: Parameters) -> bool:
    return schedule.needs_model or p.affinity == "conditional"


def _models(
    scenario: Scenario, schedule: PolicySchedule, models: Sequence[Softplus] | str | None, p: Parameters
) -> list[Softplus] | None:
    if models is None or models == ESTIMATE:
        if _needs_model(schedule, p) and models is None:
            raise ParameterError(
                f"policy {schedule.name!r} needs latency models; got none. Give `models`, calibrated ones or {ESTIMATE!r}."
            )
        return None
    if isinstance(models, str) or len(models) != len(scenario.cells) or not all(isinstance(m, Softplus) for m in models):
        raise ParameterError(
            f"`models` of `simulate` must be {ESTIMATE!r} or a Softplus for each of {len(scenario.cells)} cells."
        )
    return list(models)


def _limits(scenario: Scenario, schedule: PolicySchedule, p: Parameters, models: int, requests: CellStream) -> layout.Limits:
    longest = float(scenario.idle_latencies.max()) * 8
    rate = 4 * max(min(len(requests) / scenario.duration, 2 * float(scenario.capacities.sum())), 1.0)
    buckets = 1 << min(max(int(longest * rate).bit_length(), 8), 18)
    mechanisms = {policy.mechanism for policy in schedule.policies}
    costs = {policy.cost for policy in schedule.policies}
    return layout.Limits(
        cells=len(scenario.cells),
        sources=len(scenario.cells),
        roots=p.roots,
        leaves=p.leaves,
        shared_probes=p.shared_probes,
        queue=-1 if p.queue is None else p.queue,
        choices=p.choices,
        count_service=p.count_service,
        slots=p.slots,
        plans="mnlb" in mechanisms,
        flows="flow" in mechanisms,
        latencies="latency" in costs or p.affinity == "conditional",
        gradients="gradient" in costs,
        models=models if _needs_model(schedule, p) else layout.NO_MODEL,
        affinity=AFFINITIES.index(p.affinity),
        mean_saving=float(p.expected_saving * scenario.mean_tokens[0]),
        current=p.current_state,
        random_ties=p.random_ties,
        aversion=p.aversion and any(policy.averse for policy in schedule.policies),
        closed=False,
        mixing=float(p.mixing),
        quantile=float(p.hot_quantile),
        probe_period=float(p.probe_period),
        share_period=float(p.share_period),
        leaf_timeout=float(p.leaf_timeout),
        error_period=float(p.error_period),
        error_half_life=float(p.error_half_life),
        idle_half_life=float(p.idle_half_life),
        aversion_gain=float(p.aversion_gain),
        aversion_decay=float(p.aversion_decay),
        aversion_step=float(p.aversion_step),
        aversion_margin=float(p.aversion_margin),
        aversion_cap=float(p.aversion_cap),
        fit_period=float(p.fit_period),
        plan_period=float(p.plan_period),
        plan_capacity=float(max(0.9, 1.05 * scenario.utilisation) if p.plan_capacity is None else p.plan_capacity),
        overflow_price=float(p.overflow_price),
        flow_period=float(p.flow_period),
        scaling=p.autoscale,
        scale_period=float(p.scale_period),
        scale_target=float(p.scale_target),
        end=float(p.cap),
        per_second=float(rate),
        mask=buckets - 1,
    )


def _network(scenario: Scenario, schedule: PolicySchedule, models: Sequence[Softplus], p: Parameters) -> layout.Network:
    none = np.zeros(len(scenario.cells))
    steps = [
        stepsizes(scenario, models, policy.cost, p) if policy.mechanism == "flow" else none for policy in schedule.policies
    ]
    return layout.Network(
        latency=np.where(scenario.allowed, scenario.latency, 0.0),
        allowed=np.array(scenario.allowed, np.uint8),
        stepsize=np.array(steps),
    )


def _stages(schedule: PolicySchedule, p: Parameters) -> Array:
    rows = [
        (
            stage.start,
            stage.ramp,
            MECHANISMS.index(stage.policy.mechanism),
            COSTS.index(stage.policy.cost),
            p.aversion and stage.policy.averse,
        )
        for stage in schedule.stages
    ]
    return np.array(rows, layout.PHASE)


def _state(
    scenario: Scenario,
    schedule: PolicySchedule,
    requests: CellStream,
    p: Parameters,
    lim: layout.Limits,
    net: layout.Network,
) -> layout.State:
    n, roots = lim.cells, lim.sources * lim.roots
    cells = np.zeros(n, layout.CELL)
    cells["replicas"] = scenario.servers
    most = np.floor(scenario.servers * p.scale_cap).astype(np.int64) if p.autoscale else scenario.most_servers
    cells["most"] = most
    cells["first"] = np.concatenate([[0], np.cumsum(most)[:-1]])
    cells["prefill_time"] = [cell.prefill_token_time for cell in scenario.cells]
    cells["decode_time"] = [cell.decode_token_time for cell in scenario.cells]
    cells["rate"] = scenario.server_rates
    servers = np.zeros(int(most.sum()), layout.SERVER)
    servers["head"] = servers["tail"] = servers["engine"] = -1
    servers["free"] = lim.slots
    leaves = np.zeros((n, lim.leaves), layout.LEAF)
    leaves["alive"] = 1
    ints = np.zeros(layout.INTS, np.int64)
    ring = 1 << (int(np.ceil(net.latency.max() / lim.probe_period)) + lim.roots + 2).bit_length()
    sizes = np.zeros((2 + int(min(p.cap, scenario.duration) / p.scale_period) if p.autoscale else 1, n), np.int64)
    sizes[0] = scenario.servers
    return layout.State(
        ints=ints,
        floats=np.zeros(layout.FLOATS),
        request=request_table(requests, lim.sources, p.roots),
        server=servers,
        cell=cells,
        leaf=leaves,
        bucket=np.full(lim.mask + 1, -1, np.int32),
        snap=np.zeros((ring, n), layout.SNAP),
        disruption=disruption_rows(scenario, schedule, p),
        root_alive=np.ones(roots, np.int8),
        root_epoch=np.zeros(roots, np.int32),
        stage=_stages(schedule, p),
        x=np.zeros((len(schedule.stages), roots, n)),
        alpha=np.zeros((roots, n)),
        averse=np.zeros(roots, np.int8),
        open=np.zeros((roots, n), np.int64),
        weights=np.zeros((lim.sources, n)),
        counts=np.zeros(lim.sources, np.int64),
        holder=np.full((n, requests.session_count), -1, np.int32),
        kept=np.full((roots, requests.session_count), -1, np.int32),
        score=np.zeros(n),
        other=np.zeros(n),
        refused=np.zeros(n, np.uint8),
        starting=np.zeros((n, int(np.ceil(p.start_lag / p.scale_period)) if p.autoscale else 0), np.int64),
        sizes=sizes,
        pick=np.zeros(lim.choices, np.int64),
    )


def request_table(requests: CellStream, sources: int, roots: int) -> Array:
    """The stream in the kernel's layout; the requests of a source go to its roots in turn."""
    table = np.zeros(len(requests), layout.REQUEST)
    none: Array = np.empty(0)
    given = Given(
        arrivals=requests.arrivals,
        sources=requests.sources,
        prefill=requests.prefill,
        decode=requests.decode,
        keys=requests.keys,
        sessions=none if requests.sessions is None else requests.sessions,
        savings=none if requests.savings is None else requests.savings,
        targets=none if requests.targets is None else requests.targets,
    )
    fill(table, given, roots, np.zeros(sources, np.int64))
    return table


def _estimates(
    scenario: Scenario, p: Parameters, lim: layout.Limits, st: layout.State, models: Sequence[Softplus]
) -> Estimates:
    """Bins, and the models that are published before the first fit."""
    n, periods = lim.cells, max(1, round(p.fit_window / p.fit_period))
    factors = noise_factors(scenario)
    for j, model in enumerate(models):
        published = perturb(model, float(factors[j]), projected=p.project_noise, margin=p.margin) if scenario.noise else model
        for name in "abkw":
            st.cell[name][j] = getattr(published, name)
    live = lim.models == layout.ESTIMATED
    bins = p.bins if live else 1
    return Estimates(
        width=float(p.bin_width),
        smoothing=float(p.smoothing),
        pull=float(p.pull),
        margin=float(p.margin),
        projected=p.project_noise,
        censored=p.censored,
        mean=np.zeros((n, bins)),
        hits=np.zeros((n, periods, bins), np.int64),
        model=np.log([[m.a, m.b, m.k, m.w] for m in models]),
        factor=factors,
        prior=np.zeros(4),
        load=np.zeros(bins),
        log=np.zeros(bins),
        weight=np.zeros(bins),
        late=np.zeros((2, n, bins)),
        work=np.zeros((12, 4)),
        column=np.zeros(n),
        oldest=np.zeros(1, np.int64),
    )
