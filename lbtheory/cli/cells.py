"""``lbtheory cells``: simulate routing policies between cells."""

import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import lbtheory
from lbtheory.cli._common import Json, print_json

if TYPE_CHECKING:
    from lbtheory.cells.scenario import Scenario
    from lbtheory.cells.setup_file import Setup

SCHEDULE = "schedule"
"""On the command line: the policy schedule of the file."""


def cells(
    scenario: Annotated[
        Path,
        typer.Argument(
            help="TOML: [scenario], and what it needs of [[cell]], [network], [[event]], [[capacity]], [[stage]], [demand], "
            "[lengths], [prefill_tokens], [decode_tokens], [sampler], [sessions], [parameters], [calibration]."
        ),
    ],
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="rand, mnlb, disc-rif|lat|grad, flow-rif|lat|grad, wlc, p2c, hot-cold, oracle; a schedule "
            "NAME,NAME@START+RAMP in seconds; or `schedule`, that of the file (the default where it has one). Repeat."
        ),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Trials; figures are means over them.")] = 1,
    seed: Annotated[int | None, typer.Option(min=0, help="In place of the scenario's seed.")] = None,
    models: Annotated[
        str, typer.Option(help="Latency models: estimate (in the loop) or calibrated (closed loop).")
    ] = "estimate",
    workers: Annotated[int, typer.Option(min=1, help="Processes; results do not depend on it.")] = 1,
    as_json: Json = False,
) -> None:
    """Simulate routing policies between cells of prefill and decode servers, all on the same requests.

    `normalised` is the mean latency over that of weighted random routing (`rand`), which always runs too.

    Examples:

    `lbtheory cells scenario.toml --policy mnlb --policy flow-grad --trials 5`

    `lbtheory cells scenario.toml --policy mnlb,flow-grad@180` (a switch at 180 s)

    `lbtheory cells scenario.toml --policy disc-rif,disc-grad@60+120` (a ramp from 60 s to 180 s)

    `lbtheory cells scenario.toml --policy flow-grad --models calibrated --workers 2 --json`

    The smallest file: `[scenario]` with `cells = 6`. With all defaults and sections: the module `lbtheory.cells.setup_file`.
    """
    from lbtheory.cells import make_schedule
    from lbtheory.cells.setup_file import read_setup
    from lbtheory.cells.summary import compare_policies, models_of

    for name in policy or ():
        if name != SCHEDULE:
            make_schedule(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        setup = read_setup(scenario, seed=seed)
    system = setup.scenario
    policies = _policies(policy, setup)
    notes = sorted({str(one.message) for one in caught if issubclass(one.category, UserWarning)})
    for note in notes:
        typer.echo(f"lbtheory: warning: {note}", err=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        known = models_of(system, models, setup.parameters, levels=setup.levels, completions=setup.completions)
        result = compare_policies(
            system,
            policies,
            trials=trials,
            models=known,
            parameters=setup.parameters,
            sessions=setup.sessions,
            workers=workers,
        )
    config = {**_config(setup), "trials": trials, "models": models, "notes": notes, "version": lbtheory.__version__}
    answer = {"config": config, **result.as_json()}
    if as_json:
        print_json(answer)
    else:
        _print(system, answer)


def _config(setup: "Setup") -> dict[str, Any]:
    """What was read."""
    system = setup.scenario
    return {
        "cells": [
            {"name": cell.name, "servers": cell.servers, "arrival_rate": cell.arrival_rate, "capacity": float(limit)}
            for cell, limit in zip(system.cells, system.capacities, strict=True)
        ],
        "utilisation": system.utilisation,
        "duration": system.duration,
        "warmup": system.warmup,
        "noise": system.noise,
        "events": len(system.events),
        "capacity_steps": len(system.capacity),
        "parameters": asdict(setup.parameters),
        "sessions": None if setup.sessions is None else asdict(setup.sessions),
        "seed": system.seed,
    }


def _policies(given: list[str] | None, setup: "Setup") -> list[str]:
    """What the options ask for; `SCHEDULE` is the schedule of the file."""
    from lbtheory.core import ParameterError

    names = given or ([SCHEDULE] if setup.schedule else [])
    if not names:
        raise ParameterError("no policy: give `--policy NAME`, or a schedule in [[stage]] tables of the file.")
    if SCHEDULE in names and setup.schedule is None:
        raise ParameterError(f"`--policy {SCHEDULE}` needs [[stage]] tables in the file; it has none.")
    return [setup.schedule.name if setup.schedule and name == SCHEDULE else name for name in names]


def _print(system: "Scenario", answer: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    config = answer["config"]
    typer.echo(
        f"{len(system.cells)} cells, {int(system.servers.sum())} servers, utilisation {system.utilisation:.1%}, "
        f"{config['trials']} trials of {system.duration:g} s, warm-up {system.warmup:g} s, models: {config['models']}"
    )
    table = Table("policy")
    heads = ("mean, s", "p90, s", "over rand", "errors", "goodput, 1/s", "remote", "network, ms", "arrived", "in flight")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for name, row in answer["policies"].items():
        table.add_row(
            name,
            f"{row['mean']:.4f}",
            f"{row['p90']:.4f}",
            f"{row['normalised']:.4f}",
            f"{row['error_rate']:.3%}",
            f"{row['goodput']:.1f}",
            f"{row['remote']:.1%}",
            f"{1000 * row['network']:.2f}",
            f"{row['arrived']:.0f}",
            f"{row['in_flight']:.0f}",
        )
    console = Console()
    console.width = console.width if console.is_terminal else max(console.width, 130)
    console.print(table)
