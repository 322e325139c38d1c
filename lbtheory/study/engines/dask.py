"""Cells on a Dask cluster: one that exists, or one that is started on this machine for the run.

Needs the extra ``cluster``. Any worker that has lbtheory can run any cell, since tasks are names inside the package. Dask runs
a cell again when its worker dies; one that has killed several workers is recorded as a failure.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from lbtheory.core import InputError, ParameterError
from lbtheory.study.discovery import Cell
from lbtheory.study.engines.base import Engine, worker_environment
from lbtheory.study.work import Attempt, limited, lost

CONNECT_SECONDS = 20.0


class DaskEngine(Engine):
    """A Dask cluster.

    Parameters
    ----------
    workers : int
        Processes of a cluster that is started here; not used with ``scheduler``.
    scheduler : str, optional
        Address of a scheduler that exists, ``tcp://HOST:PORT``.
    time_limit : float, optional
        Seconds a cell may take; with a limit each cell has a process of its own on its worker.
    """

    name = "dask"

    def __init__(self, *, workers: int, scheduler: str | None = None, time_limit: float | None = None) -> None:
        try:
            import distributed  # noqa: F401
        except ModuleNotFoundError:
            raise ParameterError("`--engine dask` needs the extra `cluster`: pip install 'lbtheory[cluster]'.") from None
        self.workers, self.scheduler, self.time_limit = workers, scheduler, time_limit

    def run(self, cells: Sequence[Cell]) -> Iterator[tuple[int, Attempt]]:
        """As they finish."""
        if not cells:
            return
        from distributed import as_completed

        with ExitStack() as stack:
            client = self._client(stack)
            began = time.monotonic()
            futures = [client.submit(_attempt, tuple(cell), self.time_limit, pure=False) for cell in cells]
            place = {future.key: i for i, future in enumerate(futures)}
            for future in as_completed(futures):
                problem = future.exception()
                if problem is None:
                    yield place[future.key], future.result()
                else:  # the cell's own errors are results: this one is the cluster's
                    yield place[future.key], lost(f"{type(problem).__name__}: {problem}", time.monotonic() - began)
                future.release()

    def _client(self, stack: ExitStack) -> Any:
        """A client of the scheduler, or of a cluster that ends with ``stack``."""
        from distributed import Client, LocalCluster

        address: Any = self.scheduler
        if address is None:
            with worker_environment():
                cluster = LocalCluster(
                    n_workers=self.workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,  # what goes wrong with a cell is its result
                )
            address = stack.enter_context(cluster)
        try:
            return stack.enter_context(Client(address, timeout=CONNECT_SECONDS))
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"`--scheduler {self.scheduler}` does not answer ({error}). Start one with `dask scheduler`, and workers with "
                "`dask worker ADDRESS --nthreads 1`."
            ) from None


def _attempt(cell: tuple[Any, ...], time_limit: float | None) -> Attempt:
    """Run a cell on a worker of the cluster."""
    return limited(Cell(*cell), time_limit)
