"""IO_H where the free slots cover the queue: every waiting request is admitted, and only who goes where is left to choose.

This is the usual state of a system that is not saturated. The sum of all loads is then the same for every assignment, at each
offset, also with lives that end in the window; what must be admitted is, and priorities play no part. Source: ours.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lbtheory.decode.exact.weights import kernel_weights, rounding
from lbtheory.decode.instance import Assignment, DecodeInstance, objective

STEPS = 40_000_000
"""Elementary steps of the search, about a third of a second."""
NODE = 25
"""A node takes about ``F (H + NODE)`` steps."""
PER_SECOND = 120_000_000
"""Steps in a second, about."""
EXCHANGES = 4_000_000
"""Elementary steps of the exchanges that give it a start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The best assignment met, its objective, a proved lower bound, and the method, as in `Solution`."""

    assignment: Assignment
    value: Fraction
    bound: Fraction
    method: str

    @property
    def proved(self) -> bool:
        """Whether value and bound agree."""
        return self.value == self.bound


def leaves_slots(instance: DecodeInstance) -> bool:
    """Whether all waiting requests, one at least, are admitted and `place_all` is the method to choose among the workers.

    Where exactly as many requests wait as slots are free, it is so only with lives that end in the window.
    """
    waiting, free = len(instance.waiting), int(instance.free.sum())
    return instance.workers > 1 and waiting > 0 and (waiting < free or (waiting == free and instance.lives_end))


def place_all(instance: DecodeInstance, *, steps: int = STEPS, seconds: float | None = None) -> Placed | None:
    """IO_H by search, for an instance with as many free slots as waiting requests or more; None where sums pass 64 bits.

    Parameters
    ----------
    instance : DecodeInstance
    steps : int
        Elementary steps of the search.
    seconds : float, optional
        Cuts them to about this time.
    """
    from lbtheory.decode.exact import _place

    if seconds is not None:
        steps = min(steps, int(seconds * PER_SECOND))
    offsets = np.arange(instance.horizon + 1)
    lives = np.full(len(instance.waiting), instance.horizon + 1) if instance.lives is None else instance.lives
    lives = np.minimum(lives, instance.horizon + 1)
    order = np.lexsort((lives, instance.waiting))[::-1]
    sizes, ends = instance.waiting[order], lives[order]
    paths = np.where(offsets < ends[:, None], sizes[:, None] + offsets, 0)
    same = np.concatenate(([False], (sizes[1:] == sizes[:-1]) & (ends[1:] == ends[:-1])))
    shifted = instance.projected - instance.projected.min(axis=0)
    opened = np.flatnonzero(instance.free > 0)
    loads, free = shifted[opened], np.minimum(instance.free[opened], len(order))
    floor = np.where(instance.free[:, None] == 0, shifted, 0).max(axis=0)
    tops = shifted.max(axis=0) + paths.sum(axis=0)
    weights = kernel_weights(instance.gamma, tops.tolist())
    exact = None if weights is None else rounding(weights, tops.tolist())
    if weights is None or exact is None:
        return None
    values, cost = np.array(weights.values, np.int64), len(opened) * (instance.horizon + NODE)
    worker = _place.start(paths, loads, free, floor, values, EXCHANGES)
    limit = max(1, steps // cost)
    low, nodes = _place.place_all(paths, same, _twins(loads, free), loads, free, floor, values, exact, limit, worker)
    assignment = _assignment(instance, order, same, opened[worker])
    value = objective(instance, assignment)
    if nodes <= limit:
        return Placed(assignment=assignment, value=value, bound=value, method="search")
    totals = (shifted.sum(axis=0) + paths.sum(axis=0)).tolist()
    bound = Fraction(instance.workers * int(low), weights.scale)
    bound -= sum((instance.gamma**h * v for h, v in enumerate(totals)), Fraction(0))
    bound = min(value, max(Fraction(0), bound))
    return Placed(assignment=assignment, value=value, bound=bound, method="search" if bound == value else "start")


def _twins(loads: np.ndarray, free: np.ndarray) -> np.ndarray:
    """For each worker the last one before it with the same loads and free slots, −1 without one."""
    last: dict[tuple[int, ...], int] = {}
    twins = []
    for f, row in enumerate(np.column_stack((free, loads)).tolist()):
        twins.append(last.get(tuple(row), -1))
        last[tuple(row)] = f
    return np.array(twins, np.int64)


def _assignment(instance: DecodeInstance, order: np.ndarray, same: np.ndarray, worker: np.ndarray) -> Assignment:
    """The canonical assignment: of equal requests the lowest worker gets the earliest."""
    kind = np.cumsum(~same)
    chosen: list[list[int]] = [[] for _ in range(instance.workers)]
    for i, g in zip(order[np.lexsort((order, kind))].tolist(), worker[np.lexsort((worker, kind))].tolist(), strict=True):
        chosen[g].append(i)
    return Assignment(workers=tuple(tuple(sorted(one)) for one in chosen))
