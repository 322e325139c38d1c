"""What an engine is."""

import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import resource_tracker

from lbtheory.study.discovery import Cell
from lbtheory.study.work import Attempt


class Engine(ABC):
    """Runs cells in any order. Closing the iterator of `run` stops the work: only cells in flight are lost."""

    name: str

    @abstractmethod
    def run(self, cells: Sequence[Cell]) -> Iterator[tuple[int, Attempt]]:
        """Give (index of the cell, what it gave) as cells finish; every cell once."""


ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@contextmanager
def worker_environment() -> Iterator[None]:
    """What processes and threads that are started in it inherit: one thread for numeric libraries, and Ctrl-C is not theirs.

    The signal is blocked, so one that comes meanwhile reaches the driver when the body ends.
    """
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    resource_tracker.ensure_running()  # its start would unblock the signal
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
