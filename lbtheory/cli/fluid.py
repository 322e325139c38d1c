"""``lbtheory fluid``: integrate the delay equations of a network."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lbtheory.cli._common import Json, print_json

if TYPE_CHECKING:
    from lbtheory.fluid.dynamics import Trajectory
    from lbtheory.fluid.network import Network

WEIGHTS = ("mnlb", "random")
"""Fixed routings that the command makes by itself; ``fixed`` takes ``routing`` of ``[initial]``."""
MOST_NODES = 2000
"""Nodes in the output unless ``--every`` says otherwise; diagnostics use all of them."""


def fluid(
    network: Annotated[Path, typer.Argument(help="TOML: [[cell]], [network], and [initial] workloads, routing, histories.")],
    t_end: Annotated[float, typer.Option(help="Seconds.")],
    cost: Annotated[str, typer.Option(help="What sources observe: rif, latency or gradient.")] = "gradient",
    routing: Annotated[
        str, typer.Option(help="flow, flow-projected, flow-periodic, discrete; fixed, mnlb or random (constant weights).")
    ] = "flow",
    eta: Annotated[float | None, typer.Option(help="Stepsize η of the flow routings, > 0.")] = None,
    period: Annotated[float | None, typer.Option(help="Seconds between updates (flow-periodic, discrete).")] = None,
    step: Annotated[float | None, typer.Option(help="Greatest step, seconds; by default found by --tolerance.")] = None,
    tolerance: Annotated[float | None, typer.Option(help="Error of workloads and shares (1e-6).")] = None,
    ties: Annotated[str, typer.Option(help="Discrete routing: lowest or uniform.")] = "lowest",
    mesh: Annotated[str, typer.Option(help="auto, even or breakpoints.")] = "auto",
    every: Annotated[int | None, typer.Option(help="Print and save every so manieth node (by default at most 2,000).")] = None,
    settled_below: Annotated[float | None, typer.Option(help="Stop once nothing varies by more for twice the delay.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the JSON answer to a file too.")] = None,
    as_json: Json = False,
) -> None:
    """Workloads and routing over time under network delay, with distance to equilibrium, gap, regret and oscillation.

    The gap is the running average of `Σ D_j`, the regret that of the potential above its optimum (for the gradient cost: mean
    latency above the optimum, times the arrival rate). A network without capacity for its arrivals is integrated all the same,
    without those numbers. Bad input exits 2.

    Examples: `lbtheory fluid network.toml --cost latency --eta 0.05 --t-end 200`,
    `lbtheory fluid network.toml --routing discrete --t-end 60 --step 0.01 --json`,
    `… --routing mnlb --t-end 60 --save run.json`
    """
    from lbtheory.core.errors import ParameterError
    from lbtheory.core.files import write_whole
    from lbtheory.fluid import read_initial, read_network
    from lbtheory.fluid.dynamics import simulate

    if every is not None and every < 1:
        raise ParameterError(f"`--every` must be a whole number ≥ 1; got {every}.")
    net, start = read_network(network), read_initial(network)
    kind, shares = routing, start.routing
    if routing in WEIGHTS:
        kind, shares = "fixed", _weights(net, routing)
    run = simulate(
        net, cost, t_end=t_end, eta=eta, routing=kind, step=step, tolerance=tolerance, period=period, ties=ties,
        workloads=start.workloads, shares=shares, workload_history=start.workload_history,
        routing_history=start.routing_history, mesh=mesh, settled_below=settled_below,
        estimate_error=False,
    )  # fmt: skip
    answer = _answer(run, every)
    if save is not None:
        import json

        from lbtheory.cli._common import _finite

        try:
            write_whole(save, json.dumps(_finite(answer), ensure_ascii=False))
        except OSError as error:
            raise ParameterError(f"`--save` must name a file that can be written; {save}: {error.strerror or error}.") from None
    if as_json:
        print_json(answer)
    else:
        _print(run, answer)


def _weights(net: "Network", name: str) -> Any:
    """MNLB's weights, or shares in proportion to capacity (as random routing by replicas does)."""
    import numpy as np

    if name == "mnlb":
        from lbtheory.fluid.mnlb import mnlb_weights

        latency = np.where(net.allowed, net.latency, np.inf)
        return mnlb_weights(net.arrivals, net.capacities, latency, net.allowed).weights
    weights = net.allowed * net.capacities
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)


