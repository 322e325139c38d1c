"""SpreadLex (ours): minimise ``(D, N_max, I)`` lexicographically at offset 0.

``D = max_g L_g − min_g L_g``, ``N_max`` the number of workers at the maximum, ``I = G max_g L_g − Σ_g L_g``. It is the
comparator in the proof of the decode theorem, run as a policy.
"""

from collections.abc import Collection
from fractions import Fraction
from typing import Any

import numpy as np

from lbtheory.core import SolverStatus
from lbtheory.decode.exact.enumeration import enumerate_best
from lbtheory.decode.exact.io import check_warm_start, make_search, trivial
from lbtheory.decode.exact.model import Clock, CountModel, Linear, Outcome, Search
from lbtheory.decode.exact.program import Program, build_program
from lbtheory.decode.exact.result import Solution, no_solution, solution
from lbtheory.decode.exact.zero import applies, special_io, special_spread
from lbtheory.decode.instance import Assignment, DecodeInstance

Key = tuple[int, int, int]


def solve_spread_lex(
    instance: DecodeInstance,
    *,
    time_limit: float | None = None,
    warm_start: Assignment | None = None,
    seed: int | np.random.Generator | None = None,
    workers: int = 1,
    must_admit: Collection[int] = frozenset(),
    shortcuts: bool = True,
) -> Solution:
    """Minimise ``(D, N_max, I)`` lexicographically over all maximal assignments.

    Parameters
    ----------
    instance : DecodeInstance
        Only offset 0 is used.
    time_limit, warm_start, seed, workers, must_admit, shortcuts
        As for `solve_io`.

    Returns
    -------
    Solution
        ``key = (D, N_max, I)`` and ``key_bound``; ``objective`` is ``I``, and ``bound`` its lower bound among the assignments
        with the certified ``(D, N_max)`` (over all assignments when those are not certified).

    Raises
    ------
    ParameterError, InstanceError, SizeOverflowError
    """
    clock = Clock(time_limit, function="solve_spread_lex")
    program = build_program(instance.with_horizon(0), must_admit, function="solve_spread_lex")
    if warm_start is not None:
        check_warm_start(program, warm_start, function="solve_spread_lex")
    search, _ = make_search(seed, workers, clock, function="solve_spread_lex")
    if not program.feasible:
        return no_solution("spread-lex", SolverStatus.INFEASIBLE, seconds=clock.seconds, horizon=0)
    settled = trivial(program)
    if settled is not None:
        return _answer(program, settled, _key(program, program.class_counts(settled)), clock, "trivial")
    special = special_spread(program, seed=search.seed) if shortcuts and applies(program) else None
    if special is not None:
        return _answer(program, program.assignment(special[1]), special[0], clock, special[2])
    listed = enumerate_best(program, "spread-lex") if shortcuts else None
    if listed is not None:
        return _answer(program, program.assignment(listed[1]), listed[0], clock, "enumeration")
    starts = program.starts() + ([] if warm_start is None else [program.class_counts(warm_start)])
    if shortcuts and applies(program) and not clock.over:  # IO_0's answer is often close, and is best where all loads are equal
        starts.append(special_io(program, seed=search.seed).counts)
    start = min(starts, key=lambda y: _key(program, y))
    y, bound = _optimise(program, start, search)
    return _answer(program, program.assignment(y), bound, clock, "cp-sat")


def _optimise(program: Program, y: np.ndarray, search: Search) -> tuple[np.ndarray, Key]:
    """Three solves, each with the earlier parts of the key fixed. Returns class counts and the bound of the key.

    Equal loads, ``D = 0``, are best: ``N_max = G`` and ``I = 0`` follow.
    """
    bound = [_spread_bound(program), 1, program.range_bound()]
    for part in range(3):
        key = _key(program, y)
        if key[0] == 0:
            return y, key
        if key[part] > bound[part] or part == 2:
            if search.clock.over:
                break
            found = _solve_part(program, y, part, key, search)
            if found.bound is not None:
                bound[part] = max(bound[part], found.bound)
            if found.y is not None:
                y = min(y, found.y, key=lambda z: _key(program, z))
        if _key(program, y)[part] > bound[part]:
            break
    return y, (bound[0], bound[1], bound[2])


def _solve_part(program: Program, y: np.ndarray, part: int, key: Key, search: Search) -> Outcome:
    """Minimise ``D``, ``N_max`` at the least ``D``, or ``I`` at the least of both."""
    model = CountModel(program)
    peak = model.peak()
    spread = _spread(model, peak)
    objective = spread
    if part > 0:
        model.at_most(spread, key[0])
        objective = _number_at_peak(model, peak)
    if part > 1:
        model.at_most(objective, key[1])
        objective = model.imbalance(peak)
    model.hint(y)
    return model.minimise(objective, search)


def _spread(model: CountModel, peak: tuple[Any, int]) -> Linear:
    """``max − min`` of the loads, as a variable maximum less a variable minimum."""
    program = model.program
    low = min([*(int(v) for v in program.full[:, 0]), *(program.least(f) for f in range(len(program.open)))])
    high = min([*(int(v) for v in program.full[:, 0]), *(program.most(f) for f in range(len(program.open)))])
    floor = model.model.new_int_var(0, high - low, "")
    for f in range(len(program.open)):
        load = model.load(f)
        load.add([floor], [-1])
        model.at_least(load, low)
    spread = Linear([peak[0], floor], [1, -1], peak[1] - low)
    model.at_least(spread, _spread_bound(program))
    return spread


def _number_at_peak(model: CountModel, peak: tuple[Any, int]) -> Linear:
    """``N_max``: a worker counts unless its load is at most the maximum less one."""
    program = model.program
    count = Linear()
    full = [int(v) for v in program.full[:, 0]]
    rows = [(model.load(f), 1) for f in range(len(program.open))]
    if full:
        rows.append((Linear(constant=max(full)), full.count(max(full))))
    for load, many in rows:
        here = model.model.new_bool_var("")
        load.add([peak[0]], [-1])
        model.at_most_unless(load, peak[1] - 1, here)
        count.add([here], [many])
    model.at_least(count, 1)
    return count


def _spread_bound(program: Program) -> int:
    """Lower bound of ``D`` from the ranges of the loads."""
    most = min([*(int(v) for v in program.full[:, 0]), *(program.most(f) for f in range(len(program.open)))])
    return max(0, program.least_peak() - most)


def _key(program: Program, y: np.ndarray) -> Key:
    loads = program.loads(y)
    return max(loads) - min(loads), loads.count(max(loads)), program.imbalances(y)[0]


def _answer(program: Program, assignment: Assignment, bound: Key, clock: Clock, method: str) -> Solution:
    return solution(
        program.instance,
        assignment,
        policy="spread-lex",
        bound=Fraction(bound[2]),
        seconds=clock.seconds,
        key=_key(program, program.class_counts(assignment)),
        key_bound=bound,
        method=method,
    )
