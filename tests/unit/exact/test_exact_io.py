"""Exact IO_H on known cases: the smallest published one, ties, limits of 64 bits and of time, determinism."""

from fractions import Fraction

import numpy as np
import pytest

from lbtheory.core import InstanceError, ParameterError, SizeOverflowError, SolverStatus, UnknownNameError
from lbtheory.decode.exact import Solution, solve_io
from lbtheory.decode.exact import weights as weights_module
from lbtheory.decode.exact.program import build_program
from lbtheory.decode.exact.weights import integer_weights
from lbtheory.decode.instance import Assignment, DecodeInstance, check_assignment, decode_instance, objective
from tests.reference import exact as reference

SMALLEST = decode_instance([5, 0, 3], [0, 1, 1], [1, 1, 2, 2])


def table_instance(top: int, workers: int, slots: int, pool: int, seed: int) -> DecodeInstance:
    rng = np.random.default_rng(seed)
    each = slots // workers
    loads = rng.integers(1, top + 1, (workers, 2 * each)).sum(axis=1) + rng.integers(0, top * each // 2 + 1, workers)
    return decode_instance(loads.tolist(), [each] * workers, rng.integers(1, top + 1, pool * slots).tolist())


def test_smallest_case_takes_both_large_requests() -> None:
    for shortcuts in (True, False):
        found = solve_io(SMALLEST, shortcuts=shortcuts)
        assert (found.status, found.objective, found.bound, found.gap) == (SolverStatus.OPTIMAL, 3, 3, 0)
        assert found.loads == (5, 2, 5)
        assert found.assignment == Assignment(workers=((), (2,), (3,)))


def test_json_has_exactly_the_documented_keys() -> None:
    answer = solve_io(SMALLEST).as_json()
    assert list(answer) == ["policy", "status", "objective", "bound", "gap", "assignment", "loads", "imbalance", "seconds"]
    assert {k: v for k, v in answer.items() if k != "seconds"} == {
        "policy": "io", "status": "optimal", "objective": 3, "bound": 3, "gap": 0,
        "assignment": [[], [2], [3]], "loads": [5, 2, 5], "imbalance": 3,
    }  # fmt: skip
    assert isinstance(answer["objective"], int)


def test_one_worker_admits_first_come_first_served() -> None:
    found = solve_io(decode_instance([7], [2], [9, 1, 5, 2], projected=[[7, 1, 0]], gamma="1/2"))
    assert found.assignment == Assignment(workers=((0, 1),))
    assert (found.objective, found.gap, found.status, found.tie) == (0, 0, SolverStatus.OPTIMAL, "fcfs")
    forced = solve_io(decode_instance([7], [2], [9, 1, 5, 2]), must_admit={3})
    assert forced.assignment == Assignment(workers=((0, 3),))


@pytest.mark.parametrize(("free", "waiting"), [([0, 0], [3, 4]), ([2, 1], [])])
def test_nothing_to_admit(free: list[int], waiting: list[int]) -> None:
    found = solve_io(decode_instance([4, 1], free, waiting))
    assert found.assignment == Assignment(workers=((), ()))
    assert (found.objective, found.bound, found.status) == (3, 3, SolverStatus.OPTIMAL)


def test_must_admit_is_kept_and_can_be_infeasible() -> None:
    instance = decode_instance([10, 10, 10], [1, 1, 0], [1, 5, 5, 5])
    assert solve_io(instance).assignment == Assignment(workers=((1,), (2,), ()))
    for formulation in ("class-count", "binary"):
        found = solve_io(instance, must_admit={0, 1}, formulation=formulation, shortcuts=False)
        assert found.assignment is not None
        assert {i for chosen in found.assignment.workers for i in chosen} == {0, 1}
        assert found.status is SolverStatus.OPTIMAL
    none = solve_io(instance, must_admit={0, 1, 2})
    assert none.status is SolverStatus.INFEASIBLE
    assert none.as_json()["objective"] is None and none.as_json()["assignment"] is None and none.gap is None


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ParameterError, match="`time_limit` of `solve_io` must be a positive"):
        solve_io(SMALLEST, time_limit=0)
    with pytest.raises(ParameterError, match="`time_limit`"):
        solve_io(SMALLEST, time_limit=float("nan"))
    with pytest.raises(UnknownNameError, match="class-count"):
        solve_io(SMALLEST, formulation="class")
    with pytest.raises(UnknownNameError, match="lexicographic"):
        solve_io(SMALLEST, tie="lexico")
    for wrong in (4, -1, 0.5, True, "0"):
        with pytest.raises(ParameterError, match="`must_admit` of `solve_io`"):
            solve_io(SMALLEST, must_admit={wrong})  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="`seed` of `solve_io` must be given"):
        solve_io(SMALLEST, tie="random")
    with pytest.raises(ParameterError, match="`seed`"):
        solve_io(SMALLEST, seed=-1)
    with pytest.raises(ParameterError, match="`workers`"):
        solve_io(SMALLEST, workers=0)
    with pytest.raises(InstanceError, match="`warm_start` of `solve_io`"):
        solve_io(SMALLEST, warm_start=Assignment(workers=((), (0,), ())))
    with pytest.raises(ParameterError, match="must admit every request"):
        solve_io(SMALLEST, warm_start=Assignment(workers=((), (0,), (1,))), must_admit={2})


