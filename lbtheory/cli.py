"""The command line. Every command takes ``--json``; it returns 0, 1 on a failed check, 2 on bad input.

Heavy libraries are imported inside the commands, so that ``lbtheory --help`` answers at once.
"""

import json
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import lbtheory
from lbtheory.core.errors import InputError, LBTheoryError, ParameterError

if TYPE_CHECKING:
    from lbtheory.decode import Comparison
    from lbtheory.decode.exact import Solution
    from lbtheory.decode.instance import DecodeInstance

app = typer.Typer(
    name="lbtheory",
    help="Load balancing for large-language-model serving: computable, checkable and reproducible.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    add_completion=False,
)
trace_app = typer.Typer(help="Look at trace files.", no_args_is_help=True)
app.add_typer(trace_app, name="trace")

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Format = Annotated[str | None, typer.Option("--format", help="Trace format; found from the content by default.")]
Columns = Annotated[str | None, typer.Option(help="Read any CSV: arrival=A,prompt=B,output=C[,key=D].")]
TimeUnit = Annotated[str | None, typer.Option(help="Unit of the arrival column of --columns: s, ms, us, ns or datetime.")]
ZeroOutputs = Annotated[str, typer.Option(help="Requests with zero output tokens: refuse or drop (and count).")]


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        typer.echo(lbtheory.__version__)
        raise typer.Exit


@app.command()
def solve(
    instance: Annotated[Path, typer.Argument(help="JSON: loads, free, waiting, optionally projected and gamma.")],
    policy: Annotated[str, typer.Option(help="io, min-max or spread-lex.")] = "io",
    horizon: Annotated[
        int | None, typer.Option(help="Window H; the length of the rows of projected less one by default.")
    ] = None,
    compare: Annotated[str, typer.Option(help="Policies to set beside, separated by commas (options after a colon).")] = "",
    time_limit: Annotated[float | None, typer.Option(help="Seconds; reached, the answer is feasible with its gap.")] = None,
    tie: Annotated[
        str, typer.Option(help="Which optimum of IO_H: lexicographic, smallest-total, random or none.")
    ] = "lexicographic",
    seed: Annotated[int, typer.Option(help="Seed of random ties and of the search.")] = 0,
    as_json: Json = False,
) -> None:
    """Solve one decision exactly, with the gap of each compared policy.

    Example: `lbtheory solve decision.json --compare br0,level-plus,jsq,token-jsq`
    """
    from lbtheory.decode.exact import solve as solve_exactly
    from lbtheory.decode.instance import read_instance

    problem = read_instance(instance)
    options: dict[str, Any] = {"time_limit": time_limit, "seed": seed}
    if policy == "io":
        options["tie"] = tie
    answer = solve_exactly(problem, policy, horizon, **options)
    others = {name: _compared(problem, answer, name, seed) for name in _split(compare)}
    result = answer.as_json() | {"compare": {name: other.as_json() for name, other in others.items()}}
    if as_json:
        _print_json(result)
    else:
        from rich.console import Console

        from lbtheory.decode.show import solutions_table

        Console().print(solutions_table({policy: result, **result["compare"]}))
        if result["assignment"] is not None:
            for g, (chosen, load) in enumerate(zip(result["assignment"], result["loads"], strict=True)):
                typer.echo(f"worker {g}: requests {chosen}, load {load:,}")
        typer.echo(answer.status.remedy)
    if answer.status.value == "infeasible":
        raise typer.Exit(2)


@app.command()
def decode(
    workers: Annotated[int, typer.Option(min=1, help="Workers G.")],
    slots: Annotated[int, typer.Option(min=1, help="Slots B a worker.")],
    policy: Annotated[list[str], typer.Option(help="NAME[:key=value,…]; repeat to compare, the first is the reference.")],
    trace: Annotated[str | None, typer.Option(help="Trace file, or azure2024-like or proprietary-like.")] = None,
    p: Annotated[str | None, typer.Option(help="Completion probability a step, 1/4 or 0.25 (with --prompts).")] = None,
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
        int | None, typer.Option(min=0, help="Iterations left out of the means; 2000 when saturated, else 0.")
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
    )
    check_file_format(records_format)
    _check_policies(policy)
    cap, cap_all = _overtake(overtake)
    timing = StepTime(t_fixed=t_fixed, t_token=t_token, t_mean=t_mean)
    work = make_workload(
        source, workers=workers, slots=slots, release=release, queue=queue, start=start, prefill=prefill, steps=steps, seed=seed
    )
    steps, warmup = work.default_steps(steps), work.default_warmup(warmup)
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
            objectives=_objectives(slo),
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
        "objectives": _objectives(slo) or None,
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
        _print_json({"config": config, "requests": len(work.stream) + work.stream.refused, **result.as_json()})
    else:
        _print_comparison(result, config, len(work.stream))


