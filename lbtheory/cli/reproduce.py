"""``lbtheory reproduce``: rebuild tables, figures and the report."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from lbtheory.cli._common import Json, print_json, print_rows


def reproduce(
    ids: Annotated[list[str] | None, typer.Argument(help="Artefacts; all by default.")] = None,
    scale: Annotated[str, typer.Option(help="quick or full.")] = "quick",
    out: Annotated[Path, typer.Option(help="Folder of tables, figures and report.html.")] = Path("results"),
    engine: Annotated[str, typer.Option(help="local (a pool of processes), serial, or dask.")] = "local",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes of the pool; one a core by default.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds a cell may take before it is stopped and recorded.")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Dask scheduler that exists, tcp://HOST:PORT.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Compute stored results again.")] = False,
    list_them: Annotated[bool, typer.Option("--list", help="List artefacts, their state and expected seconds.")] = False,
    as_json: Json = False,
) -> None:
    """Rebuild tables and figures, published beside reproduced, and `report.html`.

    Results of cells are kept in the folder `.store` of the output folder: a run that was stopped goes on where it was.

    Examples: `lbtheory reproduce --list`, `lbtheory reproduce gap --scale full`
    """
    from lbtheory.study import listing, make_engine, rebuild

    if list_them:
        rows = listing(out)
        if as_json:
            print_json({"artefacts": rows})
        else:
            print_rows(rows, ("id", "state", "quick_seconds", "full_seconds", "reference", "title"))
        return
    pool = make_engine(engine, workers=workers, time_limit=time_limit, scheduler=scheduler)
    outcome = rebuild(ids or (), scale=scale, out=out, engine=pool, force=force, stream=sys.stderr)
    if as_json:
        print_json(outcome.summary())
    else:
        typer.echo(f"report: {outcome.report}")
    raise typer.Exit(outcome.exit_code)
