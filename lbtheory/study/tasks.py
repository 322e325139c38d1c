"""Tasks: what a cell of a sweep runs.

A task is a function inside `lbtheory`, named ``lbtheory.package.module:function``, so that any worker that has the
package can run it. It takes keyword parameters and ``seed``, and returns a list of flat dicts (numbers, strings,
booleans or None), one a record. Nothing else may be named: a sweep cannot run other code.
"""

import importlib
import os
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lbtheory.core import InputError, ParameterError, generator

Record = dict[str, Any]
Task = Callable[..., list[Record]]


def resolve(name: str) -> Task:
    """The function called ``name``.

    Parameters
    ----------
    name : str
        ``lbtheory.package.module:function``.

    Raises
    ------
    ParameterError
        The name has another form, lies outside `lbtheory`, or there is no such module or public function.
    """
    module_name, colon, function = name.partition(":")
    inside = module_name.split(".")[0] == "lbtheory"
    if not (colon and inside and function.isidentifier() and not function.startswith("_")):
        raise ParameterError(
            f"`task` must be the name 'lbtheory.module:function' of a public function inside lbtheory; got {name!r}. "
            "Put the function into the package and name it so."
        )
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if not (error.name and module_name.startswith(error.name)):
            raise
        raise ParameterError(f"`task` must name a module of lbtheory; got {name!r}. Check its spelling.") from error
    task = getattr(module, function, None)
    if not callable(task):
        raise ParameterError(f"`task` must name a function; {module_name} has no function {function!r}. Check its spelling.")
    return task


def run(task: str, parameters: Mapping[str, Any], seed: int) -> list[Record]:
    """Run one cell and check what it returns.

    Parameters
    ----------
    task : str
        See `resolve`.
    parameters : mapping
        Keyword parameters of the task.
    seed : int
        Handed on as ``seed``.

    Returns
    -------
    list of dict
        The records; each also holds the scalar parameters and the seed, unless the task gave those keys itself.
    """
    records = resolve(task)(**parameters, seed=seed)
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise ParameterError(f"the task {task!r} must return a list of dicts; got {type(records).__name__}. Correct the task.")
    scalars = {key: value for key, value in parameters.items() if value is None or isinstance(value, bool | int | float | str)}
    return [{**scalars, "seed": seed, **record} for record in records]


def probe(*, seed: int, draws: int = 1, fail: bool = False, sleep: float = 0.0, fatal: str | None = None) -> list[Record]:
    """A cell that costs nothing, for trying out a study and for measuring what the runner adds.

    Parameters
    ----------
    seed : int
        Root of the random stream.
    draws : int
        Uniform numbers to draw; the record holds their mean.
    fail : bool
        Raise an `InputError` instead.
    sleep : float
        Seconds to sleep first.
    fatal : str, optional
        A file: kill this process with SIGKILL where the file does not exist, after making it. So a first try dies and the next
        one does not. With ``always`` every try dies.
    """
    time.sleep(sleep)
    if fatal is not None and not Path(fatal).exists():
        if fatal != "always":
            Path(fatal).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if fail:
        raise InputError("`fail` of `probe` is true, so it raises. Set it to false.")
    return [{"draws": draws, "mean": float(generator(seed, "probe").random(draws).mean())}]
