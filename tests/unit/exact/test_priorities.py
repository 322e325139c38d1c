"""IO_H with priorities: every way of solving it equals brute force; caps beside penalties; what is refused."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lbtheory.core import InstanceError, ParameterError, SolverStatus
from lbtheory.decode.exact import solve, solve_io
from lbtheory.decode.instance import Assignment, DecodeInstance, decode_instance, objective, penalty
from tests.reference import exact as oracle


@st.composite
def decisions(draw: st.DrawFn) -> tuple[DecodeInstance, frozenset[int]]:
    """Tiny decisions with a window, priorities and requests that must go."""
    workers, window = draw(st.integers(1, 3)), draw(st.integers(0, 2))
    free = draw(st.lists(st.integers(0, 2), min_size=workers, max_size=workers))
    waiting = draw(st.lists(st.integers(1, 6), min_size=0, max_size=6))
    rows = [draw(st.lists(st.integers(0, 12), min_size=window + 1, max_size=window + 1)) for _ in range(workers)]
    costs = draw(st.lists(st.integers(0, 15), min_size=len(waiting), max_size=len(waiting)))
    gamma = draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(9, 10)]))
    must = frozenset(range(draw(st.integers(0, min(len(waiting), sum(free), 2)))))
    loads = [row[0] for row in rows]
    return decode_instance(loads, free, waiting, projected=rows, gamma=gamma, priorities=costs), must


def _brute(instance: DecodeInstance, must: frozenset[int]) -> Fraction:
    """The least total by trying every assignment, by request."""
    rows, waiting = instance.projected.tolist(), instance.waiting.tolist()
    assert instance.priorities is not None
    costs = instance.priorities.tolist()
    return min(
        oracle.value(rows, waiting, found, instance.gamma)
        + sum(c for i, c in enumerate(costs) if i not in {j for chosen in found for j in chosen})
        for found in oracle.assignments(instance.free.tolist(), waiting, must)
    )


@settings(max_examples=120, deadline=None)
@given(decisions())
def test_equals_brute_force(case: tuple[DecodeInstance, frozenset[int]]) -> None:
    """Trying all and CP-SAT both find the optimum of brute force, prove it, and admit what must go."""
    instance, must = case
    best = _brute(instance, must)
    for shortcuts in (True, False):
        found = solve_io(instance, tie="none", must_admit=must, shortcuts=shortcuts, seed=1)
        assert found.status is SolverStatus.OPTIMAL and found.objective == found.bound == best
        assert found.assignment is not None and objective(instance, found.assignment) == best
        assert must <= {i for chosen in found.assignment.workers for i in chosen}


def test_priorities_choose_among_equal_sizes() -> None:
    """Of two requests of one size the dearer goes, and a high price outweighs the balance."""
    instance = decode_instance([10, 4], [0, 1], [6, 6, 2], priorities=[1, 5, 0])
    assert solve_io(instance).assignment == Assignment(workers=((), (1,)))
    dear = decode_instance([10, 4], [0, 1], [6, 6, 2], priorities=[0, 0, 50])
    found = solve_io(dear)
    assert found.assignment == Assignment(workers=((), (2,))) and found.objective == found.imbalance == 4
    assert penalty(dear, Assignment(workers=((), (0,)))) == 50


def test_no_choice_no_penalty() -> None:
    """Where every request is admitted the program is that of IO_H, whatever the priorities."""
    plain = decode_instance([5, 0], [2, 2], [4, 1])
    dear = decode_instance([5, 0], [2, 2], [4, 1], priorities=[9, 7])
    assert solve_io(dear).assignment == solve_io(plain).assignment and solve_io(dear).objective == solve_io(plain).objective


def test_large_decision_is_proved() -> None:
    """64 waiting, 12 free slots: CP-SAT proves the optimum, and it is not above that of plain IO_0 with its penalty."""
    rng = np.random.default_rng(3)
    loads, waiting = rng.integers(500, 900, 8), rng.integers(1, 101, 64)
    free, costs = [2, 2, 2, 2, 1, 1, 1, 1], rng.integers(0, 40, 64)
    dear = decode_instance(loads, free, waiting, priorities=costs)
    found = solve_io(dear, seed=0)
    plain = solve_io(decode_instance(loads, free, waiting), seed=0)
    assert found.status is SolverStatus.OPTIMAL and found.method == "cp-sat" and plain.assignment is not None
    assert found.objective is not None and found.objective < objective(dear, plain.assignment)


def test_refused() -> None:
    """Wrong lengths, negative or missing numbers, other policies, and lives inside the window beside priorities."""
    for costs in ([1], [1, -1], [1, float("nan")]):
        with pytest.raises(InstanceError, match="`priorities`"):
            decode_instance([1, 2], [1, 0], [3, 4], priorities=costs)
    both = decode_instance([1, 2], [1, 0], [3, 4], projected=[[1, 1], [2, 2]], lives=[1, 5], priorities=[2, 0])
    with pytest.raises(ParameterError, match="`priorities` of `solve_io`"):
        solve_io(both)
    with pytest.raises(ParameterError, match="must be io"):
        solve(decode_instance([1, 2], [1, 0], [3, 4], priorities=[1, 2]), "min-max")


def test_priorities_of_zero_leave_the_special_method() -> None:
    """An empty system in its first iteration, when nobody has waited: closed without the solver."""
    rng = np.random.default_rng(0)
    waiting = rng.integers(1, 1001, 192)
    instance = decode_instance(np.zeros(8, int), np.full(8, 16), waiting, priorities=np.zeros(192, int))
    found = solve_io(instance, time_limit=5)
    assert found.status is SolverStatus.OPTIMAL and found.method != "cp-sat"
