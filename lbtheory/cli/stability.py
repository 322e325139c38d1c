"""``lbtheory stability``: roots and critical stepsize of flow routing at an equilibrium, the theorems' stepsizes beside it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lbtheory.cli._common import Json, print_json

if TYPE_CHECKING:
    from lbtheory.fluid.equilibrium import Equilibrium
    from lbtheory.fluid.network import Network
    from lbtheory.fluid.network_file import Initial


def stability(
    network: Annotated[Path, typer.Argument(help="TOML: [[cell]] tables and [network] with one-way latencies.")],
    cost: Annotated[str, typer.Option(help="rif, latency or gradient.")] = "gradient",
    eta: Annotated[float | None, typer.Option(help="Stepsize of the roots; half of the critical one by default.")] = None,
    as_json: Json = False,
) -> None:
    """Local stability of flow routing: rightmost characteristic root, critical and sufficient stepsize.

    Beside them the stepsizes under which convergence is proved from any start (`eta0`, `eta2`, `eta_s3`).

    Example: `lbtheory stability network.toml --cost latency --eta 0.05`
    """
    from math import isfinite

    from lbtheory.core.errors import ParameterError
    from lbtheory.fluid import read_initial, read_network
    from lbtheory.fluid.equilibrium import equilibrium

    if eta is not None and not (isfinite(eta) and eta > 0):
        raise ParameterError(f"`--eta` of `lbtheory stability` must be positive and finite; got {eta!r}.")
    net = read_network(network)
    found = equilibrium(net, cost, method="fast", tolerance=1e-12)
    answer: dict[str, Any] = {"cost": cost, "eta": eta, "notes": {}}
    _local(net, found, eta, answer)
    _proved(net, found, read_initial(network), answer)
    if as_json:
        print_json(answer)
    else:
        _print(answer)


def _local(net: "Network", found: "Equilibrium", eta: float | None, answer: dict[str, Any]) -> None:
    """Critical stepsize and roots, or why there are none."""
    from math import isfinite

    from lbtheory.core.errors import ParameterError
    from lbtheory.fluid.stability import characteristic_roots, critical_stepsize, linearise

    names = ("eta_critical", "frequency", "rightmost", "neutral", "eta_sufficient", "unstable", "roots")
    answer.update(dict.fromkeys(names))
    notes = answer["notes"]
    try:
        at = linearise(net, found)
    except ParameterError as error:
        notes.update(dict.fromkeys(names, str(error)))
        return
    critical = critical_stepsize(at)
    answer["neutral"] = at.neutral
    for name, value in (
        ("eta_critical", critical.eta),
        ("frequency", critical.frequency),
        ("eta_sufficient", critical.sufficient),
    ):
        answer[name] = value if isfinite(value) else None
        if not isfinite(value):
            notes[name] = critical.why
    used = eta
    if used is None:
        used = critical.eta / 2 if isfinite(critical.eta) else 1.0
        if not isfinite(critical.eta):
            notes["eta"] = "There is no critical stepsize; the roots are at stepsize 1."
    answer["eta"] = used
    roots = characteristic_roots(at, used)
    answer["rightmost"] = [roots.rightmost.real, roots.rightmost.imag]
    answer["unstable"] = roots.unstable
    answer["roots"] = [[float(s.real), float(s.imag)] for s in roots.values]


def _proved(net: "Network", found: "Equilibrium", start: "Initial", answer: dict[str, Any]) -> None:
    """Stepsizes of Theorems 1, 2 and 3, from the start of the file."""
    from lbtheory.core.errors import ParameterError
    from lbtheory.fluid.guarantee import guarantee

    names = ("eta0", "eta2", "eta_s3")
    try:
        past = start.workload_history
        known = guarantee(net, found.cost, found=found, workloads=start.workloads, routing=start.routing, past=past).as_json()
    except ParameterError as error:
        answer.update(dict.fromkeys(names))
        answer["notes"].update(dict.fromkeys(names, str(error)))
        return
    for name in names:
        answer[name] = known[name]
        if name in known["notes"]:
            answer["notes"][name] = known["notes"][name]


LABELS = {
    "eta_critical": "critical stepsize",
    "eta_sufficient": "sufficient locally (S)",
    "eta_s3": "proved, all arcs tied (Theorem 3)",
    "eta0": "proved, up to O(eta) (Theorem 1)",
    "eta2": "proved, converges (Theorem 2)",
}


def _print(answer: dict[str, Any]) -> None:
    """Stepsizes, then roots, then reasons."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.width = console.width if console.is_terminal else max(console.width, 130)
    table = Table("stepsize", title=f"flow routing under the {answer['cost']} cost", title_justify="left")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("of critical", justify="right", no_wrap=True)
    top = answer["eta_critical"]
    for name, text in LABELS.items():
        value = answer[name]
        share = f"{value / top:.4g}" if value is not None and top else "–"
        table.add_row(text, "–" if value is None else f"{value:.8g}", share)
    console.print(table)
    if answer["rightmost"] is not None:
        real, imaginary = answer["rightmost"]
        sign = "stable" if answer["unstable"] == 0 else f"unstable, {answer['unstable']} roots"
        console.print(
            f"at stepsize {answer['eta']:.6g}: rightmost root {real:.8g} ± {imaginary:.8g}i ({sign}); neutral directions "
            f"{answer['neutral']}"
        )
    if answer["frequency"] is not None:
        console.print(f"critical frequency {answer['frequency']:.8g} rad/s")
    for reason, names in _grouped(answer["notes"]).items():
        console.print(f"{', '.join(names)}: {reason}", highlight=False)


def _grouped(notes: dict[str, str]) -> dict[str, list[str]]:
    """Names by their common reason."""
    grouped: dict[str, list[str]] = {}
    for name, reason in notes.items():
        grouped.setdefault(reason, []).append(name)
    return grouped
