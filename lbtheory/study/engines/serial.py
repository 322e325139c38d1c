"""One cell after another in this process."""

from collections.abc import Iterator, Sequence

from lbtheory.study.discovery import Cell
from lbtheory.study.engines.base import Engine
from lbtheory.study.work import Attempt, attempt


class SerialEngine(Engine):
    """The plainest engine; good for debugging."""

    name = "serial"

    def run(self, cells: Sequence[Cell]) -> Iterator[tuple[int, Attempt]]:
        """In order."""
        for index, cell in enumerate(cells):
            yield index, attempt(cell)