def test_exact_weights_at_sizes_of_a_billion() -> None:
    rng = np.random.default_rng(4)
    denominators = set()
    for horizon in (1, 2, 3):
        projected = rng.integers(0, 10**9, (3, horizon + 1)).tolist()
        waiting = rng.integers(1, 10**9 + 1, 5).tolist()
        instance = decode_instance([r[0] for r in projected], [1, 2, 1], waiting, projected=projected, gamma="9/10")
        best = min(reference.value(projected, waiting, a, Fraction(9, 10)) for a in reference.assignments([1, 2, 1], waiting))
        assert integer_weights(build_program(instance, function="test"), function="test").exact
        for formulation in ("class-count", "binary"):
            found = solve_io(instance, formulation=formulation)
            assert (found.objective, found.bound, found.status) == (best, best, SolverStatus.OPTIMAL)
        denominators.add(best.denominator)
    assert max(denominators) > 1


def test_rounded_weights_never_claim_a_proof_they_do_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    horizon, gamma = 12, Fraction(86, 100)
    projected = rng.integers(0, 10**6, (3, horizon + 1)).tolist()
    waiting = rng.integers(1, 10**6, 5).tolist()
    instance = decode_instance([r[0] for r in projected], [1, 0, 2], waiting, projected=projected, gamma=gamma)
    weights = integer_weights(build_program(instance, function="test"), function="test")
    assert not weights.exact
    assert all(Fraction(w, weights.scale) <= gamma**h for h, w in enumerate(weights.values))
    best = min(reference.value(projected, waiting, a, gamma) for a in reference.assignments([1, 0, 2], waiting))
    for options in ({}, {"formulation": "class-count", "shortcuts": False}, {"formulation": "binary", "shortcuts": False}):
        found = solve_io(instance, **options)
        assert (found.objective, found.bound, found.status, found.tie) == (best, best, SolverStatus.OPTIMAL, "none")
    monkeypatch.setattr("lbtheory.decode.exact.near.VECTORS", 0)
    found = solve_io(instance, formulation="class-count", shortcuts=False)
    assert found.objective is not None and found.bound is not None and found.gap is not None
    assert found.bound < best <= found.objective
    assert 0 < found.gap < best / 10**6
    assert (found.status, found.tie) == (SolverStatus.FEASIBLE, "none")


def test_rounded_weights_still_prove_zero_imbalance() -> None:
    rows = [[0] * 61, [4] * 61]
    found = solve_io(decode_instance([0, 4], [1, 1], [7, 3], projected=rows, gamma="0.86"))
    assert (found.objective, found.bound, found.status) == (0, 0, SolverStatus.OPTIMAL)


