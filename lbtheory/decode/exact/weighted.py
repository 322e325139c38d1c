"""IO_H with penalties on who is left waiting: balance and priorities in one program (ours).

    minimise ``Σ_h γ^h I_h + Σ_i π_i (1 − z_i)``,   ``z_i = Σ_g y_{ig}``,   over all maximal assignments,

with ``π_i ≥ 0`` tokens, for example a tenant's weight times the iterations that the request has waited. A hard cap comes
beside it as requests that must be admitted.

The class-count form stays exact (proved): requests of one size differ only in ``π_i``, so with ``n_t`` of size ``t`` admitted
those that must go come first, then the largest ``π_i``. The program needs one more binary a request,
``Σ_{i of size t} z_i = Σ_g y_{g,t}``. Where the queue does not cover the free slots every request is admitted, the penalty is
0 whatever is done, and the program is that of IO_H.
"""

from fractions import Fraction

import numpy as np

from lbtheory.core import ParameterError, SolverStatus
from lbtheory.decode.exact.model import CountModel, Search
from lbtheory.decode.exact.program import Program, first_come
from lbtheory.decode.exact.result import Solution, no_solution, solution
from lbtheory.decode.exact.weights import magnitude, scaled_weights
from lbtheory.decode.instance import TOTAL_LIMIT, Assignment, objective

GRID_LIMIT = 30_000
"""Largest number of assignments (times offsets) that are all tried; a few milliseconds."""


def solve_with_priorities(
    program: Program, warm_start: Assignment | None, search: Search, *, shortcuts: bool = True
) -> Solution:
    """IO_H of an instance that `DecodeInstance.has_priorities`: every assignment where they are few, else CP-SAT.

    Raises
    ------
    ParameterError
        The instance also has lives that end inside the window.
    SizeOverflowError
    """
    instance, clock = program.instance, search.clock
    if instance.lives is not None and int(instance.lives.min()) <= instance.horizon:
        raise ParameterError(
            "`priorities` of `solve_io` must come without lives that end in the window. Leave one of them out."
        )
    if not program.feasible:
        return no_solution("io", SolverStatus.INFEASIBLE, seconds=clock.seconds, horizon=instance.horizon)
    if instance.admissions == 0:
        nothing = Assignment(workers=tuple(() for _ in range(instance.workers)))
        value = objective(instance, nothing)
        return solution(instance, nothing, policy="io", bound=value, seconds=clock.seconds, method="trivial")
    many = len(instance.waiting) ** instance.admissions * program.offsets if instance.admissions <= 16 else GRID_LIMIT + 1
    if shortcuts and many <= GRID_LIMIT:
        best = _try_all(program)
        value = objective(instance, best)
        return solution(instance, best, policy="io", bound=value, seconds=clock.seconds, method="enumeration")
    return _solve(program, warm_start, search)


def _try_all(program: Program) -> Assignment:
    """The best assignment by trying all: a slot a dimension, a waiting request an index; ties: the first in that order."""
    instance, r = program.instance, len(program.instance.waiting)
    assert instance.priorities is not None
    owner = [f for f, slots in enumerate(program.slots) for _ in range(slots)]
    picks = [part.ravel() for part in np.indices((r,) * len(owner))]
    allowed = np.ones(len(picks[0]), bool)
    for a in range(len(owner)):
        for b in range(a + 1, len(owner)):
            allowed &= picks[a] < picks[b] if owner[a] == owner[b] else picks[a] != picks[b]
    for i in _forced(program):
        allowed &= np.any([pick == i for pick in picks], axis=0)
    picks = [pick[allowed] for pick in picks]
    sizes = [instance.waiting[pick] for pick in picks]
    saved = sum(instance.priorities[pick] for pick in picks)
    gamma, step = instance.gamma, instance.gamma.denominator ** (program.offsets - 1)
    kind = object if program.offsets * step * TOTAL_LIMIT >= 2**63 else np.int64  # exact whatever γ
    value = -np.asarray(saved, kind) * step
    added = [sum(s for s, o in zip(sizes, owner, strict=True) if o == f) for f in range(len(program.open))]
    for h in range(program.offsets):
        loads = [load + new for load, new in zip(program.base[:, h], added, strict=True)]
        rows = np.array([*loads, *(np.full(len(picks[0]), v) for v in program.full[:, h])])
        value = value + (instance.workers * rows.max(axis=0) - rows.sum(axis=0)).astype(kind) * int(gamma**h * step)
    best = int(np.argmin(value))
    chosen: list[list[int]] = [[] for _ in range(instance.workers)]
    for pick, f in zip(picks, owner, strict=True):
        chosen[program.open[f]].append(int(pick[best]))
    return Assignment(workers=tuple(tuple(sorted(c)) for c in chosen))


