"""The smallest number of slots at which the bound of LEVEL is a given factor below size-blind routing."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from lbtheory.core import ParameterError, whole_number
from lbtheory.theory.arithmetic import probability
from lbtheory.theory.levelling.chernoff import chernoff_bound
from lbtheory.theory.levelling.system import LevelSystem


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestSlots:
    """A ``B`` with ``fcfs(B)/bound(B) ≥ ratio`` and ``B − 1`` without, found by bisection.

    Both ratios were computed; that no smaller ``B`` does is the case if the ratio crosses once, which is not proved.

    Attributes
    ----------
    slots : int
    ratio, before : float
        ``fcfs/bound`` at ``slots`` and at ``slots − 1`` (0 at ``slots = 1``).
    """

    slots: int
    ratio: float
    before: float


def smallest_slots(
    p: Fraction | float,
    low: int,
    high: int,
    workers: int,
    ratio: float,
    fcfs: Callable[[int], float],
    *,
    bound: Callable[[LevelSystem], float] | None = None,
    limit: int = 1 << 20,
) -> SmallestSlots:
    """Bisection on ``B`` for the least with ``fcfs(B)/bound ≥ ratio``; exact by a check at ``B − 1`` (ours; double precision).

    Parameters
    ----------
    p, low, high, workers
        As in `LevelSystem`.
    ratio : float
        Positive.
    fcfs : callable
        Long-run ``E I`` of size-blind FCFS at ``B`` slots, for example its exact law.
    bound : callable, optional
        From a system to its bound; `chernoff_bound` by default.
    limit : int
        Largest ``B`` that is tried.

    Raises
    ------
    ParameterError
        A ratio that is not positive, or not reached up to ``limit``.
    """
    if not (isfinite(ratio) and ratio > 0):
        raise ParameterError(f"`ratio` of `smallest_slots` must be a finite number > 0; got {ratio}.")
    limit = whole_number("limit", "smallest_slots", limit, 1)
    chance = probability(p, "smallest_slots")

    def reached(slots: int) -> float:
        system = LevelSystem(p=chance, low=low, high=high, workers=workers, slots=slots)
        return fcfs(slots) / (chernoff_bound(system).value if bound is None else bound(system))

    good, best, bad, worse = 1, reached(1), 0, 0.0
    while best < ratio:
        bad, worse = good, best
        if good == limit:
            raise ParameterError(f"`ratio` of `smallest_slots` must be reached by B = {limit}; there it is {best:.4g}.")
        good = min(2 * good, limit)
        best = reached(good)
    while good - bad > 1:
        middle = (good + bad) // 2
        value = reached(middle)
        if value >= ratio:
            good, best = middle, value
        else:
            bad, worse = middle, value
    return SmallestSlots(slots=good, ratio=best, before=worse)