def test_sizes_beyond_64_bits_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[0] * 301, [0] * 301]
    with pytest.raises(SizeOverflowError, match="`instance` of `solve_io` must have an objective below"):
        solve_io(decode_instance([0, 0], [1, 1], [1, 2**50], projected=rows))
    monkeypatch.setattr(weights_module, "MODEL_LIMIT", 2**70)
    with pytest.raises(SizeOverflowError, match="CP-SAT refused the model"):
        solve_io(decode_instance([0, 1], [1, 1], [1, 2**48], projected=[[0] * 5, [1] * 5], gamma="9/10"), shortcuts=False)


def test_time_limit_is_a_status_with_a_bound() -> None:
    hard = table_instance(4000, 8, 64, 2, 0)
    found = solve_io(hard, time_limit=0.05, tie="none", formulation="class-count")
    assert found.status is SolverStatus.FEASIBLE
    assert found.assignment is not None and found.objective is not None and found.bound is not None
    check_assignment(hard, found.assignment)
    assert found.objective == objective(hard, found.assignment)
    assert 0 <= found.bound < found.objective
    assert found.seconds < 1.0


def test_the_answer_is_never_worse_than_the_warm_start() -> None:
    hard = table_instance(4000, 8, 64, 2, 1)
    start = solve_io(hard, time_limit=0.4, tie="none", formulation="class-count")
    assert start.assignment is not None and start.objective is not None
    again = solve_io(hard, time_limit=1e-6, tie="none", warm_start=start.assignment, formulation="class-count")
    assert again.method == "start"
    assert again.objective is not None and again.objective <= start.objective


def test_equal_seeds_give_equal_answers_and_the_canonical_one_depends_on_none() -> None:
    instance = table_instance(10, 4, 12, 3, 2)

    def key(found: Solution) -> tuple[object, ...]:
        return found.objective, found.bound, found.assignment, found.tie

    assert key(solve_io(instance, seed=3, tie="none")) == key(solve_io(instance, seed=3, tie="none"))
    assert key(solve_io(instance, seed=3, tie="random")) == key(solve_io(instance, seed=3, tie="random"))
    canonical = {
        key(solve_io(instance, seed=s, formulation=f)) for s, f in ((1, "class-count"), (2, "class-count"), (3, "binary"))
    }
    assert len(canonical) == 1
    assert solve_io(instance).tie == "lexicographic"


def test_random_ties_reach_different_optima() -> None:
    instance = decode_instance([9, 0, 0, 0], [0, 1, 1, 1], [1, 1, 1, 1, 2, 2, 9, 9, 8])
    flat = decode_instance([50, 0, 0], [0, 1, 1], [5, 6, 7])
    assert len({solve_io(flat, tie="random", seed=s).assignment for s in range(20)}) == 2
    for seed in range(5):
        drawn = solve_io(instance, tie="random", seed=seed)
        assert drawn.objective == solve_io(instance).objective
        assert drawn.assignment == solve_io(instance, tie="random", seed=seed, shortcuts=False).assignment


def test_generators_are_consumed_alike_whatever_settles_the_answer() -> None:
    states = []
    for shortcuts in (True, False):
        rng = np.random.default_rng(8)
        solve_io(SMALLEST, seed=rng, shortcuts=shortcuts)
        states.append(rng.integers(2**31))
    assert states[0] == states[1]


def test_range_bound_settles_far_apart_loads_without_a_solver() -> None:
    rng = np.random.default_rng(0)
    instance = decode_instance([10_000, 0, 0, 0], [0, 4, 4, 4], rng.integers(1, 101, 60).tolist())
    found = solve_io(instance, tie="none", formulation="class-count")
    assert (found.method, found.status) == ("range bound", SolverStatus.OPTIMAL)
    assert solve_io(instance, tie="none").method == "bound"
    assert found.objective == solve_io(instance, tie="none", shortcuts=False).objective
