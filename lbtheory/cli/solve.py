"""``lbtheory solve``: one decision, exactly."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lbtheory.cli._common import Json, print_json
from lbtheory.core.errors import ParameterError

if TYPE_CHECKING:
    from lbtheory.decode.exact import Solution
    from lbtheory.decode.instance import DecodeInstance


def solve(
    instance: Annotated[
        Path, typer.Argument(help="JSON: loads, free, waiting, optionally projected, gamma, lives, priorities.")
    ],
    policy: Annotated[str, typer.Option(help="io, min-max or spread-lex.")] = "io",
    horizon: Annotated[
        int | None, typer.Option(help="Window H; the length of the rows of projected less one by default.")
    ] = None,
    compare: Annotated[str, typer.Option(help="Policies to set beside, separated by commas (options after a colon).")] = "",
    time_limit: Annotated[float | None, typer.Option(help="Seconds; reached, the answer is feasible with its gap.")] = None,
    tie: Annotated[
        str | None,
        typer.Option(
            help="Which optimum of IO_H: lexicographic, smallest-total, random or none.", show_default="lexicographic"
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="How IO_H is solved: special, or CP-SAT's class-count or binary.", show_default="special"),
    ] = None,
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
        options |= {"tie": "lexicographic" if tie is None else tie, "formulation": "special" if method is None else method}
    elif tie is not None or method is not None:
        raise ParameterError(f"`--tie` and `--method` go with `--policy io`; got {policy!r}. Leave them out.")
    answer = solve_exactly(problem, policy, horizon, **options)
    names = _split(compare)
    if len(set(names)) < len(names):
        raise ParameterError(f"`--compare` names a policy twice: {compare}. Give each once (options make a difference).")
    others = {name: _compared(problem, answer, name, seed) for name in names}
    result = answer.as_json() | {"compare": {name: other.as_json() for name, other in others.items()}}
    if as_json:
        print_json(result)
    else:
        from rich.console import Console

        from lbtheory.decode.show import solutions_table

        exact = f"{policy}, exact" if policy in others else policy
        Console().print(solutions_table({exact: result, **result["compare"]}))
        if result["assignment"] is not None:
            for g, (chosen, load) in enumerate(zip(result["assignment"], result["loads"], strict=True)):
                typer.echo(f"worker {g}: requests {chosen}, load {load:,}")
        typer.echo(f"settled by {answer.method}, ties {answer.tie}. {answer.status.remedy}")
    if answer.status.value == "infeasible":
        raise typer.Exit(2)


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