def _forced(program: Program) -> list[int]:
    """The requests that must be admitted."""
    return [i for t, members in enumerate(program.members) for i in members[: int(program.forced[t])]]


def _solve(program: Program, warm_start: Assignment | None, search: Search) -> Solution:
    """CP-SAT on class counts and a binary a request; the answer is never worse than the best start."""
    instance, clock = program.instance, search.clock
    assert instance.priorities is not None
    costs, total = instance.priorities, int(instance.priorities.sum())
    sums = [magnitude(program, h) for h in range(program.offsets)]
    weights = scaled_weights(instance.gamma, [sums[0] + total, *sums[1:]], function="solve_io")
    starts = [program.greedy(first_come(program)), program.greedy(_dearest(program))]
    known = [_with_dearest(program, y) for y in starts] + ([] if warm_start is None else [warm_start])
    start = min(known, key=lambda a: objective(instance, a))
    model = CountModel(program)
    terms = model.discounted(weights)
    left: list[tuple[int, object]] = []
    for t, members in enumerate(program.members):
        admitted = [model.model.new_int_var(int(k < program.forced[t]), 1, "") for k in range(len(members))]
        model.model.add(sum(admitted) == sum(row[t] for row in model.y))
        left += zip(members, admitted, strict=True)
    terms.add([z for _, z in left], [-weights.scale * int(costs[i]) for i, _ in left])
    terms.constant += weights.scale * total
    model.hint(program.class_counts(start))
    found = model.minimise(terms, search)
    best = start
    if found.y is not None:
        best = min(start, _with_dearest(program, found.y), key=lambda a: objective(instance, a))
    bound = Fraction(0) if found.bound is None else max(Fraction(0), weights.true_bound(found.bound))
    if found.status is SolverStatus.OPTIMAL and weights.exact:
        bound = objective(instance, best)
    return solution(instance, best, policy="io", bound=bound, seconds=clock.seconds)


def _dearest(program: Program) -> list[int]:
    """The requests that must be admitted, then those of largest priority, as many as fit."""
    costs = program.instance.priorities
    assert costs is not None
    must = _forced(program)
    rest = sorted(set(range(len(costs))) - set(must), key=lambda i: (-int(costs[i]), i))
    return must + rest[: program.instance.admissions - len(must)]


def _with_dearest(program: Program, y: np.ndarray) -> Assignment:
    """An assignment of the class counts ``y`` that admits, of each size, what must go and then the largest priorities."""
    costs = program.instance.priorities
    assert costs is not None
    chosen: list[list[int]] = [[] for _ in range(program.instance.workers)]
    for t, members in enumerate(program.members):
        must = int(program.forced[t])
        order = [*members[:must], *sorted(members[must:], key=lambda i: (-int(costs[i]), i))]
        going = iter(sorted(order[: int(y[:, t].sum())]))
        for f, g in enumerate(program.open):
            chosen[g].extend(next(going) for _ in range(int(y[f, t])))
    return Assignment(workers=tuple(tuple(sorted(c)) for c in chosen))
