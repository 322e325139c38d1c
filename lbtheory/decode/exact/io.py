"""Exact IO_H: minimise ``Σ_{h=0..H} γ^h (G max_g L_{g,h} − Σ_g L_{g,h})`` over all maximal assignments.

Source: decode paper, section 3; the class-count form and what is proved around the solver are ours.
"""

from collections.abc import Collection
from fractions import Fraction
from math import ceil

import numpy as np

from lbtheory.core import InstanceError, ParameterError, SolverStatus, UnknownNameError
from lbtheory.decode.exact.enumeration import enumerate_best
from lbtheory.decode.exact.lives import solve_with_lives
from lbtheory.decode.exact.model import FORMULATIONS, Clock, CountModel, Search
from lbtheory.decode.exact.near import settle
from lbtheory.decode.exact.place import Placed, leaves_slots, place_all
from lbtheory.decode.exact.program import Program, build_program, first_come
from lbtheory.decode.exact.result import Solution, no_solution, solution
from lbtheory.decode.exact.ties import TIES, break_ties, tie_weights
from lbtheory.decode.exact.weighted import solve_with_priorities
from lbtheory.decode.exact.weights import Weights, integer_weights
from lbtheory.decode.exact.window import applies_to_window, search_window, special_window
from lbtheory.decode.exact.zero import Found, covers, decide_io
from lbtheory.decode.instance import Assignment, DecodeInstance, check_assignment, objective

METHODS = ("special", *FORMULATIONS)


def solve_io(
    instance: DecodeInstance,
    *,
    formulation: str = "special",
    time_limit: float | None = None,
    warm_start: Assignment | None = None,
    tie: str = "lexicographic",
    seed: int | np.random.Generator | None = None,
    workers: int = 1,
    must_admit: Collection[int] = frozenset(),
    shortcuts: bool = True,
) -> Solution:
    """Solve IO_H exactly.

    Parameters
    ----------
    instance : DecodeInstance
        Its horizon is ``H``. Where some waiting request may finish inside the window, and not all are admitted, CP-SAT solves
        the class-count program with a class for each size and life; with priorities see `lbtheory.decode.exact.weighted`; no
        tie rule is then applied.
    formulation : "special", "class-count" or "binary"
        The last two are programs for CP-SAT, with variables a size and worker, or a request and worker. The first tries bounds,
        exact levels and a search of its own, and gives the class-count program what it cannot prove. All have the same optimum.
    time_limit : float, optional
        Seconds; reached, the best assignment known is returned as `SolverStatus.FEASIBLE` with the best bound.
    warm_start : Assignment, optional
        An assignment to start from; the answer is never worse.
    tie : "lexicographic", "smallest-total", "random" or "none"
        Which optimal assignment to return, see `ties`; ``"none"`` is the fastest.
    seed : int or numpy Generator, optional
        For the search and the random tie rule.
    workers : int
        Threads. With one, equal seeds give equal answers; the lexicographic answer does not depend on threads.
    must_admit : collection of int
        Indices into ``waiting`` that must be admitted (an overtaking cap).
    shortcuts : bool
        Use the special method, enumeration and the range bound where they prove the answer; False always asks the solver.

    Returns
    -------
    Solution
        `SolverStatus.INFEASIBLE`, without numbers, when ``must_admit`` does not fit.

    Raises
    ------
    ParameterError, UnknownNameError, InstanceError, SizeOverflowError
    """
    clock = Clock(time_limit, function="solve_io")
    if formulation not in METHODS:
        raise UnknownNameError("formulation", formulation, METHODS)
    if tie not in TIES:
        raise UnknownNameError("tie rule", tie, TIES)
    search, rng = make_search(seed, workers, clock, function="solve_io", random=tie == "random")
    direct = _direct(instance, search, must_admit) if shortcuts and formulation == "special" else None
    if direct is not None and direct.proved and tie == "none" and warm_start is None and not must_admit:
        return solution(
            instance, direct.assignment, policy="io", bound=direct.bound, seconds=clock.seconds, method=direct.method
        )
    program = build_program(instance, must_admit, function="solve_io")
    if warm_start is not None:
        check_warm_start(program, warm_start, function="solve_io")
    if instance.has_priorities:
        return solve_with_priorities(program, warm_start, search, shortcuts=shortcuts)
    if instance.lives_end:
        return solve_with_lives(instance, frozenset(must_admit), warm_start, search, direct)
    if not program.feasible:
        return no_solution("io", SolverStatus.INFEASIBLE, seconds=clock.seconds, horizon=instance.horizon)
    settled = trivial(program)
    if settled is not None:
        rule = tie if instance.admissions == 0 else "fcfs"
        bound = objective(instance, settled)
        return solution(instance, settled, policy="io", bound=bound, seconds=clock.seconds, tie=rule, method="trivial")
    known = None if warm_start is None else program.class_counts(warm_start)
    return _solve(program, direct, known, formulation, tie, tie_weights(program, tie, rng), search, shortcuts)


