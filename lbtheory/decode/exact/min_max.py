"""Minimise the largest load exactly, ties by imbalance: ``(M, I)`` lexicographically, ``M = max_g L_g`` at offset 0.

It is not the same thing as minimising ``I = G M − Σ_g L_g``, which also wants large requests below the maximum (decode paper,
section 3). How far the largest load alone leaves ``I`` open is seen with ``ties="smallest-total"``: of the assignments with the
least ``M`` the one with the largest ``I``.
"""

from collections.abc import Collection
from fractions import Fraction

import numpy as np

from lbtheory.core import ParameterError, SolverStatus
from lbtheory.decode.exact.enumeration import enumerate_best
from lbtheory.decode.exact.io import check_warm_start, make_search, trivial
from lbtheory.decode.exact.model import Clock, CountModel, Linear, Search
from lbtheory.decode.exact.program import Program, build_program
from lbtheory.decode.exact.result import Solution, no_solution, solution
from lbtheory.decode.instance import Assignment, DecodeInstance

TIES = ("imbalance", "smallest-total")


def solve_min_max(
    instance: DecodeInstance,
    *,
    time_limit: float | None = None,
    warm_start: Assignment | None = None,
    seed: int | np.random.Generator | None = None,
    workers: int = 1,
    must_admit: Collection[int] = frozenset(),
    shortcuts: bool = True,
    ties: str = "imbalance",
) -> Solution:
    """Minimise ``(M, I)`` lexicographically over all maximal assignments, or ``M`` and then the total admitted.

    Parameters
    ----------
    instance : DecodeInstance
        Only offset 0 is used.
    time_limit, warm_start, seed, workers, must_admit, shortcuts
        As for `solve_io`.
    ties : "imbalance" or "smallest-total"
        Second criterion. With the latter ``key`` is ``(M,)`` and ``bound`` that of ``I`` over all assignments.

    Returns
    -------
    Solution
        ``key = (M, I)`` and ``key_bound``; ``objective`` is ``I``, and ``bound`` its lower bound among the assignments with the
        certified ``M`` (over all assignments when ``M`` is not certified).

    Raises
    ------
    ParameterError, InstanceError, SizeOverflowError
    """
    if ties not in TIES:
        raise ParameterError(f"`ties` of `solve_min_max` must be one of {', '.join(TIES)}; got {ties!r}.")
    clock = Clock(time_limit, function="solve_min_max")
    program = build_program(instance.with_horizon(0), must_admit, function="solve_min_max")
    if warm_start is not None:
        check_warm_start(program, warm_start, function="solve_min_max")
    search, _ = make_search(seed, workers, clock, function="solve_min_max")
    if not program.feasible:
        return no_solution("min-max", SolverStatus.INFEASIBLE, seconds=clock.seconds, horizon=0)
    if instance.admissions == 0:
        y = np.zeros((0, len(program.sizes)), dtype=np.int64)
        return _answer(program, trivial(program), _key(program, y), clock, "trivial")
    listed = enumerate_best(program, "min-max") if shortcuts and ties == "imbalance" else None
    if listed is not None:
        return _answer(program, program.assignment(listed[1]), listed[0][:2], clock, "enumeration")
    starts = program.starts() + ([] if warm_start is None else [program.class_counts(warm_start)])
    start = min(starts, key=lambda y: _key(program, y))
    y, bound = _optimise(program, start, search)
    if ties == "smallest-total":
        if not search.clock.over and _key(program, y)[0] == bound[0]:
            y = _smallest_total(program, y, bound[0], search)
        return _answer(program, program.assignment(y), (bound[0], program.range_bound()), clock, "cp-sat", certified=1)
    return _answer(program, program.assignment(y), bound, clock, "cp-sat")


def _optimise(program: Program, y: np.ndarray, search: Search) -> tuple[np.ndarray, tuple[int, int]]:
    """Two solves: the least maximum, then the least imbalance with it.

    Returns class counts and the bound of the (shifted) key.
    """
    low, ranges = program.least_peak(), program.range_bound()
    if _key(program, y)[0] > low:
        if search.clock.over:
            return y, (low, ranges)
        model = CountModel(program)
        v, constant = model.peak()
        model.hint(y)
        found = model.minimise(Linear([v], [1], constant), search)
        low = low if found.bound is None else max(low, found.bound)
        y = y if found.y is None else min(y, found.y, key=lambda z: _key(program, z))
    if _key(program, y)[0] > low or search.clock.over:
        return y, (low, ranges)
    model = CountModel(program)
    peak = model.peak()
    model.at_most(Linear([peak[0]], [1], peak[1]), low)
    terms = model.imbalance(peak)
    model.hint(y)
    found = model.minimise(terms, search)
    y = y if found.y is None else min(y, found.y, key=lambda z: _key(program, z))
    return y, (low, ranges if found.bound is None else max(ranges, found.bound))


def _smallest_total(program: Program, y: np.ndarray, peak: int, search: Search) -> np.ndarray:
    """Of the assignments whose largest (shifted) load is ``peak``, class counts of one with the smallest total."""
    model = CountModel(program)
    v, constant = model.peak()
    model.at_most(Linear([v], [1], constant), peak)
    model.hint(y)
    found = model.minimise(Linear(list(model.x), [1] * len(model.x)), search)
    return y if found.y is None else found.y


def _key(program: Program, y: np.ndarray) -> tuple[int, int]:
    """``(M, I)`` of shifted loads."""
    return max(program.loads(y)), program.imbalances(y)[0]


def _answer(
    program: Program, assignment: Assignment | None, bound: tuple[int, ...], clock: Clock, method: str, *, certified: int = 2
) -> Solution:
    """Shift the key back to true loads; only its first ``certified`` parts are claimed."""
    assert assignment is not None
    shift = int(program.instance.loads.min())
    key = _key(program, program.class_counts(assignment))
    return solution(
        program.instance,
        assignment,
        policy="min-max",
        bound=Fraction(bound[1]),
        seconds=clock.seconds,
        key=(key[0] + shift, key[1])[:certified],
        key_bound=(bound[0] + shift, bound[1])[:certified],
        method=method,
    )
