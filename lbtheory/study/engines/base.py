"""What an engine is."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from lbtheory.study.discovery import Cell
from lbtheory.study.work import Attempt


class Engine(ABC):
    """Runs cells in any order. Closing the iterator of `run` stops the work: only cells in flight are lost."""

    name: str

    @abstractmethod
    def run(self, cells: Sequence[Cell]) -> Iterator[tuple[int, Attempt]]:
        """Give (index of the cell, what it gave) as cells finish; every cell once."""
