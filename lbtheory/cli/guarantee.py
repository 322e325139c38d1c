"""``lbtheory guarantee``: the explicit constants of the theorems on flow routing, and a trajectory beside its bound."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lbtheory.cli._common import Json, print_json

if TYPE_CHECKING:
    from lbtheory.fluid.dynamics import Trajectory
    from lbtheory.fluid.guarantee import Guarantee


def guarantee(
    network: Annotated[Path, typer.Argument(help="TOML: [[cell]] tables, [network], and optionally [initial].")],
    cost: Annotated[str, typer.Option(help="rif, latency or gradient.")] = "gradient",
    eta: Annotated[float, typer.Option(help="Stepsize of every source.")] = 0.01,
    t_end: Annotated[float, typer.Option(help="Horizon, seconds.")] = 100.0,
    as_json: Json = False,
) -> None:
    """What is proved of flow routing from this start, which assumption fails, and the measured left side beside the bound.

    `left` and `right` are the two sides of Theorem 1; `bounded` holds the constants of its form for bounded workloads, valid at
    every stepsize. The right side is null where the stepsize exceeds `eta0` or an assumption fails, with the reason.

    Example: `lbtheory guarantee network.toml --cost latency --eta 0.02 --t-end 200`
    """
    from math import isfinite

    from lbtheory.core.errors import ParameterError
    from lbtheory.fluid import read_initial, read_network
    from lbtheory.fluid.dynamics import simulate
    from lbtheory.fluid.guarantee import guarantee as constants

    for name, value in (("--eta", eta), ("--t-end", t_end)):
        if not (isfinite(value) and value > 0):
            raise ParameterError(f"`{name}` of `lbtheory guarantee` must be positive and finite; got {value!r}.")
    net = read_network(network)
    start = read_initial(network)
    known = constants(net, cost, workloads=start.workloads, routing=start.routing, past=start.workload_history)
    delays = net.latency[net.allowed]
    step = min(float(delays[delays > 0].min(initial=t_end)), t_end / 2000)
    run = simulate(
        net, cost, t_end=t_end, eta=eta, step=step, workloads=start.workloads, shares=start.routing,
        workload_history=start.workload_history, routing_history=start.routing_history,
    )  # fmt: skip
    answer = {"cost": cost, "eta": eta, "t_end": t_end, **known.as_json()}
    _sides(known, run, eta, answer)
    if as_json:
        print_json(answer)
    else:
        _print(answer)


def _sides(known: "Guarantee", run: "Trajectory", eta: float, answer: dict[str, Any]) -> None:
    """Both sides of every theorem on one trajectory."""
    from math import isfinite

    from lbtheory.fluid.guarantee import measure, regret_margin, schedule

    of, horizon = known.gaps, float(run.times[-1])
    found = measure(of, run)
    notes = answer["notes"]
    right = known.first.bound(horizon, eta, eta)
    plan = schedule(known.first, horizon)
    within = None if known.bounded is None else known.bounded.bound(horizon, eta, eta)
    second, third = known.second.bound(eta) / horizon, known.third.bound(eta) / horizon
    best = min((one for one in (right, within, second) if one is not None and isfinite(one)), default=float("nan"))
    values = {
        "left": found.left,
        "right": right,
        "left_bounded": found.left_bounded,
        "right_bounded": within,
        "right_theorem_2": second,
        "left_theorem_3": found.workload_gap / horizon,
        "right_theorem_3": third,
        "regret": found.regret,
        "regret_bound": best + regret_margin(of, horizon, known.start.workloads),
        "regret_floor": found.regret_lower,
        "schedule_eta": plan.eta,
        "schedule_bound": plan.bound,
        "schedule_needs": plan.needed,
        "best_eta": plan.best_eta,
    }
    answer.update({name: value if value is not None and isfinite(value) else None for name, value in values.items()})
    reasons = {
        "right": ("eta0", f"the stepsize exceeds eta0 = {known.first.eta0:.6g}"),
        "right_bounded": ("bounded", ""),
        "right_theorem_2": ("eta2", f"the stepsize exceeds eta2 = {known.second.eta2:.6g}"),
        "right_theorem_3": ("eta_s3", f"the stepsize exceeds eta_s3 = {known.third.eta_s3:.6g}"),
        "schedule_bound": ("eta0", f"T^(-1/2) exceeds eta0; it needs a horizon of {plan.needed:.6g} s"),
        "schedule_needs": ("eta0", ""),
        "best_eta": ("eta0", ""),
        "regret_bound": ("eta0", "no bound of the gaps is in force at this stepsize"),
    }
    for name, (source, text) in reasons.items():
        if answer[name] is None:
            notes[name] = notes.get(source) or text


def _print(answer: dict[str, Any]) -> None:
    """Constants, both sides, and what fails."""
    from rich.console import Console
    from rich.table import Table

    def shown(value: float | None) -> str:
        return "–" if value is None else f"{value:.8g}"

    console = Console()
    console.width = console.width if console.is_terminal else max(console.width, 130)
    table = Table("constant", title=f"flow routing under the {answer['cost']} cost", title_justify="left")
    for name in ("Theorem 1", "bounded workloads (1b)"):
        table.add_column(name, justify="right", no_wrap=True)
    within = answer["bounded"] or dict.fromkeys(("G1", "K1", "K"))
    table.add_row("largest stepsize", shown(answer["eta0"]), "any" if answer["bounded"] else "–")
    for name in ("G1", "K1", "K"):
        table.add_row(name, shown(answer[name]), shown(within[name]))
    console.print(table)
    console.print(f"converges up to eta2 = {shown(answer['eta2'])}, if all arcs tie up to eta_s3 = {shown(answer['eta_s3'])}")
    table = Table("at this stepsize and horizon")
    for name in ("measured", "bound"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_row("Theorem 1", shown(answer["left"]), shown(answer["right"]))
    table.add_row("Theorem 1b", shown(answer["left_bounded"]), shown(answer["right_bounded"]))
    table.add_row("Theorem 2", shown(answer["left"]), shown(answer["right_theorem_2"]))
    table.add_row("Theorem 3", shown(answer["left_theorem_3"]), shown(answer["right_theorem_3"]))
    table.add_row("regret", shown(answer["regret"]), shown(answer["regret_bound"]))
    console.print(table)
    for one in answer["failed_assumptions"]:
        place = "" if one["cell"] is None else f" at {one['cell']}"
        console.print(f"assumption {one['assumption']} fails{place}: {one['why']}", highlight=False)
    grouped: dict[str, list[str]] = {}
    for name, reason in answer["notes"].items():
        grouped.setdefault(reason, []).append(name)
    for reason, names in grouped.items():
        console.print(f"{', '.join(names)}: {reason}", highlight=False)