def _direct(instance: DecodeInstance, search: Search, must: Collection[int]) -> Placed | None:
    """What the special method knows from plain arrays: at offset 0, or where all requests are admitted; None elsewhere."""
    if leaves_slots(instance):
        return place_all(instance, seconds=search.clock.left)
    if must or not covers(instance):
        return None
    found = decide_io(instance.loads, instance.free, instance.waiting, seed=search.seed)
    return Placed(
        assignment=found.assignment(instance.workers),
        value=Fraction(found.value),
        bound=Fraction(found.bound),
        method=found.method,
    )


def _solve(
    program: Program,
    direct: Placed | None,
    warm: np.ndarray | None,
    formulation: str,
    tie: str,
    linear: np.ndarray | None,
    search: Search,
    shortcuts: bool,
) -> Solution:
    """IO_H of a program where there is something to choose: special method, enumeration, CP-SAT, then the tie rule."""
    clock, weights = search.clock, integer_weights(program, function="solve_io")
    special = _special(program, weights, direct, search.seed) if shortcuts and formulation == "special" else None
    if special is not None and special.proved and tie == "none":
        return _answer(program, special.counts, Fraction(special.bound), clock, tie, special.method)
    listed = enumerate_best(program, "io", linear) if shortcuts else None
    if listed is not None:
        return _answer(program, listed[1], Fraction(listed[0][0]), clock, tie, "enumeration")
    if special is not None and special.proved:
        y, bound, method = special.counts, Fraction(special.bound), special.method
    else:
        known = [] if warm is None else [warm]
        known += [] if special is None or special.y is None else [special.y]
        start = min(program.starts() + known, key=lambda y: weights.true_value(program.imbalances(y)))
        y, bound, method = _optimise(
            program,
            weights,
            start,
            search,
            binary=formulation == "binary",
            stop=shortcuts,
            hint=len(known) > 0,
            floor=None if special is None else special.bound,
        )
    proved = bound == weights.true_value(program.imbalances(y))
    if proved and weights.exact:
        y, ruled = break_ties(program, weights, y, tie, linear, search)
    else:
        ruled = False
    return _answer(program, y, bound, clock, tie if ruled else "none", method)


def _special(program: Program, weights: Weights, direct: Placed | None, seed: int) -> Found | None:
    """What the special method knows, None where it does not apply; ``direct`` is what it knows without a program."""
    if direct is not None:
        return Found(y=program.class_counts(direct.assignment), value=direct.value, bound=direct.bound, method=direct.method)
    if not applies_to_window(program):
        return None
    start = min(program.starts(), key=lambda y: weights.true_value(program.imbalances(y)))
    few = search_window(program, start)
    if few is not None and few.proved:
        return few
    wide = special_window(program, seed=seed)
    if few is None or wide is None or wide.proved:
        return few if wide is None else wide
    assert few.value is not None
    best = few if wide.value is None or few.value <= wide.value else wide
    return Found(y=best.y, value=best.value, bound=wide.bound, method="search" if best.value == wide.bound else "start")


