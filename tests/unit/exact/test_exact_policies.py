"""Min-max, SpreadLex, the common door and the comparison."""

import subprocess
import sys

import numpy as np
import pytest

from lbtheory.core import InstanceError, ParameterError, SolverStatus, UnknownNameError
from lbtheory.decode.exact import compare, solve, solve_io, solve_min_max, solve_spread_lex
from lbtheory.decode.instance import Assignment, decode_instance

INSTANCE = decode_instance([5, 0, 3], [0, 1, 1], [1, 1, 2, 2])


def test_the_least_maximum_is_not_the_least_imbalance() -> None:
    lone = decode_instance([0, 0], [1, 1], [1, 2, 5, 5])
    assert solve_io(lone).loads == (5, 5)
    assert solve_min_max(lone).loads in ((1, 2), (2, 1))
    assert solve_min_max(lone).key == (2, 1) and solve_min_max(lone).objective == 1


def test_min_max_for_one_worker_takes_the_smallest() -> None:
    found = solve_min_max(decode_instance([7], [2], [9, 1, 5, 2]))
    assert (found.key, found.status) == ((10, 0), SolverStatus.OPTIMAL)


def test_spread_lex_key_of_a_small_case() -> None:
    for shortcuts in (True, False):
        found = solve_spread_lex(INSTANCE, shortcuts=shortcuts)
        assert found.key == found.key_bound == (3, 1, 4)
        assert sorted(found.loads or ()) == [2, 4, 5]
        assert found.status is SolverStatus.OPTIMAL


@pytest.mark.parametrize("policy", ["min-max", "spread-lex"])
def test_lexicographic_policies_report_limits_and_infeasibility(policy: str) -> None:
    rng = np.random.default_rng(1)
    hard = decode_instance(rng.integers(0, 9000, 8).tolist(), [8] * 8, rng.integers(1, 4001, 128).tolist(), projected=None)
    found = solve(hard, policy, time_limit=0.05)
    assert found.status in (SolverStatus.FEASIBLE, SolverStatus.OPTIMAL)
    assert found.gap is not None and found.gap >= 0
    assert found.key_bound <= found.key
    assert solve(hard, policy, time_limit=1e-6, shortcuts=False).status is SolverStatus.FEASIBLE
    assert solve(INSTANCE, policy, must_admit={0, 1, 2}).status is SolverStatus.INFEASIBLE
    with pytest.raises(ParameterError, match="`time_limit`"):
        solve(INSTANCE, policy, time_limit=-1)


def test_they_use_offset_zero_only() -> None:
    long = decode_instance([5, 0, 3], [0, 1, 1], [1, 1, 2, 2], projected=[[5, 9], [0, 50], [3, 0]])
    for policy in ("min-max", "spread-lex"):
        assert solve(long, policy).key == solve(INSTANCE, policy).key
        assert solve(long, policy).horizon == 0


def test_dispatch() -> None:
    long = decode_instance([5, 0, 3], [0, 1, 1], [1, 1, 2, 2], projected=[[5, 9], [0, 50], [3, 0]])
    assert solve(long).horizon == 1
    assert solve(long, horizon=0).objective == 3
    with pytest.raises(ParameterError, match="horizon"):
        solve(long, horizon=2)
    with pytest.raises(UnknownNameError, match="spread-lex"):
        solve(INSTANCE, "spreadlex")


def test_compare_gives_the_gap_against_the_exact_bound() -> None:
    exact = solve_io(INSTANCE)
    other = compare(INSTANCE, Assignment(workers=((), (0,), (1,))), exact, "jsq", 0.25)
    assert (other.policy, other.status, other.objective, other.bound, other.gap) == ("jsq", SolverStatus.FEASIBLE, 5, 3, 2)
    assert other.as_json()["seconds"] == 0.25 and other.as_json().keys() == exact.as_json().keys()
    assert exact.assignment is not None
    assert compare(INSTANCE, exact.assignment, exact, "same", 0.0).status is SolverStatus.OPTIMAL
    with pytest.raises(InstanceError):
        compare(INSTANCE, Assignment(workers=((), (0,), ())), exact, "short", 0.0)


def test_compare_beside_a_lexicographic_policy_judges_by_its_key() -> None:
    lone = decode_instance([0, 0], [1, 1], [1, 2, 5, 5])
    exact = solve_min_max(lone)
    level = compare(lone, Assignment(workers=((2,), (3,))), exact, "io", 0.0)
    assert (level.gap, level.key, level.status) == (-1, (5, 0), SolverStatus.FEASIBLE)
    assert compare(lone, Assignment(workers=((1,), (0,))), exact, "twin", 0.0).status is SolverStatus.OPTIMAL


def test_importing_the_package_is_cheap() -> None:
    code = "import sys, lbtheory.decode.exact; print([m for m in ('ortools', 'numba') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