@trace_app.command("describe")
def trace_describe(
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
        _print_json(description)
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


@app.command()
def reproduce(
    ids: Annotated[list[str] | None, typer.Argument(help="Artefacts; all by default.")] = None,
    scale: Annotated[str, typer.Option(help="quick or full.")] = "quick",
    out: Annotated[Path, typer.Option(help="Folder of tables, figures and report.html.")] = Path("results"),
    engine: Annotated[str, typer.Option(help="local (a pool of processes) or serial.")] = "local",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes of the pool; one a core by default.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds a cell may take before it is stopped and recorded.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Compute stored results again.")] = False,
    list_them: Annotated[bool, typer.Option("--list", help="List the artefacts and stop.")] = False,
    as_json: Json = False,
) -> None:
    """Rebuild tables and figures, published beside reproduced, and `report.html`.

    Results of cells are kept in the folder `.store` of the output folder: a run that was stopped goes on where it was.

    Examples: `lbtheory reproduce --list`, `lbtheory reproduce gap --scale full`
    """
    from lbtheory.study import discover, make_engine, rebuild

    if list_them:
        listing = discover().listing()
        if as_json:
            _print_json({"artefacts": listing})
        else:
            for row in listing:
                typer.echo(f"{row['id']:<18} {row['reference']:<28} {row['title']}")
        return
    pool = make_engine(engine, workers=workers, time_limit=time_limit)
    outcome = rebuild(ids or (), scale=scale, out=out, engine=pool, force=force, stream=sys.stderr)
    if as_json:
        _print_json(outcome.summary())
    else:
        typer.echo(f"report: {outcome.report}")
    raise typer.Exit(outcome.exit_code)


def main() -> None:
    """Entry point: bad input is one clear message and exit code 2."""
    try:
        app()
    except InputError as error:
        typer.echo(f"lbtheory: {error}", err=True)
        raise SystemExit(2) from None
    except LBTheoryError as error:
        typer.echo(f"lbtheory: {error}", err=True)
        raise SystemExit(130 if type(error).__name__ == "Interrupted" else 1) from None
    except KeyboardInterrupt:
        typer.echo("lbtheory: stopped", err=True)
        raise SystemExit(130) from None


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

    from lbtheory.decode.show import comparison_table

    system = f"G = {config['workers']}, B = {config['slots']}"
    typer.echo(f"{requests:,} requests, {system}, release {config['release']}, warm-up {config['warmup']}")
    for note in config["notes"]:
        typer.echo(f"  {note}")
    console = Console()
    console.width = console.width if console.is_terminal else max(console.width, 150)
    console.print(comparison_table(result, config["level"]))


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


def _compared(problem: "DecodeInstance", answer: "Solution", text: str, seed: int) -> "Solution":
    """One compared policy on the same decision."""
    from time import perf_counter

    from lbtheory.core import InformationError, generator
    from lbtheory.decode.exact import compare
    from lbtheory.decode.policies import make_policy, view_of_instance

    cut = problem.with_horizon(answer.horizon)
    made = make_policy(text if ":" in text or text != "brh" else f"brh:horizon={cut.horizon},gamma={float(cut.gamma)}")
    rng = generator(seed, "policy", made.name)
    view = view_of_instance(cut, made.information, rng)
    began = perf_counter()
    try:
        assignment = made.assign(view, rng)
    except InformationError as error:
        raise ParameterError(f"`--compare {text}`: {error}") from None
    return compare(problem, assignment, answer, text, perf_counter() - began)


def _split(text: str) -> list[str]:
    """Names separated by commas; ``key=value`` parts belong to the name before."""
    names: list[str] = []
    for part in filter(None, text.split(",")):
        if "=" in part and ":" not in part and names:
            names[-1] += f",{part}"
        else:
            names.append(part)
    return names


def _overtake(text: str) -> tuple[int | None, bool]:
    """The cap and whether it replaces the policies' own defaults."""
    if text == "auto":
        return None, False
    if text == "none":
        return None, True
    if text.isdigit():
        return int(text), True
    raise ParameterError(
        f"`--overtake` must be a whole number ≥ 0, none, or auto (64 for level policies, else none); got {text!r}."
    )


def _objectives(text: str) -> dict[str, float]:
    from lbtheory.core import UnknownNameError

    found = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name not in ("ttft", "tpot", "e2e"):
            raise UnknownNameError("objective of --slo", name, ("ttft", "tpot", "e2e"))
        try:
            found[name] = float(value)
        except ValueError:
            raise ParameterError(f"`--slo` must be like ttft=2,tpot=0.1; got {part!r}.") from None
    return found


def _print_json(value: Any) -> None:
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


if __name__ == "__main__":
    main()
