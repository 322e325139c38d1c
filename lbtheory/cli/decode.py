"""``lbtheory decode``: simulate policies on one stream of requests and compare them."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import lbtheory
from lbtheory.cli._common import Columns, Format, Json, TimeUnit, ZeroOutputs, print_json
from lbtheory.core.errors import ParameterError

if TYPE_CHECKING:
    from lbtheory.decode import Comparison


def decode(
    workers: Annotated[int, typer.Option(min=1, help="Workers G.")],
    slots: Annotated[int, typer.Option(min=1, help="Slots B a worker.")],
    policy: Annotated[list[str], typer.Option(help="NAME[:key=value,…]; repeat to compare, the first is the reference.")],
    trace: Annotated[str | None, typer.Option(help="Trace file, or azure2024-like or proprietary-like.")] = None,
    p: Annotated[
        str | None, typer.Option(help="Completion probability a step, 1/4 or 0.25, or classes P:SHARE,… (with --prompts).")
    ] = None,
    prompts: Annotated[
        str | None, typer.Option(help="Prompt law: uniform:LO:HI, constant:N, lognormal:MEAN:SIGMA:MAX, …")
    ] = None,
    requests: Annotated[int | None, typer.Option(min=1, help="Requests of laws or a synthetic trace.")] = None,
    release: Annotated[
        str | None, typer.Option(help="trace (default where there are times), saturated, batched:SIZE:EVERY, …")
    ] = None,
    queue: Annotated[int, typer.Option(min=0, help="Requests left waiting after admission when saturated.")] = 64,
    overtake: Annotated[
        str, typer.Option(help="Overtaking cap D of policies that choose by size: a number, none, or auto.")
    ] = "auto",
    t_fixed: Annotated[float, typer.Option(help="Seconds an iteration.")] = 0.0523,
    t_token: Annotated[float, typer.Option(help="Seconds a token of the largest load.")] = 3.9e-7,
    t_mean: Annotated[float, typer.Option(help="Seconds a token of the mean load.")] = 0.0,
    steps: Annotated[int | None, typer.Option(min=1, help="Iterations; 20000 when saturated, else all.")] = None,
    warmup: Annotated[
        int | None, typer.Option(min=0, help="Iterations left out of the means; 2000 when saturated, at most half; else 0.")
    ] = None,
    start: Annotated[str, typer.Option(help="empty, or residual: begin near stationarity.")] = "empty",
    prefill: Annotated[str | None, typer.Option(help="Prefill pool before release: WORKERS:BATCH:FIXED:PER_TOKEN.")] = None,
    level: Annotated[float, typer.Option(help="Level of the confidence intervals.")] = 0.95,
    slo: Annotated[str, typer.Option(help="Objectives for goodput: ttft=2,tpot=0.1,e2e=60 (seconds).")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Seed.")] = 0,
    engine: Annotated[str, typer.Option(help="auto, compiled or plain.")] = "auto",
    trace_format: Format = None,
    columns: Columns = None,
    time_unit: TimeUnit = None,
    zero_outputs: ZeroOutputs = "refuse",
    first: Annotated[str | None, typer.Option(help="Keep the first N requests.")] = None,
    outputs_above: Annotated[str | None, typer.Option(help="Keep requests with more output tokens than N.")] = None,
    time_slice: Annotated[str | None, typer.Option(help="Keep arrivals in START:END, seconds.")] = None,
    rate_scale: Annotated[str | None, typer.Option(help="Multiply the arrival rate.")] = None,
    prompt_cap: Annotated[str | None, typer.Option(help="N[:refuse|drop|truncate]: prompts above N tokens.")] = None,
    recurrence: Annotated[float, typer.Option(help="Share of a synthetic trace's requests that repeat a prompt.")] = 0.0,
    prompt_correlation: Annotated[
        float, typer.Option(help="Correlation of prompts and outputs of a synthetic trace, −1 to 1.")
    ] = 0.0,
    tenants: Annotated[
        str | None, typer.Option(help="Tenants by weight, WEIGHT:SHARE,…, for br0, brh and io with bonus.")
    ] = None,
    records: Annotated[Path | None, typer.Option(help="Folder for the records of every run, Parquet or CSV.")] = None,
    records_format: Annotated[str, typer.Option(help="parquet or csv.")] = "parquet",
    as_json: Json = False,
) -> None:
    """Simulate policies on one stream of requests and compare them.

    Examples:

    `lbtheory decode --workers 8 --slots 32 --policy jsq --policy level-plus --trace trace.csv`

    `lbtheory decode --workers 8 --slots 64 --policy jsq --policy br0 --p 1/4 --prompts uniform:4`

    `lbtheory decode --workers 8 --slots 8 --policy jsq --policy brh:gamma=0.64,predictor=survival --trace azure2024-like`
    """
    from lbtheory.decode import Source, StepTime, compare, make_policy, make_workload
    from lbtheory.decode.records import check_file_format

    named = {
        "first": first,
        "outputs-above": outputs_above,
        "time-slice": time_slice,
        "rate-scale": rate_scale,
        "prompt-cap": prompt_cap,
    }
    source = Source(
        trace=trace,
        p=p,
        prompts=prompts,
        requests=requests,
        trace_format=trace_format,
        columns=columns,
        time_unit=time_unit,
        zero_outputs=zero_outputs,
        filters=[(name, value) for name, value in named.items() if value is not None],
        recurrence=recurrence,
        prompt_correlation=prompt_correlation,
        tenants=tenants,
    )
    check_file_format(records_format)
    objectives = _objectives(slo)
    _check_folder(records)
    _check_policies(policy)
    cap, cap_all = _overtake(overtake)
    timing = StepTime(t_fixed=t_fixed, t_token=t_token, t_mean=t_mean)
    work = make_workload(
        source, workers=workers, slots=slots, release=release, queue=queue, start=start, prefill=prefill, steps=steps, seed=seed
    )
    steps = work.default_steps(steps)
    warmup = work.default_warmup(warmup, steps)
    policies = {text: make_policy(text, history=work.history, overtake=cap, cap_all=cap_all) for text in policy}
    with _Progress(len(work.stream)) as progress:
        result = compare(
            work.stream,
            policies,
            workers=workers,
            slots=slots,
            timing=timing,
            steps=steps,
            warmup=warmup,
            level=level,
            objectives=objectives,
            engine=engine,
            seed=seed,
            keep=policy if records is not None else (),
            keep_loads=records is not None,
            progress=progress.update,
        )
    config = {
        "workers": workers,
        "slots": slots,
        "overtake": {text: made.overtake for text, made in policies.items()},
        **asdict(timing),
        "steps": steps,
        "warmup": warmup,
        "level": level,
        "intervals": "batch means",
        "objectives": objectives or None,
        "seed": seed,
        "version": lbtheory.__version__,
        **work.about,
    }
    if result.left_out:
        typer.echo(f"lbtheory: interrupted; left out: {', '.join(result.left_out)}", err=True)
    for text, run in result.runs.items():
        assert records is not None
        run.write(records / "".join(c if c.isalnum() or c in "-.=" else "_" for c in text), file_format=records_format)
    if as_json:
        print_json({"config": config, "requests": len(work.stream) + work.stream.refused, **result.as_json()})
    else:
        _print_comparison(result, config, len(work.stream))


def _check_folder(folder: Path | None) -> None:
    """Make the folder of the records, so that what cannot be written is said before anything is computed."""
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(
            f"`--records {folder}` cannot be made ({error.strerror}). Name a folder that can be written."
        ) from None


def _check_policies(texts: list[str]) -> None:
    """Say a wrong or repeated name before a long trace is read."""
    from lbtheory.decode import make_policy

    if len(set(texts)) != len(texts):
        raise ParameterError("`--policy` names the same policy twice. Give each once (options make a difference).")
    for text in texts:
        make_policy(text.partition(":")[0])


def _print_comparison(result: "Comparison", config: dict[str, Any], requests: int) -> None:
    """What was run, what was done to the trace, and the table."""
    from rich.console import Console

    from lbtheory.decode.show import comparison_table, proofs_lines, tenants_table

    system = f"G = {config['workers']}, B = {config['slots']}"
    typer.echo(f"{requests:,} requests, {system}, release {config['release']}, warm-up {config['warmup']}")
    for note in config["notes"]:
        typer.echo(f"  {note}")
    console = Console()
    console.width = console.width if console.is_terminal else max(console.width, 150)
    console.print(comparison_table(result, config["level"]))
    for line in proofs_lines(result):
        typer.echo(line)
    if config["tenants"]:
        console.print(tenants_table(result))


class _Progress:
    """A line on standard error while a run goes on, only on a terminal."""

    def __init__(self, requests: int) -> None:
        self.requests, self.shown = requests, sys.stderr.isatty()

    def __enter__(self) -> "_Progress":
        return self

    def update(self, name: str, done: int, finished: int) -> None:
        """Say how far a policy has come."""
        if self.shown:
            sys.stderr.write(f"\r\x1b[2K{name}: {done:,} iterations, {finished:,} of {self.requests:,} requests finished")
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[2K")


def _overtake(text: str) -> tuple[int | None, bool]:
    """The cap and whether it replaces the policies' own defaults."""
    if text == "auto":
        return None, False
    if text == "none":
        return None, True
    if text.isascii() and text.isdecimal():
        return int(text), True
    raise ParameterError(
        f"`--overtake` must be a whole number ≥ 0, none, or auto (64 for level policies, else none); got {text!r}."
    )


def _objectives(text: str) -> dict[str, float]:
    from lbtheory.core import UnknownNameError
    from lbtheory.decode.summary import OBJECTIVES

    found: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name not in OBJECTIVES:
            raise UnknownNameError("objective of --slo", name, OBJECTIVES)
        try:
            limit = float(value)
        except ValueError:
            limit = 0.0
        if name in found or not 0 < limit < float("inf"):
            raise ParameterError(f"`--slo` must be like ttft=2,tpot=0.1, each once and positive seconds; got {part!r}.")
        found[name] = limit
    return found
