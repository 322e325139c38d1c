"""Engines: they only submit cells and collect results. One process, or a pool of processes on this machine."""

import os

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.study.engines.base import Engine as Engine
from lbtheory.study.engines.local import LocalEngine as LocalEngine
from lbtheory.study.engines.serial import SerialEngine as SerialEngine

ENGINES = ("local", "serial")


def make_engine(name: str = "local", *, workers: int | None = None, time_limit: float | None = None) -> Engine:
    """An engine by name.

    Parameters
    ----------
    name : {"local", "serial"}
    workers : int, optional
        Processes of the local pool; as many as this process may use by default.
    time_limit : float, optional
        Seconds a cell may take on the local pool before it is killed and recorded as a failure.

    Raises
    ------
    UnknownNameError, ParameterError
    """
    if workers is not None and workers < 1:
        raise ParameterError(f"`workers` of `make_engine` must be at least 1; got {workers}.")
    if time_limit is not None and not time_limit > 0:
        raise ParameterError(f"`time_limit` of `make_engine` must be more than 0 seconds; got {time_limit}.")
    if name == "serial":
        if time_limit is not None:
            raise ParameterError("`time_limit` needs `--engine local`: a cell in this process cannot be stopped. Leave it out.")
        return SerialEngine()
    if name == "local":
        return LocalEngine(workers=workers or len(os.sched_getaffinity(0)), time_limit=time_limit)
    raise UnknownNameError("engine", name, ENGINES)
