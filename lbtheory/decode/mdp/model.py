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

*Storage.* Chance leads from each state to up to ``2^n`` others: a 32-bit place and the 16-bit number of a probability each, in
a table of the few that there are. Tables are filled piece by piece, so that building one takes little more than the table.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from lbtheory.core import ParameterError, readonly
from lbtheory.decode.mdp.symbols import Rules, System, rules_of

MEMORY = 4_000_000_000
"""Bytes that the tables and the vectors of a solve may take."""

PIECE = 2_000_000
"""Outcomes or fills that are made at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """All states that can be met, with what chance and admissions make of them.

    Attributes
    ----------
    system : System
    after, before : int arrays (Y,), (X,)
        Codes of the states after admission, and of those before it (most of them without an empty slot).
    loads : int32 array (Y, G)
        Loads after admission; with known lives the projected ones are in ``projected`` (Y, H+1, G).
    cost : int32 array (Y,)
        ``I``.
    start, to, odds : arrays (Y+1,), (T,), (T,)
        Chance: state ``y`` goes to ``to[start[y]:start[y+1]]`` with the probabilities ``table[odds[…]]``. Of the outcomes of a
        state the last is that no request leaves, unless lives are known.
    act, result, drawn : arrays (X+1,), (F,), (F,)
        Fills: state ``x`` can become ``result[act[x]:act[x+1]]``, under first-come admission with probabilities
        ``table[drawn[…]]``.
    table : float array
        Probabilities.
    """

    system: System
    after: np.ndarray
    before: np.ndarray
    loads: np.ndarray
    projected: np.ndarray
    cost: np.ndarray
    start: np.ndarray
    to: np.ndarray
    odds: np.ndarray
    act: np.ndarray
    result: np.ndarray
    drawn: np.ndarray
    table: np.ndarray

    @property
    def weight(self) -> np.ndarray:
        """Probabilities of the outcomes, float array (T,)."""
        return np.asarray(self.table[self.odds])

    @property
    def first(self) -> np.ndarray:
        """Probabilities of the fills under first-come admission, float array (F,)."""
        return np.asarray(self.table[self.drawn])

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays (``loads`` is part of ``projected``)."""
        arrays = (self.after, self.before, self.projected, self.cost, self.start, self.to, self.odds)
        return sum(a.nbytes for a in (*arrays, self.act, self.result, self.drawn, self.table))

    def slots_of(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Symbols (n, G, B) and queue numbers (n,) of coded states."""
        rules = rules_of(self.system)
        return _decoded(self.system, rules, codes), codes % len(rules.queues)

    def workload(self, symbol: int) -> int:
        """Workload of a slot, 0 when it is empty."""
        rules = rules_of(self.system)
        return 0 if symbol == rules.empty else int(rules.load[symbol])

    def waiting(self, queue: int) -> tuple[int, ...]:
        """Size classes in a finite queue, as counts."""
        return rules_of(self.system).queues[queue]


def build(one: System) -> Model:
    """All states met from a start with the smallest size in every slot.

    Raises
    ------
    ParameterError
        When there are too many for `MEMORY`.
    """
    rules, least = rules_of(one), least_states(one)
    _check_memory(least, 0, least if one.look else least << (one.workers * one.slots), 0)
    after, before = _reachable(one, rules)
    start, act = _starts(_outcome_counts(one, rules, after)), _starts(_fill_counts(one, rules, before))
    _check_memory(len(after), len(before), int(start[-1]), int(act[-1]))
    known: dict[float, int] = {}
    to, odds = _filled(_outcomes(one, rules, after), before, int(start[-1]), known)
    result, drawn = _filled(_fills(one, rules, before), after, int(act[-1]), known)
    loads, projected, cost = _costs(one, rules, after)
    return Model(
        system=one,
        after=readonly(after),
        before=readonly(before),
        loads=readonly(loads),
        projected=readonly(projected),
        cost=readonly(cost),
        start=readonly(start),
        to=readonly(to),
        odds=readonly(odds),
        act=readonly(act),
        result=readonly(result),
        drawn=readonly(drawn),
        table=readonly(np.array(list(known))),
    )


def least_states(one: System) -> int:
    """How many states after admission there are, without lives: all multisets of workers, each a multiset of workloads, with
    all queues. Every one is met: each slot admits the smallest size at the right time. With known lives there are more."""
    workers = comb(one.cap - one.sizes[0] + one.slots, one.slots)
    queues = 1 if one.queue is None else comb(len(one.sizes) + one.queue - 1, one.queue)
    return comb(workers + one.workers - 1, one.workers) * queues


def _reachable(one: System, rules: Rules) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the states after and before admission, ascending."""
    from lbtheory.decode.mdp import _states

    rows = np.full((one.workers, one.slots), int(rules.fresh[0]))
    first = next((i for i, bag in enumerate(rules.queues) if sum(bag) == (one.queue or 0)), 0)
    after = frontier = np.array([_states.encode(rows, rules.empty, first, len(rules.queues), np.empty(one.workers, np.int64))])
    before = np.zeros(0, np.int64)
    while len(frontier):
        fresh = _new(_outcomes(one, rules, frontier), before)
        before = _merged(before, fresh)
        frontier = _new(_fills(one, rules, fresh), after)
        after = _merged(after, frontier)
        _check_memory(len(after), len(before), len(after), len(before))
    return after, before


def _new(pieces: Iterator[tuple[np.ndarray, np.ndarray]], known: np.ndarray) -> np.ndarray:
    """Codes among the pieces that are not known, ascending."""
    found = np.zeros(0, np.int64)
    for codes, _ in pieces:
        some = np.unique(codes)
        place = np.minimum(np.searchsorted(known, some), max(0, len(known) - 1))
        some = some[known[place] != some] if len(known) else some
        found = np.union1d(found, some)
    return found


def _merged(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Two ascending arrays as one (a stable sort merges runs in linear time)."""
    return np.sort(np.concatenate((left, right)), kind="stable")


def _filled(
    pieces: Iterator[tuple[np.ndarray, np.ndarray]], codes: np.ndarray, many: int, known: dict[float, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Places among ``codes``, int32 (many,), and numbers of the probabilities in ``known``, uint16 (many,)."""
    to, odds, at = np.empty(many, np.int32), np.empty(many, np.uint16), 0
    for found, weight in pieces:
        values, inverse = np.unique(weight, return_inverse=True)
        numbers = np.array([known.setdefault(float(v), len(known)) for v in values])
        if len(known) > 2**16:
            raise ParameterError("`system` of `build` must have fewer different probabilities; got more than 65,536.")
        to[at : at + len(found)] = np.searchsorted(codes, found)
        odds[at : at + len(found)] = numbers[inverse]
        at += len(found)
    return to, odds


def _costs(one: System, rules: Rules, after: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Loads (Y, G), projected loads (Y, H+1, G), ``I`` (Y,), all int32."""
    projected = np.empty((len(after), one.look + 1, one.workers), np.int32)
    for first in range(0, len(after), PIECE // 4):
        piece = slice(first, first + PIECE // 4)
        symbols = _decoded(one, rules, after[piece])
        for h in range(one.look + 1):
            here = (rules.life[symbols] == 0) | (rules.life[symbols] > h)
            projected[piece, h] = ((rules.load[symbols] + h) * here).sum(axis=2)
    loads = projected[:, 0]
    return loads, projected, one.workers * loads.max(axis=1) - loads.sum(axis=1, dtype=np.int32)


def _decoded(one: System, rules: Rules, codes: np.ndarray) -> np.ndarray:
    """Symbols (n, G, B)."""
    symbols = np.empty((len(codes), one.workers, one.slots), np.int64)
    rest, flat = codes // len(rules.queues), symbols.reshape(len(codes), one.workers * one.slots)
    for k in range(flat.shape[1] - 1, -1, -1):
        flat[:, k] = rest % (rules.empty + 1)
        rest //= rules.empty + 1
    return symbols


def _pieces(codes: np.ndarray, many: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Codes with the places of what they lead to, about `PIECE` places at a time."""
    start = _starts(many)
    ends = np.unique(np.append(np.searchsorted(start, np.arange(PIECE, start[-1], PIECE)), len(codes)))
    first = 0
    for last in ends[ends > 0]:
        yield codes[first:last], start[first : last + 1] - start[first]
        first = last


def _outcome_counts(one: System, rules: Rules, codes: np.ndarray) -> np.ndarray:
    from lbtheory.decode.mdp import _states

    shape = (one.workers, one.slots)
    return _states.count_chances(codes, shape, rules.next_symbol, rules.outcomes, len(rules.queues), rules.joins)


def _outcomes(one: System, rules: Rules, codes: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Codes and probabilities of what chance makes of states, in pieces."""
    from lbtheory.decode.mdp import _states

    for some, start in _pieces(codes, _outcome_counts(one, rules, codes)):
        to, weight = np.empty(start[-1], np.int64), np.empty(start[-1])
        _states.chances(
            some, (one.workers, one.slots), rules.next_symbol, rules.chance, rules.outcomes, rules.joined, rules.join_chance,
            rules.joins, start, to, weight,
        )  # fmt: skip
        yield to, weight


def _fill_counts(one: System, rules: Rules, codes: np.ndarray) -> np.ndarray:
    from lbtheory.decode.mdp import _states

    none, shape = np.zeros(0, np.int64), (one.workers, one.slots)
    return _states.fills(codes, shape, rules.empty, rules.fresh, rules.share, rules.left, True, none, none, np.zeros(0))


def _fills(one: System, rules: Rules, codes: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Codes of what admissions make of states, with their probabilities under first-come admission, in pieces."""
    from lbtheory.decode.mdp import _states

    for some, start in _pieces(codes, _fill_counts(one, rules, codes)):
        to, weight = np.empty(start[-1], np.int64), np.empty(start[-1])
        shape = (one.workers, one.slots)
        _states.fills(some, shape, rules.empty, rules.fresh, rules.share, rules.left, False, start, to, weight)
        yield to, weight


def _starts(many: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(many)]).astype(np.int64)


def _check_memory(after: int, before: int, outcomes: int, fills: int) -> None:
    """Codes, starts, loads, costs and three vectors a state; six bytes an outcome, 40 a fill while rules are made."""
    need = 48 * after + 24 * before + 6 * outcomes + 40 * fills
    if need > MEMORY:
        raise ParameterError(
            f"`system` of `build` must be smaller: {after:,} states and {outcomes:,} outcomes take at least "
            f"{need / 1e9:.1f} GB; the limit is {MEMORY / 1e9:.1f} GB. Lower the cap."
        )
