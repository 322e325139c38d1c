"""The special exact method against CP-SAT on random small instances: equal optima, true bounds. 300 here, 10,000 when slow."""

from collections import Counter

import numpy as np
import pytest

from lbtheory.core import SolverStatus
from lbtheory.decode.exact import solve_io, solve_spread_lex
from lbtheory.decode.exact.program import build_program
from lbtheory.decode.exact.window import applies_to_window, search_window, special_window, total_value
from lbtheory.decode.exact.zero import applies, decide_io, special_io
from lbtheory.decode.instance import DecodeInstance, check_assignment, decode_instance, objective


def draw(rng: np.random.Generator) -> DecodeInstance:
    """Few or many sizes, loads that tie or lie far apart, sometimes a window, sometimes fewer waiting than free."""
    workers, top = int(rng.integers(2, 6)), int(rng.choice([1, 2, 5, 12, 60, 10**6]))
    far = int(rng.choice([1, 3, top, 4 * top]))
    horizon = int(rng.choice([0, 0, 0, 1, 3]))
    free = rng.integers(0, 3 if workers > 3 else 4, workers)
    waiting = rng.integers(1, top + 1, max(1, int(free.sum()) + int(rng.integers(-1, 7))))
    rows = rng.integers(0, far + 1, (workers, horizon + 1))
    gamma = str(rng.choice(["1", "9/10", "1/2"]))
    return decode_instance(rows[:, 0], free, waiting, projected=rows, gamma=gamma)


def check(first: int, many: int) -> Counter[str]:
    methods: Counter[str] = Counter()
    for seed in range(first, first + many):
        rng = np.random.default_rng(seed)
        instance = draw(rng)
        found = solve_io(instance, tie="none", seed=seed)
        exact = solve_io(instance, formulation="class-count", shortcuts=False, tie="none", seed=seed)
        assert exact.status is found.status is SolverStatus.OPTIMAL, seed
        assert found.objective == found.bound == exact.objective, seed
        assert found.assignment is not None and exact.objective is not None
        check_assignment(instance, found.assignment)
        assert objective(instance, found.assignment) == exact.objective, seed
        methods[found.method] += 1
        program = build_program(instance, function="test")
        effort = {"rounds": int(rng.choice([1, 200])), "seed": seed}
        if applies(program):
            nodes = int(rng.choice([1, 10, 200_000]))
            part = special_io(program, nodes=nodes, **effort)
            assert part.bound <= exact.objective <= part.value == total_value(program, part.counts), seed
            again = decide_io(instance.loads, instance.free, instance.waiting, nodes=nodes, **effort)
            assert (again.value, again.bound) == (part.value, part.bound), seed
        elif applies_to_window(program):
            window = special_window(program, **effort)
            assert window is not None and window.bound <= exact.objective, seed
            assert window.y is None or window.value == total_value(program, window.y) >= exact.objective, seed
            few = search_window(program, program.starts()[0], nodes=int(rng.choice([1, 30, 30_000])))
            assert few is None or few.bound <= exact.objective <= few.value == total_value(program, few.y), seed
        if seed % 5 == 0:
            spread, plain = solve_spread_lex(instance), solve_spread_lex(instance, shortcuts=False)
            assert spread.key == spread.key_bound == plain.key, seed
    return methods


def test_the_special_method_is_cp_sat_on_300_instances() -> None:
    methods = check(0, 300)
    assert {"bound", "search", "levels", "cp-sat"} <= set(methods)


@pytest.mark.slow
def test_the_special_method_is_cp_sat_on_10_000_instances() -> None:
    check(1_000, 10_000)
