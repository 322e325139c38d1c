"""The system that the LEVEL bounds speak of: one worker's slots, prompts of an interval in rich supply, a constant target."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from lbtheory.core import ParameterError, whole_number
from lbtheory.theory.arithmetic import probability


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSystem:
    """``G`` workers of ``B`` slots under LEVEL with a constant integer target, every prompt size of an interval in rich supply.

    Slots are always full, so one iteration takes the loads ``L`` of a worker to ``clamp(T, [a + low c, a + high c])``, ``c``
    its completions and ``a`` the load of its survivors. Subtracting ``low − 1`` from every prompt gives the system with sizes
    ``1 … s`` and target ``T − B(low − 1)``: deviations ``e = L − T`` are the same.

    Attributes
    ----------
    p : Fraction
        Output lengths are ``Geo(p)``. A double stands for the fraction that it is.
    low, high : int
        Smallest and largest prompt, tokens, ``1 ≤ low < high``.
    workers, slots : int
        ``G ≥ 2`` and ``B ≥ 1``.

    Raises
    ------
    ParameterError
    """

    p: Fraction
    low: int
    high: int
    workers: int
    slots: int

    def __post_init__(self) -> None:
        name = "LevelSystem"
        object.__setattr__(self, "p", probability(self.p, name))
        object.__setattr__(self, "low", whole_number("low", name, self.low, 1))
        object.__setattr__(self, "high", whole_number("high", name, self.high, 1))
        object.__setattr__(self, "workers", whole_number("workers", name, self.workers, 2))
        object.__setattr__(self, "slots", whole_number("slots", name, self.slots, 1))
        if self.low >= self.high:
            raise ParameterError(
                f"`high` of `LevelSystem` must be more than `low`; got {self.low} and {self.high}. One size leaves no control."
            )

    @property
    def q(self) -> Fraction:
        """``1 − p``."""
        return 1 - self.p

    @property
    def s(self) -> int:
        """Number of sizes, ``high − low + 1``: the largest prompt of the shifted system."""
        return self.high - self.low + 1

    @property
    def centre(self) -> Fraction:
        """``T₀ = B((low + high)/2 + q/p)``, tokens: the load at which both controls are equally strong."""
        return self.slots * (Fraction(self.low + self.high, 2) + self.q / self.p)

    def target(self) -> int:
        """``T = ⌊T₀⌋``, tokens; the bounds need an integer."""
        return floor(self.centre)

    def shifted(self, target: int) -> int:
        """A target in the system with sizes ``1 … s``."""
        return target - self.slots * (self.low - 1)

    @property
    def mu3(self) -> Fraction:
        """``μ₃ = (s + 2/p + q/p)² + q/p² = E(s + 2/p + X)²``, tokens², ``X`` an age."""
        return (self.s + (2 + self.q) / self.p) ** 2 + self.q / self.p**2
