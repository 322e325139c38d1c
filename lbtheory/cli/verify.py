"""``lbtheory verify``: the ledger of claims."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from lbtheory.cli._common import Json, print_json

if TYPE_CHECKING:
    from lbtheory.verify import Claim, Entry

COLOURS = {"holds": "green", "violated": "bold red", "inconclusive": "yellow"}


def verify(
    claims: Annotated[list[str] | None, typer.Argument(help="Ids of claims; all by default.")] = None,
    scale: Annotated[str, typer.Option(help="quick or full (more iterations and replications).")] = "quick",
    seed: Annotated[int, typer.Option(min=0, help="Root of every random stream.")] = 20260,
    list_them: Annotated[
        bool, typer.Option("--list", help="List claims with statement and source, and check nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check the claims of the theory on real trajectories, and print the ledger.

    Exit code 1 when a claim is violated. A claim whose hypotheses fail, or that the replications cannot decide, is
    inconclusive, with its reason.

    Examples: `lbtheory verify`, `lbtheory verify one-step slot-law --scale full`, `lbtheory verify --list`
    """
    from lbtheory.verify import Laboratory, run_ledger
    from lbtheory.verify.ledger import select

    chosen = select(claims or [])
    if list_them:
        rows = [
            {"id": c.id, "kind": c.kind.value, "statement": c.statement, "source": c.source, "hypotheses": list(c.hypotheses)}
            for c in chosen
        ]
        if as_json:
            print_json({"claims": rows})
        else:
            for row in rows:
                typer.echo(f"{row['id']} ({row['kind']}; {row['source']})\n    {row['statement']}")
                typer.echo(f"    under: {'; '.join(row['hypotheses'])}")
        return
    entries = run_ledger(chosen, Laboratory(scale=scale, seed=seed), _say if sys.stderr.isatty() else None)
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[2K")
    if as_json:
        print_json({"claims": [entry.as_json() for entry in entries]})
    else:
        _print(entries)
    raise typer.Exit(1 if any(entry.verdict.outcome.value == "violated" for entry in entries) else 0)


def _say(done: int, total: int, claim: "Claim") -> None:
    sys.stderr.write(f"\r\x1b[2K[{done}/{total}] {claim.id}")
    sys.stderr.flush()


def _print(entries: "list[Entry]") -> None:
    """One row a claim, then the reasons of those that do not hold."""
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for name in ("claim", "kind", "verdict"):
        table.add_column(name, no_wrap=True)
    for name in ("left side", "right side", "margin"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("tried", ratio=1)
    for entry in entries:
        found = entry.verdict
        outcome = f"[{COLOURS[found.outcome.value]}]{found.outcome.value}[/]"
        numbers = ("–" if value is None else f"{value:.6g}" for value in (found.lhs, found.rhs, found.margin))
        table.add_row(entry.claim.id, entry.claim.kind.value, outcome, *numbers, found.tried)
    console = Console()
    console.width = console.width if console.is_terminal else max(console.width, 160)
    console.print(table)
    for entry in entries:
        if entry.verdict.reason:
            console.print(f"{entry.claim.id}: {entry.verdict.reason}", highlight=False)
    counts = {name: sum(entry.verdict.outcome.value == name for entry in entries) for name in COLOURS}
    seconds = sum(entry.seconds for entry in entries)
    console.print(", ".join(f"{count} {name}" for name, count in counts.items()) + f" ({seconds:.0f} s)")
