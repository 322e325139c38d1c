"""The special method at offset 0: bounds, level hitting and search in compiled code, without a solver.

It asks that the queue covers the free slots and that no request must be admitted; what it cannot prove goes to the solver, with
its best value as a cut. Source: ours.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lbtheory.decode.exact.program import Program
from lbtheory.decode.instance import Assignment, DecodeInstance

ROUNDS = 200
"""Levels that are tried."""
NODES = 200_000
"""Nodes of the search, a few milliseconds."""
WORK = 300_000_000
"""Elementary steps that trying levels may take at most (each level costs about ``R U``), about half a second."""

NAMES = ("start", "bound", "levels", "search", "refined")
"""Methods by the number that the compiled code returns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the special method knows of IO_H.

    Attributes
    ----------
    y : int array (F, n) or None
        Class counts of the best assignment met.
    value : int, Fraction or None
        Its objective.
    bound : int or Fraction
        Proved lower bound of the optimum; the answer is proved where it equals ``value``.
    method : str
        ``"bound"`` (dealt out), ``"levels"`` (exact sums), ``"search"``, ``"refined"`` (groups of workers filled anew until the
        bound was met), ``"window"`` (exact sums, ``H > 0``), or ``"start"`` where it is not proved.
    """

    y: np.ndarray | None
    value: int | Fraction | None
    bound: int | Fraction
    method: str

    @property
    def proved(self) -> bool:
        """Whether value and bound agree."""
        return self.value == self.bound

    @property
    def counts(self) -> np.ndarray:
        """``y`` where it is known to be there."""
        assert self.y is not None
        return self.y


def applies(program: Program) -> bool:
    """Whether the special method covers this program."""
    return program.offsets == 1 and program.filled and len(program.open) > 0 and not program.forced.any()


def effort(waiting: int, admissions: int, rounds: int, nodes: int) -> tuple[int, int]:
    """Rounds and nodes cut for large decisions: a round costs about ``R U`` steps, a node up to ``U``."""
    return min(rounds, max(4, WORK // (waiting * admissions))), min(nodes, max(1_000, 8 * nodes // admissions))


def special_io(program: Program, *, seed: int = 0, rounds: int = ROUNDS, nodes: int = NODES) -> Found:
    """IO_0 of a program that `applies`."""
    from lbtheory.decode.exact import _zero

    base, full = program.base[:, 0], program.full[:, 0]
    rounds, nodes = effort(len(program.instance.waiting), program.instance.admissions, rounds, nodes)
    y = np.zeros((len(program.open), len(program.sizes)), np.int64)
    value, bound, how = _zero.io_zero(
        program.queue,
        program.sizes,
        program.counts,
        np.ascontiguousarray(base),
        np.array(program.slots, np.int64),
        int(full.max()) if len(full) else 0,
        int(base.sum() + full.sum()),
        program.instance.workers,
        seed,
        rounds,
        nodes,
        y,
    )
    return Found(y=y, value=int(value), bound=int(bound), method=NAMES[how])


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """An IO_0 decision in plain arrays.

    Attributes
    ----------
    worker : int array (R,)
        Worker of each waiting request, −1 where it waits on.
    value, bound : int
        ``I`` and its proved lower bound.
    method : str
        As in `Found`.
    """

    worker: np.ndarray
    value: int
    bound: int
    method: str

    @property
    def proved(self) -> bool:
        """Whether value and bound agree."""
        return self.value == self.bound

    def assignment(self, workers: int) -> Assignment:
        """The decision as lists of requests a worker."""
        chosen: list[list[int]] = [[] for _ in range(workers)]
        there = np.flatnonzero(self.worker >= 0)
        for i, g in zip(there.tolist(), self.worker[there].tolist(), strict=True):
            chosen[g].append(i)
        return Assignment(workers=tuple(map(tuple, chosen)))


def covers(instance: DecodeInstance) -> bool:
    """Whether `decide_io` covers this instance (without requests that must be admitted, and without priorities)."""
    plain = instance.horizon == 0 and instance.workers > 1 and not instance.has_priorities
    return plain and 0 < int(instance.free.sum()) <= len(instance.waiting)


def decide_io(
    loads: np.ndarray, free: np.ndarray, waiting: np.ndarray, *, seed: int = 0, rounds: int = ROUNDS, nodes: int = NODES
) -> Decision:
    """IO_0 by the special method alone, for runs of many decisions.

    Parameters
    ----------
    loads, free : int64 arrays (G,)
    waiting : int64 array (R,)
        Release order, ``R ≥ Σ free > 0``. Nothing is checked here: `solve_io` is the checked door.
    seed, rounds, nodes : int
        Of the search for levels, levels tried and nodes visited.

    Returns
    -------
    Decision
    """
    from lbtheory.decode.exact import _zero

    admissions = int(free.sum())
    rounds, nodes = effort(len(waiting), admissions, rounds, nodes)
    worker = np.empty(len(waiting), np.int64)
    order = np.argsort(waiting, kind="stable")
    value, bound, how = _zero.decide(loads, free, waiting, order, seed, rounds, nodes, worker)
    worker.setflags(write=False)
    return Decision(worker=worker, value=int(value), bound=int(bound), method=NAMES[how])


def special_spread(
    program: Program, *, seed: int = 0, rounds: int = ROUNDS, nodes: int = NODES
) -> tuple[tuple[int, int, int], np.ndarray, str] | None:
    """SpreadLex of a program that `applies`: proved key, class counts and method; None where it is not proved."""
    from lbtheory.decode.exact import _spread, _zero

    rounds, nodes = effort(len(program.instance.waiting), program.instance.admissions, rounds, nodes)
    y = np.zeros((len(program.open), len(program.sizes)), np.int64)
    spread, many, value, how = _spread.spread_zero(
        program.queue,
        program.sizes,
        program.counts,
        np.ascontiguousarray(program.base[:, 0]),
        np.array(program.slots, np.int64),
        np.ascontiguousarray(program.full[:, 0]),
        seed,
        rounds,
        nodes,
        y,
    )
    if how == _zero.UNPROVED:
        return None
    name = {_zero.LEVELS: "levels", _spread.COVER: "cover"}.get(how, "search")
    return (int(spread), int(many), int(value)), y, name
