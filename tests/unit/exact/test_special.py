"""The special exact method: kernels beside plain ones, bounds, levels of real size, windows, lives, false claims."""

from fractions import Fraction

import numpy as np
import pytest

from lbtheory.core import InstanceError, ParameterError, SolverStatus
from lbtheory.decode.engine import simulate
from lbtheory.decode.exact import Decision, decide_io, solve_io, solve_spread_lex
from lbtheory.decode.exact import io as io_module
from lbtheory.decode.exact.program import build_program
from lbtheory.decode.exact.window import _relax, multiplier_bound, special_window, total_value
from lbtheory.decode.exact.zero import special_io
from lbtheory.decode.instance import Assignment, DecodeInstance, check_assignment, decode_instance, objective
from lbtheory.decode.policies import make_policy
from lbtheory.decode.policies.base import DecisionProofs
from lbtheory.decode.workload import Source, make_workload
from tests.reference import exact as reference


def level_instance(top: int, workers: int, slots: int, pool: int, seed: int) -> DecodeInstance:
    """Equal free slots, loads spread by half of what they can take, a queue of ``pool`` times the slots."""
    rng = np.random.default_rng(seed)
    each = slots // workers
    loads = rng.integers(1, top + 1, (workers, 2 * each)).sum(axis=1) + rng.integers(0, top * each // 2 + 1, workers)
    return decode_instance(loads.tolist(), [each] * workers, rng.integers(1, top + 1, pool * slots).tolist())


def window_instance(rng: np.random.Generator, workers: int, each: int, top: int, horizon: int, gamma: str) -> DecodeInstance:
    """Requests in flight that leave inside the window, and sometimes one worker without a free slot."""
    rows = []
    for _ in range(workers):
        work, left = rng.integers(1, top + 1, 2 * each), rng.integers(1, 21, 2 * each)
        rows.append([int(((work + h) * (left > h)).sum()) for h in range(horizon + 1)])
    free = [each] * workers
    free[0] = int(rng.choice([0, each]))
    waiting = rng.integers(1, top + 1, workers * each + 3).tolist()
    return decode_instance([row[0] for row in rows], free, waiting, projected=rows, gamma=gamma)


def sorted_queue(waiting: list[int]) -> tuple[np.ndarray, np.ndarray]:
    sizes, counts = np.unique(np.array(waiting, np.int64), return_counts=True)
    return sizes, counts.astype(np.int64)


def test_search_over_ranges_is_the_plain_one() -> None:
    from lbtheory.decode.exact._box import NONE, box

    rng = np.random.default_rng(1)
    found = 0
    for _ in range(300):
        slots = rng.integers(1, 3, int(rng.integers(1, 4)))
        waiting = rng.integers(1, int(rng.choice([3, 9, 30])) + 1, int(slots.sum() + rng.integers(0, 3))).tolist()
        sizes, counts = sorted_queue(waiting)
        top = np.array([sum(sorted(waiting)[-c:]) for c in slots])
        high = np.array([int(rng.integers(0, t + 2)) for t in top])
        low = np.where(rng.random(len(slots)) < 0.5, 0, (high * rng.random(len(slots))).astype(int))
        y = np.zeros((len(slots), len(sizes)), np.int64)
        total, _ = box(high, low, top, sizes, counts, slots, NONE, 2**60, 10**6, y)
        best = reference.largest_total(waiting, slots.tolist(), low.tolist(), high.tolist())
        assert total == (NONE if best is None else best)
        if best is not None:
            found += 1
            sums = y @ sizes
            assert sums.sum() == best and (sums <= high).all() and (sums >= low).all()
            assert (y.sum(axis=1) == slots).all() and (y.sum(axis=0) <= counts).all()
    assert 100 < found < 300


def test_single_sums_are_bounded() -> None:
    from itertools import combinations

    from lbtheory.decode.exact._box import NONE, best_sum

    rng = np.random.default_rng(2)
    for _ in range(300):
        c = int(rng.integers(1, 5))
        waiting = rng.integers(1, 12, c + int(rng.integers(0, 5))).tolist()
        sizes, counts = sorted_queue(waiting)
        high = int(rng.integers(0, 12 * c))
        before = counts.copy()
        sums = [sum(some) for some in combinations(waiting, c) if sum(some) <= high]
        one = best_sum(sizes, counts, c, high)
        assert (counts == before).all()
        if c <= 3:
            assert one == max(sums, default=NONE)
        else:
            assert one >= max(sums, default=NONE)


def test_the_ceiling_bounds_and_is_the_least_over_all_sets_at_equal_slots() -> None:
    from lbtheory.decode.exact._zero import ceiling, top_sums

    rng = np.random.default_rng(3)
    for _ in range(300):
        equal = bool(rng.random() < 0.5)
        slots = np.full(4, int(rng.integers(1, 3))) if equal else rng.integers(1, 4, 4)
        waiting = rng.integers(1, 20, int(slots.sum()) + 2).tolist()
        sizes, counts = sorted_queue(waiting)
        base = rng.integers(0, 40, 4)
        peak = int(base.max() + rng.integers(0, 20))
        top = np.array([sum(sorted(waiting)[-c:]) for c in slots])
        best = ceiling(peak, base, slots, top, top_sums(sizes, counts, slots.sum()), np.zeros(4, np.bool_))
        plain = reference.ceiling(peak, base.tolist(), slots.tolist(), waiting)
        assert best == plain if equal else best >= plain


@pytest.mark.parametrize(("workers", "slots", "pool"), [(4, 64, 2), (8, 64, 2), (8, 64, 3), (64, 512, 2), (128, 1024, 2)])
def test_levels_of_real_size_are_hit_and_proved(workers: int, slots: int, pool: int) -> None:
    for seed in range(3):
        instance = level_instance(4000, workers, slots, pool, seed)
        found = solve_io(instance, tie="none")
        assert found.status is SolverStatus.OPTIMAL and found.method in ("levels", "bound")
        assert found.objective is not None and found.assignment is not None
        check_assignment(instance, found.assignment)
        assert found.objective == objective(instance, found.assignment) == found.bound


def test_refining_keeps_a_fill_and_reaches_the_largest_total() -> None:
    """Of three workers or fewer every group may be all of them: then the end is the brute-force optimum."""
    from lbtheory.decode.exact._refine import refine

    rng, raised = np.random.default_rng(3), 0
    for _ in range(60):
        workers = int(rng.integers(2, 6))
        slots, waiting = rng.integers(1, 3, workers), np.sort(rng.integers(1, 12, 9 if workers < 4 else 12))
        sizes, counts = np.unique(waiting, return_counts=True)
        y, place = np.zeros((workers, len(sizes)), np.int64), 0
        for f in range(workers):  # the smallest requests in order
            for size in waiting[place : place + slots[f]]:
                y[f, np.searchsorted(sizes, size)] += 1
            place += slots[f]
        start = y @ sizes
        high = start + rng.integers(0, 12, workers)
        total = refine(high, sizes, counts, slots, int(high.sum()), 60, 2_000, 1, y)
        assert total == (y @ sizes).sum() >= start.sum() and (y @ sizes <= high).all()
        assert (y.sum(axis=1) == slots).all() and (y.sum(axis=0) <= counts).all() and (y >= 0).all()
        if workers <= 3:
            assert total == reference.largest_total(waiting.tolist(), slots.tolist(), [0] * workers, high.tolist())
        raised += total > start.sum()
    assert raised > 30


def test_nearly_the_whole_queue_can_be_placed_on_one_level() -> None:
    waiting = np.random.default_rng(0).integers(1, 101, 64 * 64 + 256)
    found = decide_io(np.zeros(64, np.int64), np.full(64, 64), waiting)
    assert found.proved and found.value == 0 and found.method == "levels"


def test_decide_io_is_solve_io() -> None:
    rng = np.random.default_rng(4)
    for _ in range(60):
        loads, free = rng.integers(0, 60, 5), rng.integers(0, 2, 5)
        if free.sum() == 0:
            continue
        waiting = rng.integers(1, 21, 12)
        found = decide_io(loads, free, waiting)
        assert found.proved
        chosen = Assignment(workers=tuple(tuple(np.flatnonzero(found.worker == g).tolist()) for g in range(5)))
        instance = decode_instance(loads, free, waiting)
        check_assignment(instance, chosen)
        exact = solve_io(instance, formulation="class-count", shortcuts=False)
        assert objective(instance, chosen) == exact.objective == found.value


def test_a_cut_search_says_so() -> None:
    rng = np.random.default_rng(5)
    cut = 0
    for _ in range(40):
        instance = decode_instance(rng.integers(0, 40, 4), [2, 2, 1, 0], rng.integers(1, 30, 9))
        program = build_program(instance, function="test")
        found = special_io(program, nodes=1, rounds=1)
        best = solve_io(instance, formulation="class-count", shortcuts=False).objective
        assert best is not None and found.bound <= best
        assert found.value is not None and found.value >= best
        assert found.value == total_value(program, found.counts)
        assert not found.proved or found.value == best
        cut += not found.proved
    assert cut > 0


def test_a_false_claim_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = decode_instance([5, 0, 3], [0, 1, 1], [1, 1, 2, 2])

    def lie(*_: object, **__: object) -> Decision:  # I = 5, the optimum is 3
        return Decision(worker=np.array([1, 2, -1, -1]), value=3, bound=3, method="search")

    monkeypatch.setattr(io_module, "decide_io", lie)
    found = solve_io(instance, tie="none")
    assert (found.objective, found.bound, found.gap) == (5, 3, 2)
    assert found.status is SolverStatus.FEASIBLE


def test_multipliers_of_any_kind_give_true_bounds() -> None:
    rng = np.random.default_rng(6)
    for seed in range(30):
        instance = window_instance(rng, 3, 1, 20, int(rng.integers(1, 4)), ("1", "9/10", "1/3")[seed % 3])
        if instance.admissions == 0:
            continue
        program = build_program(instance, function="test")
        best = solve_io(instance, formulation="class-count", shortcuts=False, tie="none").objective
        assert best is not None
        width, offsets = len(program.open), program.offsets
        for kind in range(6):
            scale = 10.0 ** rng.integers(-3, 4)
            wrong = [[Fraction(float(v)) for v in row] for row in scale * rng.standard_normal((width, offsets))]
            shadow = [Fraction(float(v)) for v in rng.standard_normal(offsets)]
            if kind == 0:
                wrong, shadow = [[Fraction(0)] * offsets for _ in range(width)], [Fraction(0)] * offsets
            assert multiplier_bound(program, wrong, shadow) <= best
        relaxed = _relax(program, joint=False)
        assert relaxed is not None
        assert multiplier_bound(program, *relaxed[1:]) <= best


def test_windows_are_the_solver_s() -> None:
    rng = np.random.default_rng(7)
    proved = 0
    for k in range(45):
        instance = window_instance(rng, int(rng.integers(2, 4)), 2, int(rng.choice([3, 20])), 3, ("1", "9/10", "1/3")[k % 3])
        program = build_program(instance, function="test")
        exact = solve_io(instance, formulation="class-count", tie="none")
        found = special_window(program, seed=k)
        assert found is not None and exact.objective is not None and found.bound <= exact.objective
        if found.y is not None:
            assert found.value == total_value(program, found.y) >= exact.objective
        proved += found.proved
        again = solve_io(instance, tie="none")
        assert (again.objective, again.status) == (exact.objective, SolverStatus.OPTIMAL)
    assert proved >= 15


def test_a_window_of_real_size_is_proved() -> None:
    rng = np.random.default_rng(8)
    rows = []
    for _ in range(4):
        work, left = rng.integers(1, 4001, 32), rng.integers(1, 21, 32)
        rows.append([int(((work + h) * (left > h)).sum()) for h in range(21)])
    waiting = rng.integers(1, 4001, 128).tolist()
    instance = decode_instance([row[0] for row in rows], [16] * 4, waiting, projected=rows)
    found = solve_io(instance, tie="none")
    assert (found.status, found.method) == (SolverStatus.OPTIMAL, "window")


def test_lives_are_the_brute_force_optimum() -> None:
    rng = np.random.default_rng(9)
    for k in range(60):
        workers, horizon = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        projected = rng.integers(0, 15, (workers, horizon + 1)).tolist()
        free = rng.integers(0, 3, workers).tolist()
        waiting = rng.integers(1, 10, int(rng.integers(1, 6))).tolist()
        lives = rng.integers(1, horizon + 3, len(waiting)).tolist()
        gamma = (Fraction(1), Fraction(9, 10), Fraction(1, 3))[k % 3]
        must = frozenset({0} if sum(free) and k % 2 else ())
        instance = decode_instance([row[0] for row in projected], free, waiting, projected=projected, gamma=gamma, lives=lives)
        best = min(
            reference.value_with_lives(projected, waiting, lives, a, gamma) for a in reference.assignments(free, waiting, must)
        )
        found = solve_io(instance, must_admit=must)
        assert (found.objective, found.bound, found.status) == (best, best, SolverStatus.OPTIMAL)
        assert found.assignment is not None
        check_assignment(instance, found.assignment)
        assert must <= {i for chosen in found.assignment.workers for i in chosen}


def test_few_free_slots_in_a_window_are_searched_to_the_brute_force_optimum() -> None:
    rng = np.random.default_rng(12)
    for k in range(30):
        workers, horizon = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        projected = rng.integers(0, 40, (workers, horizon + 1)).tolist()
        free = rng.integers(0, 3, workers).tolist()
        waiting = rng.integers(1, 20, sum(free) + int(rng.integers(0, 3))).tolist()
        gamma = (Fraction(1), Fraction(9, 10), Fraction(1, 3))[k % 3]
        if sum(free) == 0:
            continue
        instance = decode_instance([row[0] for row in projected], free, waiting, projected=projected, gamma=gamma)
        lives = [horizon + 1] * len(waiting)
        best = min(
            reference.value_with_lives(projected, waiting, lives, a, gamma) for a in reference.assignments(free, waiting)
        )
        found = solve_io(instance, tie="none")
        assert (found.objective, found.bound, found.method) == (best, best, "search")


def test_a_life_changes_the_decision() -> None:
    rows = [[4, 4], [6, 0]]
    stays = decode_instance([4, 6], [1, 1], [5, 3], projected=rows)
    leaves = decode_instance([4, 6], [1, 1], [5, 3], projected=rows, lives=[1, 9])
    assert solve_io(stays).assignment == Assignment(workers=((1,), (0,)))
    assert solve_io(leaves).objective != solve_io(stays).objective
    with pytest.raises(InstanceError, match="`lives` must have as many"):
        decode_instance([4, 6], [1, 1], [5, 3], lives=[1])
    with pytest.raises(InstanceError, match="`lives` must be ≥ 1"):
        decode_instance([4, 6], [1, 1], [5, 3], lives=[0, 1])


def test_spread_lex_by_search_is_the_solver_s() -> None:
    rng = np.random.default_rng(10)
    special = 0
    for _ in range(40):
        instance = decode_instance(rng.integers(0, 60, 4), rng.integers(0, 3, 4), rng.integers(1, 13, 10))
        found, exact = solve_spread_lex(instance), solve_spread_lex(instance, shortcuts=False)
        assert found.key == found.key_bound == exact.key
        special += found.method in ("search", "levels", "cover")
    assert special >= 20


def test_covering_is_the_plain_one() -> None:
    from lbtheory.decode.exact._cover import cover

    rng, seen = np.random.default_rng(13), set()
    for _ in range(150):
        slots = np.sort(rng.choice([1, 1, 2, 2, 3], int(rng.integers(1, 4))))[::-1].copy()
        waiting = rng.integers(1, int(rng.choice([3, 9, 30])) + 1, int(slots.sum() + rng.integers(0, 2))).tolist()
        sizes, counts = sorted_queue(waiting)
        need = np.array([int(rng.integers(0, 1 + sum(sorted(waiting)[-c:]))) for c in slots])
        single = slots == 1
        need[single] = np.sort(need[single])[::-1]
        y = np.zeros((len(slots), len(sizes)), np.int64)
        found, _ = cover(sizes, counts, slots, need, 10**6, y)
        free = [sum(waiting) + 1] * len(slots)
        best = reference.largest_total(waiting, slots.tolist(), need.tolist(), free)
        assert found == (best is not None)
        if found:
            assert (y @ sizes >= need).all() and (y.sum(axis=1) == slots).all() and (y.sum(axis=0) <= counts).all()
        seen.add(found)
    assert seen == {0, 1}
    assert cover(sizes, counts, np.array([2]), np.array([1]), 0, np.zeros((1, len(sizes)), np.int64))[0] == -1


def test_spread_lex_of_a_running_system_is_a_cover() -> None:
    rng, methods = np.random.default_rng(14), []
    for k in range(12):
        loads, free = 500 + rng.integers(0, 300, 8), np.bincount(rng.integers(0, 7, 5), minlength=8)
        instance = decode_instance(loads, free, rng.integers(1, 41, 14))
        found, exact = solve_spread_lex(instance, seed=k), solve_spread_lex(instance, shortcuts=False)
        assert found.key == found.key_bound == exact.key
        methods.append(found.method)
    assert methods.count("cover") >= 4


def test_spread_lex_is_never_worse_than_the_answer_of_io() -> None:
    rng, compared = np.random.default_rng(11), 0
    for k in range(12):
        free = rng.integers(1, 4, 24)
        instance = decode_instance(rng.integers(0, 60, 24), free, rng.integers(1, 51, int(free.sum()) + 64))
        near = decide_io(instance.loads, instance.free, instance.waiting)
        if k == 0:
            solve_spread_lex(instance, time_limit=0.1)  # compiles
        found = solve_spread_lex(instance, time_limit=0.2)
        assert found.key_bound <= found.key
        there = near.worker >= 0
        loads = instance.loads + np.bincount(near.worker[there], instance.waiting[there], 24).astype(int)
        peak = loads.max()
        assert found.key <= (peak - loads.min(), (loads == peak).sum(), 24 * peak - loads.sum())
        compared += found.method == "cp-sat"
    assert compared > 0


def test_equal_loads_prove_spread_lex_without_a_solver() -> None:
    instance = decode_instance([4, 1, 0], [1, 2, 1], [9, 3, 5, 4, 8, 2])
    equal = Assignment(workers=((3,), (2, 5), (4,)))  # loads 8, 8, 8
    found = solve_spread_lex(instance, warm_start=equal, time_limit=1e-6, shortcuts=False)
    assert found.key == found.key_bound == (0, 3, 0) and found.status is SolverStatus.OPTIMAL


@pytest.mark.parametrize("rule", ["io:time_limit=0.02", "spread-lex:time_limit=0.02"])
def test_a_policy_with_a_time_limit_takes_the_best_known_and_counts(rule: str) -> None:
    work = make_workload(Source(p="1/20", prompts="uniform:50"), workers=64, slots=64, queue=64, steps=14, seed=0)
    policy = make_policy(rule)
    for _ in range(2):  # counted anew in every run
        run = simulate(work.stream, policy, workers=64, slots=64, steps=14)
        assert run.stopped == "steps" and (run.iterations.admitted[1:] > 0).all()
        assert run.iterations.admitted[0] == 64 * 64 and (run.iterations.waiting == 64).all()
        proofs = policy.proofs()
        assert proofs is not None and proofs.unproved <= proofs.decisions == 14
    if rule.startswith("spread"):
        assert proofs.unproved > 0 and proofs.gap >= 0
    else:
        assert proofs.gap >= proofs.unproved
    policy.reset(64, 64)
    assert policy.proofs() == DecisionProofs(decisions=0, unproved=0, gap=0.0)


def test_long_runs_are_proved_step_by_step() -> None:
    work = make_workload(Source(p="1/20", prompts="uniform:50"), workers=8, slots=16, queue=64, steps=300, seed=0)
    policy = make_policy("io:fallback=best")
    run = simulate(work.stream, policy, workers=8, slots=16, steps=300)
    assert run.stopped == "steps"
    proofs = policy.proofs()
    assert proofs is not None and proofs.decisions == 300 and proofs.unproved <= 6 and proofs.gap >= proofs.unproved
    with pytest.raises(ParameterError, match="`fallback=best`"):
        make_policy("io:fallback=best,tie=random")
    with pytest.raises(ParameterError, match="`method`"):
        make_policy("io:method=fast")
