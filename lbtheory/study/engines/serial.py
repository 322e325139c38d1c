"""One cell after another in this process."""

from collections.abc import Iterator, Sequence

from lbtheory.study.discovery import Cell
from lbtheory.study.engines.base import Engine
from lbtheory.study.work import Attempt, limited


class SerialEngine(Engine):
    """The plainest engine; good for debugging.

    Parameters
    ----------
    time_limit : float, optional
        Seconds a cell may take; with a limit each cell has a process of its own.
    """

    name = "serial"

    def __init__(self, *, time_limit: float | None = None) -> None:
        self.time_limit = time_limit

    def run(self, cells: Sequence[Cell]) -> Iterator[tuple[int, Attempt]]:
        """In order."""
        for index, cell in enumerate(cells):
            yield index, limited(cell, self.time_limit)
