"""Symbols of slots and queues of a small decode system: what a slot can hold, what chance and admissions make of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement, pairwise
from math import factorial, prod
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, whole_number


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A small system.

    Attributes
    ----------
    workers, slots : int
        ``G``, ``B``.
    p : float
        Completion probability.
    sizes : tuple of int
        Prompt sizes, ascending.
    law : tuple of float
        Their probabilities.
    cap : int
        ``N``.
    queue : int or None
        ``R``; None for rich supply.
    look : int
        ``H`` of known lives, 0 for none.
    """

    workers: int
    slots: int
    p: float
    sizes: tuple[int, ...]
    law: tuple[float, ...]
    cap: int
    queue: int | None = None
    look: int = 0

    @property
    def tail(self) -> float:
        """``n t``: bound of the mean total workload above the cap."""
        q = 1 - self.p
        return self.workers * self.slots * q ** (self.cap - self.sizes[-1] + 1) / self.p

    @property
    def truncation(self) -> tuple[float, float]:
        """How far the true average can lie below and above the capped one."""
        return self.tail, (self.workers - 1) * self.tail


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Symbols and queues of a system, see `_states`."""

    empty: int
    load: np.ndarray
    life: np.ndarray
    next_symbol: np.ndarray
    chance: np.ndarray
    outcomes: np.ndarray
    fresh: np.ndarray
    queues: list[tuple[int, ...]]
    joined: np.ndarray
    join_chance: np.ndarray
    joins: np.ndarray
    left: np.ndarray
    share: np.ndarray


def system(
    workers: int,
    slots: int,
    p: float,
    sizes: Sequence[int],
    *,
    law: Sequence[float] | None = None,
    cap: int,
    queue: int | None = None,
    look: int = 0,
) -> System:
    """A checked `System`; uniform sizes by default.

    Raises
    ------
    ParameterError
    """
    whole_number("workers", "system", workers, 2)
    whole_number("slots", "system", slots, 1)
    whole_number("look", "system", look, 0)
    if not isinstance(p, float) or not 0 < p < 1:
        raise ParameterError(f"`p` of `system` must be a number in (0, 1); got {p!r}.")
    whole = [whole_number("sizes", "system", size, 1) for size in sizes]
    if not whole or any(a >= b for a, b in pairwise(whole)):
        raise ParameterError(f"`sizes` of `system` must be ascending whole numbers ≥ 1; got {tuple(sizes)}.")
    weights = [1 / len(whole)] * len(whole) if law is None else [float(v) for v in law]
    if len(weights) != len(whole) or not min(weights) > 0 or not abs(sum(weights) - 1) <= 1e-12:
        raise ParameterError(f"`law` of `system` must be {len(whole)} positive numbers with sum 1; got {law}.")
    whole_number("cap", "system", cap, 1)
    if cap < whole[-1]:
        raise ParameterError(f"`cap` of `system` must be at least the largest size {whole[-1]}; got {cap}.")
    if queue is not None:
        whole_number("queue", "system", queue, 0)
    made = System(
        workers=workers,
        slots=slots,
        p=float(p),
        sizes=tuple(whole),
        law=tuple(weights),
        cap=int(cap),
        queue=queue,
        look=look,
    )
    rules = rules_of(made)
    if (rules.empty + 1) ** (workers * slots) * len(rules.queues) >= 2**62:
        raise ParameterError(f"`cap` of `system` must be smaller: states of {workers * slots} slots would pass 62 bits.")
    return made


@lru_cache(maxsize=8)
def rules_of(one: System) -> Rules:
    """Symbols: ``w`` alone; with known lives ``(w, r)``, ``r = 1 … H+1``, and ``(w, new)`` for ``w ≤ s``."""
    lives, q = one.look + 1 if one.look else 1, 1 - one.p
    news = one.sizes[-1] if one.look else 0
    empty = one.cap * lives + news
    load, life = np.zeros(empty, np.int64), np.zeros(empty, np.int64)
    next_symbol = np.full((empty, lives + 1), empty)
    chance, outcomes = np.zeros((empty, lives + 1)), np.zeros(empty, np.int64)

    def symbol(w: int, r: int) -> int:
        return (min(w, one.cap) - 1) * lives + r - 1

    for a in range(empty):
        w, r = (a // lives + 1, a % lives + 1) if a < one.cap * lives else (a - one.cap * lives + 1, 0)
        load[a], life[a] = w, r if one.look and r else 0
        if one.look == 0:
            ways = [(empty, one.p), (symbol(w + 1, 1), q)]
        elif r == 0:  # just admitted: one more iteration tells min(r, H+1) of a geometric life
            ways = [(empty, one.p)]
            ways += [(symbol(w + 1, j), q * one.p * q ** (j - 1)) for j in range(1, one.look + 1)]
            ways += [(symbol(w + 1, lives), q * q**one.look)]
        elif r == 1:
            ways = [(empty, 1.0)]
        elif r <= one.look:
            ways = [(symbol(w + 1, r - 1), 1.0)]
        else:
            ways = [(symbol(w + 1, r - 1), one.p), (symbol(w + 1, r), q)]
        outcomes[a] = len(ways)
        for k, (to, chance_of) in enumerate(ways):
            if k >= next_symbol.shape[1]:
                next_symbol = np.pad(next_symbol, ((0, 0), (0, 1)), constant_values=empty)
                chance = np.pad(chance, ((0, 0), (0, 1)))
            next_symbol[a, k], chance[a, k] = to, chance_of
    fresh = np.array([one.cap * lives + t - 1 if one.look else t - 1 for t in one.sizes])
    return Rules(
        empty=empty, load=load, life=life, next_symbol=next_symbol, chance=chance, outcomes=outcomes, fresh=fresh,
        **_queues(one),
    )  # fmt: skip


def _queues(one: System) -> dict[str, Any]:
    """Finite queues as multisets of classes, what arrivals make of them, and what is left without one request."""
    m, n = len(one.sizes), one.workers * one.slots
    if one.queue is None:
        return {
            "queues": [()],
            "joined": np.zeros((1, n + 1, 1), np.int64),
            "join_chance": np.ones((1, n + 1, 1)),
            "joins": np.ones(n + 1, np.int64),
            "left": np.zeros((1, m), np.int64),
            "share": np.array([one.law]),
        }

    def bags(k: int) -> list[tuple[int, ...]]:
        return [tuple(c.count(t) for t in range(m)) for c in combinations_with_replacement(range(m), k)]

    queues = [bag for u in range(n + 1) for bag in bags(one.queue + u)]
    number = {bag: i for i, bag in enumerate(queues)}
    new = [bags(u) for u in range(n + 1)]
    joined = np.zeros((len(queues), n + 1, max(map(len, new))), np.int64)
    join_chance = np.zeros(joined.shape)
    left = np.full((len(queues), m), -1)
    for i, bag in enumerate(queues):
        for t in range(m):
            less = tuple(c - (t == j) for j, c in enumerate(bag))
            left[i, t] = number.get(less, -1)
        if sum(bag) == one.queue:
            for u in range(n + 1):
                for j, more in enumerate(new[u]):
                    joined[i, u, j] = number[tuple(map(sum, zip(bag, more, strict=True)))]
                    ways = factorial(u) / prod(map(factorial, more))
                    join_chance[i, u, j] = ways * prod(f**c for f, c in zip(one.law, more, strict=True))
    return {
        "queues": queues,
        "joined": joined,
        "join_chance": join_chance,
        "joins": np.array(list(map(len, new)), np.int64),
        "left": left,
        "share": np.array([[c / max(1, sum(bag)) for c in bag] for bag in queues]),
    }
