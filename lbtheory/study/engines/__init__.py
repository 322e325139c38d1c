"""Engines: they only submit cells and collect results. One process, a pool on this machine, or a Dask cluster."""

import os

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.study.engines.base import Engine as Engine
from lbtheory.study.engines.local import LocalEngine as LocalEngine
from lbtheory.study.engines.serial import SerialEngine as SerialEngine

ENGINES = ("local", "serial", "dask")


def make_engine(
    name: str = "local", *, workers: int | None = None, time_limit: float | None = None, scheduler: str | None = None
) -> Engine:
    """An engine by name.

    Parameters
    ----------
    name : {"local", "serial", "dask"}
    workers : int, optional
        Processes of the pool, or of a Dask cluster started here; as many as this process may use by default.
    time_limit : float, optional
        Seconds a cell may take before it is killed and recorded as a failure.
    scheduler : str, optional
        Address of a Dask scheduler that exists; without it a cluster is started here.

    Raises
    ------
    UnknownNameError, ParameterError
    """
    if workers is not None and workers < 1:
        raise ParameterError(f"`workers` of `make_engine` must be at least 1; got {workers}.")
    if time_limit is not None and not time_limit > 0:
        raise ParameterError(f"`time_limit` of `make_engine` must be more than 0 seconds; got {time_limit}.")
    if scheduler is not None and name != "dask":
        raise ParameterError(f"`scheduler` needs `--engine dask`; got engine {name!r}. Leave it out.")
    processes = workers or len(os.sched_getaffinity(0))
    if name == "serial":
        return SerialEngine(time_limit=time_limit)
    if name == "local":
        return LocalEngine(workers=processes, time_limit=time_limit)
    if name == "dask":
        from lbtheory.study.engines.dask import DaskEngine

        return DaskEngine(workers=processes, scheduler=scheduler, time_limit=time_limit)
    raise UnknownNameError("engine", name, ENGINES)
