"""LEVEL: steer every worker to a common level (``decode.md`` section 3; ours, empirical)."""

from dataclasses import dataclass
from typing import ClassVar

from lbtheory.decode.policies._levelling import LevellingPolicy
from lbtheory.decode.policies.base import check_range


@dataclass(slots=True, kw_only=True)
class Level(LevellingPolicy):
    """Take workers with free slots by decreasing ``|T − a_g − c_g S̄|/√c_g``, ``T = (Σ a_g + U S̄)/G``.

    Each gets its free slots' number of requests, one by one the waiting request nearest to the mean still needed (ties:
    earliest). ``S̄`` and the order are fixed for the step. When fewer wait than slots are free, Count-JSQ says how many each
    worker gets.

    Options
    -------
    window : int
        Oldest requests that are looked at; 0 for the whole queue.
    pairs : bool
        Fill the last two slots of a worker with the best pair instead.
    overtake : int
        Cap ``D``.
    """

    name: ClassVar[str] = "level"
    fixed_order: ClassVar[bool] = True
    largest_first: ClassVar[bool] = False
    window: int = 0
    pairs: bool = False

    def __post_init__(self) -> None:
        LevellingPolicy.__post_init__(self)
        check_range(self.name, "window", self.window, 0)

    def settings(self) -> tuple[int, float, float, bool]:
        """Whole queue, no pull, no discount of ages."""
        return self.window, 0.0, 0.0, self.pairs
