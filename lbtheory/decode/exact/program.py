"""The integer program of one decision as data, independent of the solver.

Source: decode paper, section 3 (IO_H), in class-count form (ours): ``y_{g,t}`` requests of size ``t`` go to worker ``g``.
Only workers with free slots carry variables. Loads are shifted by their minimum at each offset, which changes no imbalance,
and the growth ``h c_g`` of new requests is folded into them where the counts are known.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lbtheory.core import ParameterError
from lbtheory.decode.instance import Assignment, DecodeInstance


@dataclass(frozen=True, kw_only=True)
class Program:
    """One decision with sizes in classes; ``F`` workers with free slots, ``n`` distinct sizes.

    Attributes
    ----------
    instance : DecodeInstance
    open : tuple of int (F,)
        The workers with free slots.
    slots : tuple of int (F,)
        Their free slots, at most the number of waiting requests.
    filled : bool
        Whether the queue covers the free slots, so that worker ``f`` gets exactly ``slots[f]`` requests.
    sizes, counts, forced : int arrays (n,)
        Distinct sizes, ascending, tokens; waiting requests of each; how many of them must be admitted.
    members : tuple of n tuples of int
        Indices into the queue of each class, those that must be admitted first, then the earliest.
    base : int array (F, H+1)
        Shifted projected loads of the open workers, with ``h c_g`` added when ``filled``.
    full : int array (G−F, H+1)
        Shifted projected loads of the workers without a free slot.
    """

    instance: DecodeInstance
    open: tuple[int, ...]
    slots: tuple[int, ...]
    filled: bool
    sizes: np.ndarray
    counts: np.ndarray
    forced: np.ndarray
    members: tuple[tuple[int, ...], ...]
    base: np.ndarray
    full: np.ndarray

    @property
    def offsets(self) -> int:
        """``H + 1``."""
        return int(self.base.shape[1])

    @property
    def feasible(self) -> bool:
        """Whether the requests that must be admitted fit."""
        return int(self.forced.sum()) <= self.instance.admissions

    @cached_property
    def queue(self) -> np.ndarray:
        """Waiting sizes, ascending, int array (R,)."""
        return np.repeat(self.sizes, self.counts)

    @cached_property
    def _prefix(self) -> np.ndarray:
        """Sums of the ``k`` smallest waiting sizes, ``k = 0 … R``."""
        return np.concatenate([[0], np.cumsum(self.queue)])

    def smallest(self, k: int) -> int:
        """Sum of the ``k`` smallest waiting sizes."""
        return int(self._prefix[k])

    def largest(self, k: int) -> int:
        """Sum of the ``k`` largest waiting sizes."""
        return int(self._prefix[-1] - self._prefix[len(self._prefix) - 1 - k])

    def least(self, f: int, h: int = 0) -> int:
        """Smallest load that open worker ``f`` can have at offset ``h`` (shifted)."""
        return int(self.base[f, h]) + (self.smallest(self.slots[f]) if self.filled else 0)

    def most(self, f: int, h: int = 0) -> int:
        """Largest load that open worker ``f`` can have at offset ``h`` (shifted)."""
        grown = 0 if self.filled else h * self.slots[f]
        return int(self.base[f, h]) + self.largest(self.slots[f]) + grown

    def least_peak(self, h: int = 0) -> int:
        """Lower bound of the largest load at offset ``h`` (shifted)."""
        return max([*(int(v) for v in self.full[:, h]), *(self.least(f, h) for f in range(len(self.open)))])

    def most_peak(self, h: int = 0) -> int:
        """Upper bound of the largest load at offset ``h`` (shifted)."""
        return max([*(int(v) for v in self.full[:, h]), *(self.most(f, h) for f in range(len(self.open)))])

    def range_bound(self, h: int = 0) -> int:
        """Lower bound of ``I_h`` from the ranges of the loads (ours, proved); the larger of two.

        Some load is at least ``P = max_k least_k``. So worker ``g`` lies ``P − most_g`` or more below the maximum; and ``Σ_g
        L_g`` is at most that of the survivors and the largest waiting requests, against ``G P``.
        """
        peak, admissions = self.least_peak(h), self.instance.admissions
        missing = sum(peak - int(v) for v in self.full[:, h])
        apart = sum(max(0, peak - self.most(f, h)) for f in range(len(self.open)))
        grown = 0 if self.filled else h * admissions
        together = peak * len(self.open) - int(self.base[:, h].sum()) - self.largest(admissions) - grown
        return missing + max(apart, together)

    def assignment(self, y: np.ndarray) -> Assignment:
        """The canonical assignment of the class counts ``y`` (F, n).

        Within a class the earliest are admitted, and the lowest worker gets the earliest of them.
        """
        chosen: list[list[int]] = [[] for _ in range(self.instance.workers)]
        for t, members in enumerate(self.members):
            earliest = iter(sorted(members[: int(y[:, t].sum())]))
            for f, g in enumerate(self.open):
                chosen[g].extend(next(earliest) for _ in range(int(y[f, t])))
        return Assignment(workers=tuple(tuple(sorted(c)) for c in chosen))

    def class_counts(self, assignment: Assignment) -> np.ndarray:
        """Class counts (F, n) of an assignment."""
        y = np.zeros((len(self.open), len(self.sizes)), dtype=np.int64)
        for f, g in enumerate(self.open):
            for i in assignment.workers[g]:
                y[f, int(np.searchsorted(self.sizes, self.instance.waiting[i]))] += 1
        return y

    def loads(self, y: np.ndarray, h: int = 0) -> list[int]:
        """Shifted loads of all workers at offset ``h`` (open workers first) for class counts ``y``."""
        new = y @ self.sizes + (0 if self.filled else h * y.sum(axis=1))
        return [int(v) for v in self.base[:, h] + new] + [int(v) for v in self.full[:, h]]

    def imbalances(self, y: np.ndarray) -> list[int]:
        """``I_h`` for class counts ``y``, offsets ``0 … H``."""
        after = [self.loads(y, h) for h in range(self.offsets)]
        return [len(row) * max(row) - sum(row) for row in after]

    def greedy(self, chosen: Iterable[int]) -> np.ndarray:
        """Class counts of a feasible assignment of ``chosen``: the largest first, each to the least loaded open worker."""
        y = np.zeros((len(self.open), len(self.sizes)), dtype=np.int64)
        load, left = [int(v) for v in self.base[:, 0]], list(self.slots)
        for i in sorted(chosen, key=lambda i: (-int(self.instance.waiting[i]), i)):
            f = min((f for f in range(len(left)) if left[f]), key=lambda f: load[f])
            y[f, int(np.searchsorted(self.sizes, self.instance.waiting[i]))] += 1
            load[f] += int(self.instance.waiting[i])
            left[f] -= 1
        return y

    def starts(self) -> list[np.ndarray]:
        """Feasible assignments to start from: `greedy` on what FCFS admits, on the largest and on the smallest requests."""
        if not self.filled:
            return [self.greedy(first_come(self))]
        must = [i for t, members in enumerate(self.members) for i in members[: int(self.forced[t])]]
        taken = set(must)
        rest = [i for members in self.members for i in members if i not in taken]
        few = self.instance.admissions - len(must)
        return [self.greedy(c) for c in (first_come(self), must + rest[len(rest) - few :], must + rest[:few])]


def first_come(program: Program) -> list[int]:
    """The requests that FCFS admits: those that must be admitted, then the earliest."""
    must = [i for t, members in enumerate(program.members) for i in members[: int(program.forced[t])]]
    rest = sorted(set(range(len(program.instance.waiting))) - set(must))
    return sorted(must + rest[: program.instance.admissions - len(must)])


def build_program(instance: DecodeInstance, must_admit: Collection[int] = frozenset(), *, function: str) -> Program:
    """Put a decision in class-count form.

    Parameters
    ----------
    instance : DecodeInstance
    must_admit : collection of int
        Indices into ``waiting`` that must be admitted.
    function : str
        Name of the caller, for messages.

    Raises
    ------
    ParameterError
        When ``must_admit`` names a request that does not wait.
    """
    waiting, free = instance.waiting, instance.free
    wrong = [i for i in must_admit if isinstance(i, bool) or not isinstance(i, int | np.integer) or not 0 <= i < len(waiting)]
    if wrong:
        raise ParameterError(
            f"`must_admit` of `{function}` must hold indices into `waiting` (0 to {len(waiting) - 1}); got {wrong[0]!r}. "
            "Count the waiting requests from 0 in release order."
        )
    opened = tuple(int(g) for g in np.flatnonzero(free > 0)) if len(waiting) else ()
    closed = sorted(set(range(instance.workers)) - set(opened))
    filled = int(free.sum()) <= len(waiting)
    shifted = instance.projected - instance.projected.min(axis=0)
    base = shifted[list(opened)]
    if filled:
        base = base + np.arange(instance.horizon + 1) * free[list(opened)][:, None]
    sizes, label, counts = np.unique(waiting, return_inverse=True, return_counts=True)
    must = set(map(int, must_admit))
    groups: list[list[int]] = [[] for _ in sizes]
    for i in [*sorted(must), *(i for i in range(len(waiting)) if i not in must)]:
        groups[int(label[i])].append(i)
    return Program(
        instance=instance,
        open=opened,
        slots=tuple(min(int(free[g]), len(waiting)) for g in opened),
        filled=filled,
        sizes=sizes.astype(np.int64),
        counts=counts.astype(np.int64),
        forced=np.array([sum(i in must for i in group) for group in groups], dtype=np.int64),
        members=tuple(map(tuple, groups)),
        base=base,
        full=shifted[closed],
    )
