"""``lbtheory trace``: look at trace files."""

from pathlib import Path
from typing import Annotated

import typer

from lbtheory.cli._common import Columns, Format, Json, TimeUnit, ZeroOutputs, print_json


def describe_file(
    file: Annotated[Path, typer.Argument(help="Trace file, plain or gzip.")],
    trace_format: Format = None,
    columns: Columns = None,
    time_unit: TimeUnit = None,
    zero_outputs: ZeroOutputs = "refuse",
    as_json: Json = False,
) -> None:
    """Say what a trace file holds: format, counts, quantiles, rate, problems by line.

    Example: `lbtheory trace describe trace.csv.gz`
    """
    from lbtheory.decode.traces import describe

    description = describe(file, trace_format, columns, time_unit, zero_outputs).as_json()  # type: ignore[arg-type]
    if as_json:
        print_json(description)
        return
    from rich.console import Console

    from lbtheory.decode.show import description_table, number

    Console().print(description_table(description))
    if description["rate"] is not None:
        typer.echo(f"rate {number(description['rate'])} requests a second over {number(description['span'])} s")
    for problem in description["problems"]:
        typer.echo(f"line {problem['line']}: {problem['what']}" if problem["line"] else problem["what"])
    for what, note in description["notes"].items():
        typer.echo(f"note ({what}): {note}")
