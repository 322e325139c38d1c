"""A pool of processes on this machine that survives the death of its members.

Each worker has a pipe and one cell at a time. A worker that dies (killed, out of memory) is replaced and its cell tried again,
at most `TRIES` times; one that exceeds the time limit is killed and its cell recorded as a failure. Workers end with their
driver: they see their pipe close. Numeric libraries get one thread a worker.
"""

import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from lbtheory.study.discovery import Cell
from lbtheory.study.engines.base import Engine, worker_environment
from lbtheory.study.work import Attempt, attempt, lost, out_of_time

TRIES = 3


class LocalEngine(Engine):
    """Processes on this machine.

    Parameters
    ----------
    workers : int
        Number of processes.
    time_limit : float, optional
        Seconds a cell may take.
    """

    name = "local"

    def __init__(self, *, workers: int, time_limit: float | None = None) -> None:
        self.workers, self.time_limit = workers, time_limit

    def run(self, cells: Sequence[Cell]) -> Iterator[tuple[int, Attempt]]:
        """As they finish."""
        waiting = deque(range(len(cells)))
        tries = [0] * len(cells)
        pool = [_Worker() for _ in range(min(self.workers, len(cells)))]
        try:
            while waiting or any(worker.cell is not None for worker in pool):
                for place, worker in enumerate(pool):
                    if worker.cell is None and waiting:
                        index = waiting.popleft()
                        tries[index] += 1
                        if not worker.start(index, cells[index]):
                            worker.stop()
                            pool[place] = _Worker()
                            waiting.appendleft(index)
                            tries[index] -= 1
                busy = [worker for worker in pool if worker.cell is not None]
                ready = set(wait([worker.pipe for worker in busy], self._patience(busy)))
                for place, worker in enumerate(pool):
                    if worker.cell is None:
                        continue
                    index, seconds = worker.cell, time.monotonic() - worker.began
                    if worker.pipe in ready:
                        result = worker.collect()
                        if result is not None:
                            yield index, result
                            continue
                        what = f"its worker died ({worker.how()}) {tries[index]} times"
                    elif self.time_limit is not None and seconds > self.time_limit:
                        what = out_of_time(self.time_limit)
                        tries[index] = TRIES
                    else:
                        continue
                    worker.stop()
                    pool[place] = _Worker()
                    if tries[index] < TRIES:
                        waiting.appendleft(index)
                    else:
                        yield index, lost(what, seconds)
        finally:
            for worker in pool:
                worker.stop()

    def _patience(self, busy: "list[_Worker]") -> float | None:
        """How long to wait for a result before the time limit is looked at."""
        if self.time_limit is None:
            return None
        return max(0.01, self.time_limit - (time.monotonic() - min(worker.began for worker in busy)))


class _Worker:
    """One process and the cell that it is at."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=serve, args=(theirs,), daemon=True)
        with worker_environment():
            self.process.start()
        theirs.close()
        self.cell: int | None = None
        self.began = 0.0

    def start(self, index: int, cell: Cell) -> bool:
        """Send a cell; False when the process is dead."""
        try:
            self.pipe.send(tuple(cell))
        except OSError:
            return False
        self.cell, self.began = index, time.monotonic()
        return True

    def collect(self) -> Attempt | None:
        """The result of the cell; None when the process died at it."""
        try:
            result: Attempt = self.pipe.recv()
        except (EOFError, OSError):
            return None
        self.cell = None
        return result

    def how(self) -> str:
        """How the process ended."""
        self.process.join(5)
        code = self.process.exitcode
        return signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"

    def stop(self) -> None:
        """Kill the process and close the pipe."""
        self.pipe.close()
        self.process.kill()
        self.process.join()


def serve(pipe: Connection) -> None:
    """Main loop of a worker process: until the driver closes its end."""
    while True:
        try:
            cell: Any = pipe.recv()
            pipe.send(attempt(Cell(*cell)))
        except (EOFError, OSError):
            return
