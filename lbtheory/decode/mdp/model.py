"""The saturated decode system as a Markov decision process, states up to exchange of slots and workers.

A slot holds the workload ``w`` of its request, capped at ``N``. An iteration: chance removes each request with probability
``p`` and the others gain a token; the decision fills every empty slot; the cost is ``I = G max_g L_g − Σ_g L_g``. Supply is
*rich* (every size can always be had) or a *finite* queue: after admission exactly ``R`` requests wait, and each departure
brings one arrival from the size law.

*Known lives.* With ``look = H ≥ 1`` a slot also shows ``min(r, H+1)``, ``r`` the iterations that its request still has, from
the iteration after its admission on; by the geometric law ``r`` of a request just admitted is unknown when it is placed.

*The cap.* The capped system is the true one seen through capped workloads: ``min(min(w,N)+1, N) = min(w+1, N)``. With
``e_g = Σ (w − N)_+`` the same actions cost ``−Σ_g e_g ≤ I − I_N ≤ (G−1) Σ_g e_g``, and ``w ≤ s + A_*``, ``P(A_* ≥ a) = q^a``,
so

    ``g_N − n t ≤ g ≤ g_N + (G−1) n t``,   ``t = q^{N−s+1}/p``,   ``n = G B``,

for the optimum, and for every rule that sees capped workloads. Source: ours, proved.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise
from math import factorial, prod
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, readonly, whole_number

STATE_LIMIT = 40_000_000
"""Largest number of outcomes and of fills that is stored, each (about 1 GB a piece)."""


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
class Model:
    """All states that can be met, with what chance and admissions make of them.

    Attributes
    ----------
    system : System
    after, before : int arrays (Y,), (X,)
        Codes of the states after admission, and of those with empty slots before it.
    loads : int array (Y, G)
        Loads after admission; with known lives the projected ones are in ``projected`` (Y, H+1, G).
    cost : float array (Y,)
        ``I``.
    start, to, weight : arrays (Y+1,), (T,), (T,)
        Chance: state ``y`` goes to ``to[start[y]:start[y+1]]`` with these probabilities.
    act, result, first : arrays (X+1,), (F,), (F,)
        Fills: state ``x`` can become ``result[act[x]:act[x+1]]``, under first-come admission with probabilities ``first``.
    """

    system: System
    after: np.ndarray
    before: np.ndarray
    loads: np.ndarray
    projected: np.ndarray
    cost: np.ndarray
    start: np.ndarray
    to: np.ndarray
    weight: np.ndarray
    act: np.ndarray
    result: np.ndarray
    first: np.ndarray

    def slots_of(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Symbols (n, G, B) and queue numbers (n,) of coded states."""
        rules = _rules(self.system)
        rows = np.empty((len(codes), self.system.workers, self.system.slots), np.int64)
        _decode_all(codes, rules.empty, len(rules.queues), rows)
        queue = codes % len(rules.queues)
        return rows, queue

    def workload(self, symbol: int) -> int:
        """Workload of a slot, 0 when it is empty."""
        rules = _rules(self.system)
        return 0 if symbol == rules.empty else int(rules.load[symbol])

    def waiting(self, queue: int) -> tuple[int, ...]:
        """Size classes in a finite queue, as counts."""
        return _rules(self.system).queues[queue]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
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
    if not 0 < p < 1:
        raise ParameterError(f"`p` of `system` must be in (0, 1); got {p}.")
    if not sizes or any(a >= b for a, b in pairwise(sizes)) or sizes[0] < 1:
        raise ParameterError(f"`sizes` of `system` must be ascending whole numbers ≥ 1; got {tuple(sizes)}.")
    weights = [1 / len(sizes)] * len(sizes) if law is None else [float(v) for v in law]
    if len(weights) != len(sizes) or min(weights) <= 0 or abs(sum(weights) - 1) > 1e-12:
        raise ParameterError(f"`law` of `system` must be {len(sizes)} positive numbers with sum 1; got {law}.")
    if cap < sizes[-1]:
        raise ParameterError(f"`cap` of `system` must be at least the largest size {sizes[-1]}; got {cap}.")
    if queue is not None:
        whole_number("queue", "system", queue, 0)
    made = System(
        workers=workers,
        slots=slots,
        p=float(p),
        sizes=tuple(sizes),
        law=tuple(weights),
        cap=int(cap),
        queue=queue,
        look=look,
    )
    rules = _rules(made)
    if (rules.empty + 1) ** (workers * slots) * len(rules.queues) >= 2**62:
        raise ParameterError(f"`cap` of `system` must be smaller: states of {workers * slots} slots would pass 62 bits.")
    return made


