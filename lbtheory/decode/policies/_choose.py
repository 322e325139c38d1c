"""Shared by the rules that admit first come, first served: choosing among workers that tie."""

from collections.abc import Sequence

import numpy as np

TIES = ("lowest", "rotating", "random")


def draw(coin: float, n: int) -> int:
    """Uniform draw from ``0 … n − 1`` with a coin in [0, 1)."""
    return min(int(coin * n), n - 1)


def first_from(workers: Sequence[int], pointer: int) -> int:
    """The first of ``workers`` (ascending) at or after ``pointer``, cyclically."""
    return next((g for g in workers if g >= pointer), workers[0])


class TieBreaker:
    """Lowest index, rotating (first at or after a pointer that moves behind the last choice), or random."""

    def __init__(self, rule: str, workers: int) -> None:
        self.rule, self.workers, self.pointer = rule, workers, 0

    def choose(self, tied: Sequence[int], coins: np.ndarray | None) -> int:
        """One of the tied workers (ascending indices); ``coins`` are the draws of the request."""
        if len(tied) == 1 or self.rule == "lowest":
            return tied[0]
        if self.rule == "random":
            assert coins is not None
            return tied[draw(coins[2], len(tied))]
        chosen = first_from(tied, self.pointer)
        self.pointer = (chosen + 1) % self.workers
        return chosen
