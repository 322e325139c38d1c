"""Exact policies against brute force on random small instances, with and without the shortcuts."""

from fractions import Fraction

from hypothesis import example, given, settings
from hypothesis import strategies as st

from lbtheory.core import SolverStatus
from lbtheory.decode.exact import solve_io, solve_min_max, solve_spread_lex
from lbtheory.decode.instance import DecodeInstance, check_assignment, decode_instance
from tests.reference import exact as reference

Case = tuple[list[list[int]], list[int], list[int], Fraction, frozenset[int]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Projected loads, free slots, waiting sizes, discount, requests that must be admitted (a prefix)."""
    workers, horizon = draw(st.integers(1, 3)), draw(st.sampled_from([0, 0, 1, 2, 3]))
    top = draw(st.sampled_from([2, 6, 10**9]))
    loads = st.integers(0, draw(st.sampled_from([0, 3, top])))
    projected = draw(st.lists(st.lists(loads, min_size=horizon + 1, max_size=horizon + 1), min_size=workers, max_size=workers))
    free = draw(st.lists(st.integers(0, 2), min_size=workers, max_size=workers))
    waiting = draw(st.lists(st.integers(1, top), max_size=5))
    gamma = draw(st.sampled_from([Fraction(1), Fraction(9, 10), Fraction(1, 3)]))
    forced = draw(st.integers(0, min(len(waiting), sum(free))))
    return projected, free, waiting, gamma, frozenset(range(draw(st.sampled_from([0, forced]))))


def build(case: Case) -> DecodeInstance:
    projected, free, waiting, gamma, _ = case
    return decode_instance([row[0] for row in projected], free, waiting, projected=projected, gamma=gamma)


FEWER_THAN_FREE: Case = ([[4, 0, 9], [4, 0, 0], [4, 7, 1]], [2, 2, 1], [3, 1, 3], Fraction(9, 10), frozenset())
EQUAL: Case = ([[3], [3], [3]], [2, 1, 1], [2, 2, 2, 2, 2], Fraction(1), frozenset({0}))
FULL: Case = ([[3, 1], [8, 1]], [0, 0], [2], Fraction(1, 3), frozenset())


@settings(max_examples=150, deadline=None)
@given(case=cases(), shortcuts=st.booleans())
@example(case=FEWER_THAN_FREE, shortcuts=True)
@example(case=FEWER_THAN_FREE, shortcuts=False)
@example(case=EQUAL, shortcuts=False)
@example(case=FULL, shortcuts=True)
def test_io_is_the_brute_force_optimum(case: Case, shortcuts: bool) -> None:
    projected, free, waiting, gamma, must = case
    values = {a: reference.value(projected, waiting, a, gamma) for a in reference.assignments(free, waiting, must)}
    best = min(values.values())
    optimal = [a for a, v in values.items() if v == best]
    instance = build(case)
    for options in ({}, {"formulation": "binary"}, {"tie": "none"}, {"tie": "smallest-total"}, {"tie": "random", "seed": 1}):
        found = solve_io(instance, must_admit=must, shortcuts=shortcuts, **options)
        assert (found.status, found.objective, found.bound, found.gap) == (SolverStatus.OPTIMAL, best, best, 0)
        assert found.assignment is not None
        check_assignment(instance, found.assignment)
        chosen = found.assignment.workers
        assert must <= {i for c in chosen for i in c}
        if found.tie == "lexicographic":
            smallest = min(reference.size_lists(waiting, a) for a in optimal)
            assert reference.size_lists(waiting, chosen) == smallest
        if found.tie == "smallest-total":
            assert total(waiting, chosen) == min(total(waiting, a) for a in optimal)


@settings(max_examples=150, deadline=None)
@given(case=cases())
@example(case=FEWER_THAN_FREE)
@example(case=EQUAL)
@example(case=FULL)
def test_lexicographic_keys_are_the_brute_force_ones(case: Case) -> None:
    projected, free, waiting, _, must = case
    after = [reference.loads_at(projected, waiting, a, 0) for a in reference.assignments(free, waiting, must)]
    instance = build(case)
    for shortcuts in (True, False):
        level = solve_min_max(instance, must_admit=must, shortcuts=shortcuts)
        assert level.key == level.key_bound == min(map(reference.min_max_key, after))
        spread = solve_spread_lex(instance, must_admit=must, shortcuts=shortcuts)
        assert spread.key == spread.key_bound == min(map(reference.spread_key, after))
        for found in (level, spread):
            assert found.status is SolverStatus.OPTIMAL and found.gap == 0
            assert found.objective == found.imbalance == found.key[-1]
            assert found.assignment is not None
            check_assignment(instance, found.assignment)
            assert must <= {i for c in found.assignment.workers for i in c}


@settings(max_examples=40, deadline=None)
@given(case=cases())
def test_requests_of_a_class_go_in_release_order(case: Case) -> None:
    _, _, waiting, _, must = case
    found = solve_io(build(case), must_admit=must)
    assert found.assignment is not None
    admitted = {i for c in found.assignment.workers for i in c}
    worker = {i: g for g, c in enumerate(found.assignment.workers) for i in c}
    if len(found.assignment.workers) == 1:
        return
    for i in range(len(waiting)):
        for j in range(i + 1, len(waiting)):
            if waiting[i] == waiting[j]:
                assert i in admitted or j not in admitted
                assert j not in admitted or worker[i] <= worker[j]


def total(waiting: list[int], assignment: tuple[tuple[int, ...], ...]) -> int:
    return sum(waiting[i] for chosen in assignment for i in chosen)