def _rules(one: System) -> _Rules:
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
    return _Rules(
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


def build(one: System) -> Model:
    """All states met from a start with the smallest size in every slot.

    Raises
    ------
    ParameterError
        When there are too many.
    """
    from lbtheory.decode.mdp import _states

    rules, shape = _rules(one), (one.workers, one.slots)
    queues = len(rules.queues)
    rows = np.full(shape, int(rules.fresh[0]))
    first = next((i for i, bag in enumerate(rules.queues) if sum(bag) == (one.queue or 0)), 0)
    after = frontier = np.array([_states.encode(rows, rules.empty, first, queues)])
    before = np.zeros(0, np.int64)
    while len(frontier):
        _, to, _ = _outcomes(one, rules, frontier)
        fresh = np.setdiff1d(to, before)
        before = np.union1d(before, fresh)
        _, result, _ = _fills(one, rules, fresh)
        frontier = np.setdiff1d(result, after)
        after = np.union1d(after, frontier)
    start, to, weight = _outcomes(one, rules, after)
    act, result, law = _fills(one, rules, before)
    symbols = np.empty((len(after), *shape), np.int64)
    _decode_all(after, rules.empty, queues, symbols)
    projected = np.empty((len(after), one.look + 1, one.workers), np.int64)
    for h in range(one.look + 1):
        here = (rules.life[symbols] == 0) | (rules.life[symbols] > h)
        projected[:, h] = ((rules.load[symbols] + h) * here).sum(axis=2)
    loads = projected[:, 0]
    return Model(
        system=one,
        after=readonly(after),
        before=readonly(before),
        loads=readonly(loads),
        projected=readonly(projected),
        cost=readonly((one.workers * loads.max(axis=1) - loads.sum(axis=1)).astype(float)),
        start=readonly(start),
        to=readonly(np.searchsorted(before, to)),
        weight=readonly(weight),
        act=readonly(act),
        result=readonly(np.searchsorted(after, result)),
        first=readonly(law),
    )


def _decode_all(codes: np.ndarray, empty: int, queues: int, symbols: np.ndarray) -> None:
    rest = codes // queues
    flat = symbols.reshape(len(codes), -1)
    for k in range(flat.shape[1] - 1, -1, -1):
        flat[:, k] = rest % (empty + 1)
        rest //= empty + 1


def _outcomes(one: System, rules: _Rules, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from lbtheory.decode.mdp import _states

    shape, queues = (one.workers, one.slots), len(rules.queues)
    many = _states.count_chances(codes, shape, rules.next_symbol, rules.outcomes, queues, rules.joins)
    start = _starts(many)
    to, weight = np.empty(start[-1], np.int64), np.empty(start[-1])
    _states.chances(
        codes, shape, rules.next_symbol, rules.chance, rules.outcomes, rules.joined, rules.join_chance, rules.joins,
        start, to, weight,
    )  # fmt: skip
    return start, to, weight


def _fills(one: System, rules: _Rules, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from lbtheory.decode.mdp import _states

    shape = (one.workers, one.slots)
    none = np.zeros(0, np.int64)
    many = _states.fills(codes, shape, rules.empty, rules.fresh, rules.share, rules.left, True, none, none, np.zeros(0))
    start = _starts(many)
    to, weight = np.empty(start[-1], np.int64), np.empty(start[-1])
    _states.fills(codes, shape, rules.empty, rules.fresh, rules.share, rules.left, False, start, to, weight)
    return start, to, weight


def _starts(many: np.ndarray) -> np.ndarray:
    start = np.concatenate([[0], np.cumsum(many)]).astype(np.int64)
    if start[-1] > STATE_LIMIT:
        raise ParameterError(
            f"`system` of `build` must be smaller: {start[-1]:,} outcomes or fills, the limit is "
            f"{STATE_LIMIT:,}. Lower the cap."
        )
    return start
