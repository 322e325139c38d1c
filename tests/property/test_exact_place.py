"""IO_H where every waiting request is admitted, and windows whose weights are rounded, against brute force in fractions."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from lbtheory.core import SolverStatus
from lbtheory.decode.engine import simulate
from lbtheory.decode.exact import solve_io
from lbtheory.decode.exact._limbs import no_less, sign
from lbtheory.decode.exact._place import place_all as compiled
from lbtheory.decode.exact._place import start
from lbtheory.decode.exact.model import Clock, Search
from lbtheory.decode.exact.near import settle
from lbtheory.decode.exact.place import leaves_slots, place_all
from lbtheory.decode.exact.program import build_program
from lbtheory.decode.exact.weights import integer_weights, rounding, scaled_weights
from lbtheory.decode.instance import Assignment, DecodeInstance, check_assignment, decode_instance, objective
from lbtheory.decode.policies import make_policy
from lbtheory.decode.workload import Source, make_workload
from tests.reference import exact as reference

GAMMAS = ["1", "9/10", "43/50", "123456789/987654321"]
"""The last has no common denominator within 64 bits from offset 2 on."""


def draw(rng: np.random.Generator) -> DecodeInstance | None:
    """Fewer waiting than free, or as many; equal loads and sizes, full workers, lives, and penalties that decide nothing."""
    workers, horizon, top = int(rng.integers(2, 5)), int(rng.choice([0, 0, 1, 3, 6])), int(rng.choice([1, 3, 40, 1000]))
    free = rng.integers(0, 4, workers)
    if not free.any():
        return None
    many = int(rng.integers(1, min(int(free.sum()), 6) + 1))
    rows = rng.integers(0, int(rng.choice([1, top, 4 * top])) + 1, (workers, horizon + 1))
    if rng.random() < 0.3:
        rows[:] = rows[0]
    return decode_instance(
        rows[:, 0],
        free,
        rng.integers(1, top + 1, many),
        projected=rows,
        gamma=str(rng.choice(GAMMAS)),
        lives=rng.integers(1, horizon + 3, many) if rng.random() < 0.5 else None,
        priorities=rng.integers(0, 9, many) if rng.random() < 0.2 else None,
    )


def brute(instance: DecodeInstance) -> Fraction:
    stay = [instance.horizon + 1] * len(instance.waiting) if instance.lives is None else instance.lives.tolist()
    rows, waiting = instance.projected.tolist(), instance.waiting.tolist()
    every = reference.assignments(instance.free.tolist(), waiting)
    return min(reference.value_with_lives(rows, waiting, stay, a, instance.gamma) for a in every)


def test_placing_all_is_brute_force_on_300_instances() -> None:
    seen = {"lives": 0, "rounded": 0, "cut": 0, "one": 0}
    for seed in range(320):
        rng = np.random.default_rng(seed)
        instance = draw(rng)
        if instance is None:
            continue
        best = brute(instance)
        placed = place_all(instance)
        assert placed is not None and placed.proved and placed.method == "search", seed
        check_assignment(instance, placed.assignment)
        assert placed.value == objective(instance, placed.assignment) == best, seed
        cut = place_all(instance, steps=int(rng.choice([1, 20, 200])))
        assert cut is not None and cut.bound <= best <= cut.value == objective(instance, cut.assignment), seed
        if leaves_slots(instance):
            must = {int(rng.integers(len(instance.waiting)))} if rng.random() < 0.3 else frozenset()
            found = solve_io(instance, tie="none", must_admit=must)
            assert found.status is SolverStatus.OPTIMAL and found.objective == found.bound == best, seed
            assert must or found.method == "search", seed
        seen["lives"] += instance.lives_end
        seen["rounded"] += instance.gamma.denominator > 10**8 and instance.horizon > 1
        seen["cut"] += not cut.proved
        seen["one"] += len(instance.waiting) == 1
    assert min(seen.values()) > 20, seen


def test_the_compiled_search_is_the_plain_one_in_any_order_of_paths() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        many, workers, offsets = int(rng.integers(1, 6)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
        paths = rng.integers(0, 12, (many, offsets))
        paths[rng.random(many) < 0.3] = paths[0]
        loads, floor = rng.integers(0, 15, (workers, offsets)), rng.integers(0, 20, offsets)
        free = rng.integers(1, 4, workers)
        free[0] += max(0, many - int(free.sum()))
        same = np.array([i > 0 and (paths[i] == paths[i - 1]).all() for i in range(many)])
        weights = 2 ** np.arange(offsets)[::-1].copy()
        plain = scaled_weights(Fraction(1, 2), [1] * offsets, function="test")
        worker = start(paths, loads, free, floor, weights, 50)
        twin = np.full(workers, -1)
        bound, nodes = compiled(paths, same, twin, loads, free, floor, weights, rounding(plain, [1] * offsets), 10**6, worker)
        least = reference.least_peaks(paths.tolist(), loads.tolist(), free.tolist(), floor.tolist(), Fraction(1, 2))
        after = loads.copy()
        np.add.at(after, worker, paths)
        assert (np.bincount(worker, minlength=workers) <= free).all() and nodes <= 10**6, seed
        value = int((weights * np.maximum(floor, after.max(axis=0))).sum())
        assert value == bound == least * 2 ** (offsets - 1), seed


def test_exact_signs_are_those_of_fractions() -> None:
    rng = np.random.default_rng(0)
    for gamma in ("43/50", "123456789/987654321", "1/3"):
        weights = scaled_weights(Fraction(gamma), [10**6] * 41, function="test")
        exact = rounding(weights, [10**6] * 41)
        assert exact is not None and not weights.exact and exact[2] > 0
        for k in range(60):
            x = rng.integers(0, 10**6, 41)
            y = x + rng.integers(-1, 2, 41) * (rng.random(41) < rng.choice([0.0, 0.1, 0.5]))
            y = np.clip(y, 0, 10**6)
            if gamma == "1/3" and k % 2:  # the sums are equal: 1/3 at one offset is 3 times 1/3 at the next
                x[10], x[11], y = 500, 700, x.copy()
                y[10], y[11] = 499, 703
            true = sum((weights.gamma**h * int(d) for h, d in enumerate(x - y)), Fraction(0))
            assert sign(exact[0], exact[1], x, y) == (true > 0) - (true < 0), (gamma, k)
            values = weights.value(x.tolist()), weights.value(y.tolist())
            assert no_less(values[0], x, values[1], y, exact) == (true >= 0), (gamma, k)


@pytest.mark.slow
def test_placing_all_is_cp_sat_at_middle_size() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        workers, horizon, many = int(rng.integers(3, 9)), int(rng.choice([0, 2, 8])), int(rng.integers(5, 11))
        free = rng.integers(0, 6, workers)
        free[0] += many + 1
        rows = rng.integers(0, 200, (workers, horizon + 1))
        lives = rng.integers(1, horizon + 3, many) if seed % 2 else None
        instance = decode_instance(rows[:, 0], free, rng.integers(1, 101, many), projected=rows, lives=lives, gamma="9/10")
        found = solve_io(instance, tie="none")
        exact = solve_io(instance, formulation="class-count", shortcuts=False, tie="none")
        assert exact.status is found.status is SolverStatus.OPTIMAL and found.objective == exact.objective, seed


def window(rng: np.random.Generator) -> DecodeInstance:
    """A window whose weights are rounded, with few free slots."""
    workers, horizon = int(rng.integers(2, 5)), int(rng.integers(8, 21))
    free = rng.integers(0, 3, workers)
    free[int(rng.integers(workers))] = 1
    while free.sum() > 3:
        free[int(np.argmax(free))] -= 1
    rows = np.sort(rng.integers(0, 60, (workers, horizon + 1)), axis=1)
    if rng.random() < 0.5:
        rows = rows[:, ::-1]
    waiting = rng.integers(1, 30, int(free.sum()) + int(rng.integers(1, 5)))
    return decode_instance(rows[:, 0], free, waiting, projected=rows, gamma=str(rng.choice(["43/50", "7/9", "99/100"])))


@pytest.mark.parametrize("way", ["search", "solver"])
@pytest.mark.parametrize("bits", [60, 14])
def test_rounded_windows_are_brute_force_and_proved(monkeypatch: pytest.MonkeyPatch, way: str, bits: int) -> None:
    monkeypatch.setattr("lbtheory.decode.exact.weights.MODEL_LIMIT", 2**bits)  # 14: so coarse that the rounded sums mislead
    if way == "solver":  # no search: CP-SAT, then the band of `near`
        monkeypatch.setattr("lbtheory.decode.exact.io.search_window", lambda *_: None)
    methods: Counter[str] = Counter()
    for seed in range(15 if way == "solver" else 40):
        instance = window(np.random.default_rng(seed))
        found, best = solve_io(instance, tie="none", seed=0), brute(instance)
        assert found.bound <= best <= found.objective, seed
        assert found.status is SolverStatus.OPTIMAL or (way, bits) == ("solver", 14), seed
        methods[found.method] += found.status is SolverStatus.OPTIMAL
    assert way == "solver" or methods["search"] > 5
    assert way == "search" or bits == 14 or methods["cp-sat"] > 5


def test_coarse_weights_do_not_mislead_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lbtheory.decode.exact.weights.MODEL_LIMIT", 2**10)
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, 30, (3, 9))
        instance = decode_instance(rows[:, 0], [2, 2, 2], rng.integers(1, 20, 4), projected=rows, gamma="43/50")
        placed = place_all(instance)
        assert placed is not None and placed.proved and placed.value == brute(instance), seed
        with monkeypatch.context() as trusted:
            trusted.setattr("lbtheory.decode.exact.place.rounding", lambda *_: (np.zeros((0, 9), np.int64), 1, 0))
            trust = place_all(instance)
        wrong += trust is not None and trust.value > placed.value
    assert wrong > 0  # with the rounded sums alone


def test_numbers_near_64_bits_are_exact_or_left_to_others() -> None:
    for seed in range(12):
        rng, horizon = np.random.default_rng(seed), 12
        rows = rng.integers(0, 2**45, (3, horizon + 1))
        waiting = rng.integers(1, 2**45, 3 if seed % 2 else 5)
        instance = decode_instance(rows[:, 0], [1, 2, 1], waiting, projected=rows, gamma="43/50")
        found = solve_io(instance, tie="none")
        assert found.objective == found.bound == brute(instance) and found.method == "search", seed
    rows = np.array([[0] * 2001, [9] * 2001])  # 2001 sums of up to 2^52 do not fit: no search, and none is claimed
    instance = decode_instance([0, 9], [2, 2], [2**50, 5, 7], projected=rows)
    assert place_all(instance) is None


def test_the_band_finds_the_best_of_those_that_look_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lbtheory.decode.exact.weights.MODEL_LIMIT", 2**24)
    moved = 0
    for seed in range(20):
        program = build_program(window(np.random.default_rng(seed)), function="test")
        weights = integer_weights(program, function="test")
        every = [program.class_counts(Assignment(workers=a)) for a in reference.assignments(*lists(program.instance))]
        sums = [weights.value(program.imbalances(y)) for y in every]
        true = [weights.true_value(program.imbalances(y)) for y in every]
        ties = [k for k, v in enumerate(sums) if v <= min(sums) + sum(weights.values) // 3]
        worst = max(ties, key=lambda k: true[k])
        search = Search(seed=0, workers=1, clock=Clock(None, function="test"), function="test")
        y, proved = settle(program, weights, every[worst], min(sums), search)
        value = weights.true_value(program.imbalances(y))
        assert value == min(true) if proved else min(true) <= value <= true[worst], seed
        moved += proved and value < true[worst]
    assert moved > 0


def lists(instance: DecodeInstance) -> tuple[list[int], list[int]]:
    return instance.free.tolist(), instance.waiting.tolist()


def test_a_long_discounted_run_is_proved_throughout() -> None:
    for refresh in ("window", "iteration"):
        work = make_workload(Source(p="1/20", prompts="uniform:50"), workers=4, slots=8, queue=64, steps=25, seed=0)
        policy = make_policy(f"io:horizon=20,gamma=0.86,refresh={refresh}")
        simulate(work.stream, policy, workers=4, slots=8, steps=25)
        proofs = policy.proofs()
        assert proofs is not None and proofs.decisions > 15 and (proofs.unproved, proofs.gap) == (0, 0.0)
