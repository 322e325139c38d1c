"""``lbtheory study``: where a results folder stands, going on, cleaning up."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from lbtheory.cli._common import Json, print_json, print_rows
from lbtheory.core.errors import InputError

Out = Annotated[Path, typer.Option(help="Folder of tables, figures and report.html.")]


def status(out: Out = Path("results"), as_json: Json = False) -> None:
    """Say how many cells of each experiment are stored, and how many failed."""
    from lbtheory.study import cells_stored

    rows = cells_stored(out)
    if as_json:
        print_json({"experiments": rows})
    else:
        print_rows(rows, ("id", "scale", "cells", "stored", "failed", "seconds"))


def resume(out: Out = Path("results"), as_json: Json = False) -> None:
    """Go on with the last run into the folder: what is stored is taken, failed and missing cells are run."""
    from lbtheory.study import begun, rebuild

    last = begun(out)
    if last is None:
        raise InputError(f"`--out {out}` holds no run to go on with. Begin one with `lbtheory reproduce --out {out}`.")
    outcome = rebuild(*last, out, stream=sys.stderr)
    if as_json:
        print_json(outcome.summary())
    else:
        typer.echo(f"report: {outcome.report}")
    raise typer.Exit(outcome.exit_code)


def clean(
    out: Out = Path("results"),
    everything: Annotated[bool, typer.Option("--all", help="Also results that today's sweeps ask for.")] = False,
    as_json: Json = False,
) -> None:
    """Remove stored results that no sweep asks for any more."""
    from lbtheory.study import clean as remove

    count = remove(out, everything=everything)
    if as_json:
        print_json({"removed": count})
    else:
        typer.echo(f"{count} files removed")
