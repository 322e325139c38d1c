"""What the commands share: option types and JSON output."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Format = Annotated[str | None, typer.Option("--format", help="Trace format; found from the content by default.")]
Columns = Annotated[str | None, typer.Option(help="Read any CSV: arrival=A,prompt=B,output=C[,key=D].")]
TimeUnit = Annotated[str | None, typer.Option(help="Unit of the arrival column of --columns: s, ms, us, ns or datetime.")]
ZeroOutputs = Annotated[str, typer.Option(help="Requests with zero output tokens: refuse or drop (and count).")]


def print_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """A table of these columns; an en dash for nothing."""
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for column in columns:
        numbers = all(isinstance(row[column], int | float | None) for row in rows)
        table.add_column(column.replace("_", " "), justify="right" if numbers else "left", no_wrap=column == "id")
    for row in rows:
        table.add_row(*("–" if row[column] is None else str(row[column]) for column in columns))
    console = Console()
    console.width = console.width if console.is_terminal else max(console.width, 150)
    console.print(table)


def print_json(value: Any) -> None:
    typer.echo(json.dumps(_finite(value), ensure_ascii=False))


def _finite(value: Any) -> Any:
    """What is infinite or not a number becomes null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