def _answer(run: "Trajectory", every: int | None) -> dict[str, Any]:
    """The trajectory at some nodes with its diagnostics there; what does not apply is null, with the reason in notes."""
    import numpy as np

    from lbtheory.core.errors import InputError
    from lbtheory.fluid.dynamics import diagnose

    notes: dict[str, str] = {}
    names = ("distance", "gap", "routing_gap", "regret", "regret_lower", "regret_upper")
    made: dict[str, Any] = dict.fromkeys((*names, "settling_time", "amplitude", "period"))
    try:
        made = diagnose(run).as_json()
    except InputError as error:
        notes["distance"] = str(error)
    if made["settling_time"] == np.inf:
        notes["settling_time"] = "Some workload was not within 1 % of its equilibrium at the end."
    if made["period"] is not None and made["period"] != made["period"]:
        notes["period"] = "Fewer than two crossings of the middle of the range in the second half of the time."
    if run.error_estimate != run.error_estimate:
        notes["error_estimate"] = "Not made with a fixed step; leave --step out."
    if made["regret"] is not None:
        notes["regret"] = "Bounds of the regret are infinite at time 0."
    every = every or -(-len(run.times) // MOST_NODES)
    places = np.unique(np.r_[np.arange(0, len(run.times), every), len(run.times) - 1])
    plain = run.as_json()
    plain |= {"times": run.times[places].tolist(), "workloads": run.workloads[places].tolist()}
    plain["routing"] = run.as_matrix(run.shares[places]).tolist()
    for name in names:
        if made[name] is not None:
            made[name] = np.asarray(made[name])[places].tolist()
    return plain | made | {"every": every * run.every, "events": run.events, "seconds": run.seconds, "notes": notes}


def _print(run: "Trajectory", answer: dict[str, Any]) -> None:
    """Workloads at a dozen times, then the numbers."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.width = console.width if console.is_terminal else max(console.width, 130)
    title = f"workloads, requests in flight; {run.routing_kind} routing on the {run.cost} cost"
    table = Table("time, s", title=title, title_justify="left")
    for name in (*run.network.cell_names, "distance", "mean gap", "regret"):
        table.add_column(name, justify="right", no_wrap=True)
    count = len(answer["times"])
    for k in sorted({round(r * (count - 1) / 11) for r in range(12)}):
        more = [answer[name] for name in ("distance", "gap", "regret")]
        table.add_row(
            f"{answer['times'][k]:.6g}",
            *(f"{n:.6g}" for n in answer["workloads"][k]),
            *("–" if values is None else f"{values[k]:.4g}" for values in more),
        )
    console.print(table)
    estimate = run.error_estimate
    console.print(
        f"{run.steps:,} steps of at most {run.step:.4g} s ({run.mesh} mesh) in {run.seconds:.2g} s; "
        + (f"error estimate {estimate:.1e}" if estimate == estimate else "no error estimate (fixed step)")
        + (f"; stopped early at {run.end:.6g} s: settled" if run.converged else "")
    )
    if answer["settling_time"] is not None:
        settled = f"{answer['settling_time']:.6g} s" if answer["settling_time"] < float("inf") else "not settled"
        period = answer["period"]
        console.print(
            f"settling time {settled}; amplitude {answer['amplitude']:.4g}"
            + (f", period {period:.4g} s" if period == period else ", no period")
        )
    for low, high in run.infeasible:
        console.print(f"not feasible from {low:.6g} to {high:.6g} s: arrivals exceed what the cells can serve")
    for name, reason in answer["notes"].items():
        console.print(f"{name}: {reason}", highlight=False)