def _optimise(
    program: Program,
    weights: Weights,
    start: np.ndarray,
    search: Search,
    *,
    binary: bool,
    stop: bool,
    hint: bool,
    floor: int | Fraction | None,
) -> tuple[np.ndarray, Fraction, str]:
    """Class counts, bound and method: the range bound first, then CP-SAT; the answer is never worse than ``start``.

    ``floor``, a proved bound from the special method, tightens the range bound and goes to the solver as a cut. With ``hint``
    so does the value of ``start``: a greedy one would only slow the solver down.
    """
    ranges = weights.true_value([program.range_bound(h) for h in range(program.offsets)])
    if floor is not None:
        ranges = max(ranges, Fraction(floor))
    value = weights.true_value(program.imbalances(start))
    if (stop and value == ranges) or search.clock.over:
        return start, ranges, "range bound" if value == ranges else "start"
    model = CountModel(program, binary=binary)
    total = model.discounted(weights)
    if hint:
        model.hint(start)
    if floor is not None and weights.exact:
        model.at_least(total, ceil(floor * weights.scale))
        if hint:
            model.at_most(total, weights.value(program.imbalances(start)))
    found = model.minimise(total, search)
    y = start
    if found.y is not None and weights.true_value(program.imbalances(found.y)) <= value:
        y = found.y
    if found.bound is None:
        return y, ranges, "cp-sat"
    if found.status is not SolverStatus.OPTIMAL or found.y is None:
        return y, max(ranges, weights.true_bound(found.bound)), "cp-sat"
    least = weights.value(program.imbalances(found.y))
    if not weights.exact:
        y, proved = settle(program, weights, y, least, search)
        if proved:
            return y, weights.true_value(program.imbalances(y)), "cp-sat"
    return y, max(ranges, weights.true_bound(least)), "cp-sat"


def _answer(program: Program, y: np.ndarray, bound: Fraction, clock: Clock, tie: str, method: str) -> Solution:
    return solution(
        program.instance, program.assignment(y), policy="io", bound=bound, seconds=clock.seconds, tie=tie, method=method
    )


def trivial(program: Program) -> Assignment | None:
    """The answer where there is nothing to choose: no admission, or one worker (``I ≡ 0``: FCFS); None elsewhere."""
    if program.instance.admissions == 0:
        return Assignment(workers=tuple(() for _ in range(program.instance.workers)))
    if program.instance.workers == 1:
        return Assignment(workers=(tuple(first_come(program)),))
    return None


def make_search(
    seed: int | np.random.Generator | None, workers: int, clock: Clock, *, function: str, random: bool = False
) -> tuple[Search, np.random.Generator | None]:
    """Check seed and threads; draw the solver's seed first, so that later draws do not depend on how an answer was found."""
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ParameterError(f"`workers` of `{function}` must be a whole number of threads ≥ 1; got {workers!r}. Use 1.")
    if random and seed is None:
        raise ParameterError(
            f'`seed` of `{function}` must be given for the tie rule "random"; got None. Pass a seed or a Generator.'
        )
    if seed is None:
        return Search(seed=0, workers=workers, clock=clock, function=function), None
    if not isinstance(seed, np.random.Generator) and (
        isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0
    ):
        raise ParameterError(f"`seed` of `{function}` must be a non-negative integer or a numpy Generator; got {seed!r}.")
    rng = seed if isinstance(seed, np.random.Generator) else np.random.default_rng(int(seed))
    return Search(seed=int(rng.integers(2**31 - 1)), workers=workers, clock=clock, function=function), rng


def check_warm_start(program: Program, warm_start: Assignment, *, function: str) -> None:
    """Raise unless the warm start is feasible, maximal, and admits what must be admitted."""
    try:
        check_assignment(program.instance, warm_start)
    except InstanceError as error:
        raise InstanceError(f"`warm_start` of `{function}` must be feasible and maximal: {error}") from None
    if len(program.open) and (program.class_counts(warm_start).sum(axis=0) < program.forced).any():
        raise ParameterError(
            f"`warm_start` of `{function}` must admit every request of `must_admit`. Admit those first, or leave it out."
        )
