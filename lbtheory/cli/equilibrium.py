"""``lbtheory equilibrium``: the equilibrium of a cost, with its certificate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lbtheory.cli._common import Json, print_json

if TYPE_CHECKING:
    from lbtheory.fluid.network import Network


def equilibrium(
    network: Annotated[Path, typer.Argument(help="TOML: [[cell]] tables and [network] with one-way latencies.")],
    cost: Annotated[str, typer.Option(help="rif, latency (Wardrop) or gradient (system optimum).")] = "gradient",
    method: Annotated[str, typer.Option(help="cvxpy, or fast (a structured interior point).")] = "cvxpy",
    tolerance: Annotated[float | None, typer.Option(help="On the Wardrop gap and the relative gap.")] = None,
    as_json: Json = False,
) -> None:
    """Equilibrium of a network under a cost: workloads, routing, multipliers, price of anarchy, and what proves it.

    An infeasible network exits 2 and names the overloaded sources and their cells.

    Example: `lbtheory equilibrium network.toml --cost latency --method fast`
    """
    from lbtheory.core.errors import ParameterError
    from lbtheory.fluid import check_assumptions, read_network
    from lbtheory.fluid.equilibrium import check_uniqueness, price_of_anarchy
    from lbtheory.fluid.equilibrium import equilibrium as solve

    net = read_network(network)
    found = solve(net, cost, method=method, tolerance=tolerance)
    assumptions = check_assumptions(net, cost)
    notes: dict[str, str] = {}
    try:
        anarchy = price_of_anarchy(net, method="fast")
        least, best, worst = anarchy.equilibria["gradient"].in_flight, anarchy.best[cost], anarchy.worst[cost]
        price = found.in_flight / least if least > 0 else 1.0
        if worst > best * (1 + 1e-6):
            notes["price_of_anarchy"] = f"equilibria of this cost differ in it: from {best:.6g} to {worst:.6g}."
    except ParameterError as error:
        price, notes["price_of_anarchy"] = None, str(error)
    unique = check_uniqueness(net, found)
    answer: dict[str, Any] = found.as_json() | {
        "price_of_anarchy": price,
        "assumptions": assumptions.as_json(),
        "unique": {
            "workloads": unique.workloads,
            "routing": unique.routing,
            "neutral_dimension": unique.neutral_dimension,
        },
        "notes": notes,
    }
    if as_json:
        print_json(answer)
    else:
        _print(net, answer)


def _print(net: "Network", answer: dict[str, Any]) -> None:
    """Cells, then routing, then what proves it."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.width = console.width if console.is_terminal else max(console.width, 130)
    table = Table("cell", title=f"equilibrium of the {answer['cost']} cost", title_justify="left")
    for name in ("capacity, 1/s", "inflow, 1/s", "load", "in flight", "latency, s"):
        table.add_column(name, justify="right", no_wrap=True)
    for j, cell in enumerate(net.cells):
        limit, z, n = cell.rate.capacity_limit, answer["inflow"][j], answer["workloads"][j]
        table.add_row(
            cell.name, f"{limit:.6g}", f"{z:.6g}", f"{z / limit:.1%}", f"{n:.6g}", f"{float(cell.rate.latency(n)):.6g}"
        )
    console.print(table)
    table = Table("from", "multiplier", *(cell.name for cell in net.cells), title="routing, shares", title_justify="left")
    for name, rate, row, least in zip(net.source_names, net.arrivals, answer["routing"], answer["multipliers"], strict=True):
        if rate > 0:
            table.add_row(name, f"{least:.6g}", *(f"{share:.4f}" if share else "·" for share in row))
    console.print(table)
    price = answer["price_of_anarchy"]
    console.print(
        f"mean latency {answer['mean_latency']:.8g} s, in flight {answer['in_flight']:.8g}, price of anarchy "
        + (f"{price:.8g}" if price is not None else "–")
    )
    console.print(
        f"{answer['status']} by {answer['method']} in {answer['seconds']:.2g} s: Wardrop gap {answer['wardrop_gap']:.1e}, "
        f"relative gap {answer['relative_gap']:.1e}, flow residual {answer['flow_residual']:.1e}"
    )
    unique = answer["unique"]
    console.print(f"workloads unique: {_yes(unique['workloads'])}; routing unique: {_yes(unique['routing'])}")
    for cell in answer["assumptions"]["cells"]:
        for check in cell["checks"]:
            if not check["holds"]:
                console.print(f"assumption {check['assumption']} fails at {cell['cell']}: {check['why']}", highlight=False)
    for name, reason in answer["notes"].items():
        console.print(f"{name}: {reason}", highlight=False)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
