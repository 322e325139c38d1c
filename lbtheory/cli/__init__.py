"""The command line. Every command takes ``--json``; it returns 0, 1 on a failed check, 2 on bad input.

Heavy libraries are imported inside the commands, so that ``lbtheory --help`` answers at once.
"""

from typing import Annotated

import typer

import lbtheory
from lbtheory.cli.bounds import bounds
from lbtheory.cli.cells import cells
from lbtheory.cli.decode import decode
from lbtheory.cli.equilibrium import equilibrium
from lbtheory.cli.fluid import fluid
from lbtheory.cli.guarantee import guarantee
from lbtheory.cli.reproduce import reproduce
from lbtheory.cli.solve import solve
from lbtheory.cli.stability import stability
from lbtheory.cli.study import clean, resume, status
from lbtheory.cli.trace import describe_file
from lbtheory.cli.verify import verify
from lbtheory.core.errors import LBTheoryError

app = typer.Typer(
    name="lbtheory",
    help="Load balancing for large-language-model serving: computable, checkable and reproducible.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    add_completion=False,
)
trace_app = typer.Typer(help="Look at trace files.", no_args_is_help=True)
study_app = typer.Typer(help="Stored results of experiments: where they stand, going on, cleaning up.", no_args_is_help=True)
app.command()(solve)
app.command()(decode)
app.command()(bounds)
app.command()(equilibrium)
app.command()(fluid)
app.command()(stability)
app.command()(guarantee)
app.command()(cells)
app.command()(verify)
app.command()(reproduce)
app.add_typer(study_app, name="study")
study_app.command()(status)
study_app.command()(resume)
study_app.command()(clean)
app.add_typer(trace_app, name="trace")
trace_app.command("describe")(describe_file)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        typer.echo(lbtheory.__version__)
        raise typer.Exit


def main() -> None:
    """Entry point: an error is one clear message, and its exit code (2 for bad input)."""
    try:
        app()
    except LBTheoryError as error:
        typer.echo(f"lbtheory: {error}", err=True)
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        typer.echo("lbtheory: stopped", err=True)
        raise SystemExit(130) from None
