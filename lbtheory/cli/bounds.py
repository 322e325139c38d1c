"""``lbtheory bounds``: constants, bounds and certificates of one system."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lbtheory.cli._common import Json, print_json

if TYPE_CHECKING:
    from lbtheory.theory.bounds import Bounds
    from lbtheory.theory.theorem1 import System


def bounds(
    workers: Annotated[int, typer.Option(help="Workers G.")],
    slots: Annotated[int, typer.Option(help="Slots a worker B.")],
    p: Annotated[str, typer.Option(help="Probability of completion in an iteration, 1/4 or 0.25.")],
    prompts: Annotated[str, typer.Option(help="Law of prompt sizes: uniform:LO:HI, pmf:FILE, lognormal:MEAN:SIGMA:MAX, …")],
    frontier: Annotated[bool, typer.Option("--frontier", help="Also the smallest B from which each bound bites.")] = False,
    blocks: Annotated[bool, typer.Option(help="Search for the best pairs of slots (slow for thousands of sizes).")] = True,
    potential: Annotated[
        bool, typer.Option("--potential", help="Also LEVEL's potential bound, certified (seconds to minutes).")
    ] = False,
    digits: Annotated[int | None, typer.Option(help="Print the constants of Theorem 1 to so many digits.")] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Decide every inequality of the proof in ball arithmetic.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Every constant and bound of the decode theorem, the exact benchmark, and what is certified at these sizes.

    Formula values are printed whatever the regime; the regime says which conditions hold.

    Examples: `lbtheory bounds --workers 8 --slots 64 --p 1/4 --prompts uniform:4`, `… --digits 40`, `… --frontier --json`
    """
    from dataclasses import asdict

    from lbtheory.theory import frontier as frontiers
    from lbtheory.theory.bounds import bounds as evaluate
    from lbtheory.verify.systems import parse_system

    of = parse_system(p, prompts, workers, slots)
    many = None if digits is None else _digits(of, digits)
    found = evaluate(of, blocks=blocks, potential=potential)
    reach = asdict(frontiers.frontier(of)) if frontier else None
    rows = _certified(of) if certify else None
    if as_json:
        more = {"frontier": reach, "digits": many, "certified": rows}
        print_json(found.as_json() | {key: value for key, value in more.items() if value is not None})
    else:
        _print(of, found, reach, many)
        _print_certified(rows or [])


def _certified(of: "System") -> list[dict[str, Any]]:
    """Every inequality of the proof, decided in balls."""
    from dataclasses import asdict

    from lbtheory.theory.certified import certify_constants

    return [asdict(row) | {"outcome": row.outcome.value} for row in certify_constants(of)]


def _digits(of: "System", count: int) -> dict[str, str | None]:
    """Constants of Theorem 1 as decimal strings."""
    from dataclasses import fields

    import mpmath

    from lbtheory.theory.arithmetic import digits as arithmetic
    from lbtheory.theory.theorem1 import constants

    made = constants(of, arithmetic(count + 5))
    values = {field.name: getattr(made, field.name) for field in fields(made)}
    return {name: None if value is None else mpmath.nstr(value, count) for name, value in values.items()}


ROWS = (
    ("sigma", "σ, standard deviation of a slot's workload"),
    ("rho", "ρ = 1 − max P(S = t)"),
    ("mu2", "μ₂ = E(s + 1 + A)²"),
    ("theta0", "θ₀"),
    ("V", "V"),
    ("tau", "τ"),
    ("kappa", "κ"),
    ("epsilon", "ε"),
    ("io_upper", "upper bound on Ī of IO_0"),
    ("spread_upper", "upper bound on Ī of SpreadLex"),
    ("jsq_lower", "lower bound on Ī of JSQ"),
    ("ratio_lower", "lower bound on their ratio"),
    ("lambda0", "λ₀"),
    ("B0", "B₀, explicit"),
    ("B0_computed", "B₀, computed"),
    ("supply_rate", "supply n p/ρ, requests an iteration"),
    ("jsq_exact", "exact Ī of size-blind FCFS"),
    ("idle_exact", "its idle share Ī/(G E M)"),
    ("normalised", "Ī/(G σ √(B log G))"),
)
CONDITIONS = {
    "epsilon_le_s": "ε ≤ s",
    "B_ge_B0": "B ≥ B₀ (explicit)",
    "B_ge_B0_computed": "B ≥ B₀ (computed)",
    "logG_ok": "log G ≤ 64 λ₀²σ²B",
}


def _print(of: "System", found: "Bounds", reach: dict[str, int] | None, many: dict[str, str | None] | None) -> None:
    """Constants, regime, certificates, and the frontier where it was asked for."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.width = console.width if console.is_terminal else max(console.width, 150)
    table = Table(title=f"p = {of.p}, prompts up to {of.s}, G = {of.workers}, B = {of.slots}", title_justify="left")
    table.add_column("quantity")
    table.add_column("value", justify="right", no_wrap=True)
    for name, text in ROWS:
        value = getattr(found, name)
        exact = None if many is None else many.get(name)
        table.add_row(text, "–" if value is None else exact or f"{value:,.10g}")
    console.print(table)
    console.print(
        "regime: " + ", ".join(f"{text} {'holds' if found.regime[name] else 'fails'}" for name, text in CONDITIONS.items())
    )
    table = Table("certificate", "for", title="proved upper bounds on Ī, the best first", title_justify="left")
    for name in ("bound", "FCFS / bound", "supply needed"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("kind", no_wrap=True)
    table.add_column("hypotheses", ratio=1)
    for one in found.certificates:
        supply = "–" if one.supply is None else f"{one.supply:,.4g}"
        ratio = "–" if one.ratio is None else f"{one.ratio:,.4g}"
        table.add_row(one.name, one.policy, f"{one.value:,.8g}", ratio, supply, one.kind, "; ".join(one.hypotheses))
    if found.certificates:
        console.print(table)
        best = found.certificates[0]
        console.print(
            f"in force: {best.name} ({best.policy}), Ī ≤ {best.value:,.6g}, FCFS exactly {found.jsq_exact:,.6g}: "
            f"ratio {best.ratio:.4g}"
            + (" (no certificate beats FCFS here)" if best.ratio is not None and best.ratio < 1 else "")
        )
    if reach is not None:
        console.print("smallest B from which, for good:")
        for name, text in FRONTIER.items():
            console.print(f"  {text}: {reach[name]:,}")
    for name, reason in found.notes.items():
        console.print(f"{name}: {reason}", highlight=False)


def _print_certified(rows: list[dict[str, Any]]) -> None:
    """One row an inequality: its sides as intervals that hold them."""
    from rich.console import Console
    from rich.table import Table

    if not rows:
        return
    table = Table("inequality", title="decided in ball arithmetic", title_justify="left")
    for name in ("left side", "right side"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("outcome", no_wrap=True)
    for row in rows:
        ends = [[f"{end:.8g}" for end in row[side]] for side in ("lhs", "rhs")]
        sides = (low if low == high else f"[{low}, {high}]" for low, high in ends)
        table.add_row(row["statement"], *sides, row["outcome"])
    console = Console()
    console.width = console.width if console.is_terminal else max(console.width, 150)
    console.print(table)


FRONTIER = {
    "epsilon_below_s": "ε ≤ s",
    "theorem1": "Theorem 1's upper bound is below exact FCFS",
    "sharper": "the same with sharper constants",
    "computed": "the same with the excess computed",
    "spread_lex": "SpreadLex's bound is below exact FCFS",
}
