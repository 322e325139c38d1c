"""Token-JSQ: FCFS admission to the worker with fewest resident tokens.

Outside the paper's benchmark class (it reads workloads); always shown beside BR-0, since it takes part of the gain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lbtheory.decode.policies.base import InformationSet, View
from lbtheory.decode.policies.fcfs import FcfsPolicy


@dataclass(slots=True, kw_only=True)
class TokenJsq(FcfsPolicy):
    """Fewest resident tokens, loads updated inside the batch."""

    name: ClassVar[str] = "token-jsq"
    code: ClassVar[int] = 4

    @property
    def information(self) -> InformationSet:  # type: ignore[override]
        """Loads, and the size of the request that goes next."""
        coins = InformationSet.COINS if self.ties == "random" else InformationSet.NOTHING
        return InformationSet.LOADS | InformationSet.PROMPTS | coins

    def measure(self, view: View) -> list[int]:
        """Loads."""
        return list(view.loads)

    def gain(self, view: View, position: int) -> int:
        """The prompt."""
        return int(view.prompts[position])

    def choose(self, free: Sequence[int], seen: Sequence[int], coins: np.ndarray | None) -> int:
        """Fewest tokens."""
        return self.least(seen, free, coins)
