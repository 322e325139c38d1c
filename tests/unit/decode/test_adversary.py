"""Worst decisions by search: known worst cases, nothing without proof, equal seeds, the bound of any assignment."""

import json
from itertools import product

import numpy as np
import pytest

from lbtheory.core import ParameterError, PolicyError
from lbtheory.decode import adversary
from lbtheory.decode.adversary import largest_gap, search_worst
from lbtheory.decode.adversary_tasks import worst_gap
from lbtheory.decode.exact import Decision, decide_io, solve_io
from lbtheory.decode.instance import decode_instance, imbalance, loads_after
from lbtheory.decode.once import decide_once
from lbtheory.decode.policies import make_policy, view_of_instance
from tests.reference import exact as oracle

RULES = ["br0", "level-plus", "level-x", "token-jsq", "jsq"]
LITTLE = {"starts": 60, "climbs": 2, "moves": 120}


def decided(policy: str, loads: list[int], free: list[int], waiting: list[int]) -> tuple[int, int]:
    """``I`` of the plain policy, and proved ``I*``."""
    instance = decode_instance(loads, free, waiting)
    rule, rng = make_policy(policy), np.random.default_rng(0)
    rule.reset(len(free), max(free))
    mine = rule.assign(view_of_instance(instance, rule.information, rng), rng)
    exact = solve_io(instance)
    assert exact.status.value == "optimal" and exact.imbalance is not None
    return imbalance(loads_after(instance, mine)[:, 0]), exact.imbalance


@pytest.mark.parametrize("policy", [*RULES, "level", "rr", "br0:greedy=0", "level-plus:window=0,lam=1", "spread-lex"])
def test_one_decision_is_that_of_the_plain_policy(policy: str) -> None:
    """Full workers, ties, no load, as many waiting as slots and more."""
    rng, rule = np.random.default_rng(5), make_policy(policy)
    for k in range(40):
        free = rng.integers(0, 4, rng.integers(2, 5))
        free[0] += free.sum() == 0
        loads = rng.integers(0, (1, 9)[k % 2], len(free)) * 3
        waiting = rng.integers(1, (3, 30)[k % 3 > 0], free.sum() + rng.integers(0, 20))
        instance = decode_instance(loads, free, waiting)
        rule.reset(len(free), int(free.max()))
        draws = np.random.default_rng(0)  # of a solver's search
        plain = rule.assign(view_of_instance(instance, rule.information, draws), draws).workers
        worker = decide_once(rule, loads, free, waiting)
        assert [np.flatnonzero(worker == g).tolist() for g in range(len(free))] == list(map(list, plain)), (
            loads,
            free,
            waiting,
        )


@pytest.mark.parametrize("policy", RULES)
def test_the_search_finds_the_worst_of_a_tiny_family(policy: str) -> None:
    """Two workers with a free slot each, sizes 1 … 3, three waiting: all instances, I* by brute force."""
    free, top, queue = [1, 1], 3, 3
    reach, rule = top * (max(free) + 1), make_policy(policy)
    worst = 0
    for a, *sizes in product(range(-reach, reach + 1), *[range(1, top + 1)] * queue):  # only the difference of loads counts
        loads = [max(a, 0), max(-a, 0)]
        rows = [[v] for v in loads]
        least = min(oracle.imbalance(oracle.loads_at(rows, sizes, one, 0)) for one in oracle.assignments(free, sizes))
        worker = decide_once(rule, np.array(loads), np.array(free), np.array(sizes))
        after = [v + sum(s for s, w in zip(sizes, worker, strict=True) if w == g) for g, v in enumerate(loads)]
        worst = max(worst, oracle.imbalance(after) - least)
    found = search_worst(rule, free, top, queue, starts=100, climbs=5, moves=200, seed=0)
    assert found.gap == worst > 0 and found.unproved == 0
    assert (found.value, found.optimum) == decided(policy, *(x.tolist() for x in (found.loads, found.free, found.waiting)))


def test_no_gap_exceeds_the_bound_and_some_attain_it() -> None:
    """All assignments of random small instances; first come attains the bound in a long queue, and where all are admitted."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        free = rng.integers(0, 3, rng.integers(2, 4)).tolist()
        free[0] += sum(free) == 0
        sizes = rng.integers(1, 4, min(5, sum(free) + rng.integers(0, 3))).tolist()
        if len(sizes) < sum(free):
            continue
        rows = [[int(v)] for v in rng.integers(0, 7, len(free))]
        values = [oracle.imbalance(oracle.loads_at(rows, sizes, one, 0)) for one in oracle.assignments(free, sizes)]
        assert max(values) - min(values) <= largest_gap(free, 3, len(sizes))
    for workers, c, s in ((2, 1, 4), (3, 2, 5), (8, 8, 100)):
        slots, last = workers * c, (workers - 1) * c
        sizes = [1] * last + [s] * last
        value, least = decided("token-jsq", [c] * (workers - 1) + [s * c], [c] * workers, sizes)
        assert least == 0 and value == largest_gap([c] * workers, s, len(sizes)) == (s - 1) * (workers - 2 + workers) * c
        assert slots <= len(sizes)
    value, least = decided("token-jsq", [8, 1, 1], [2, 2, 2], [1] * 4 + [3] * 2)
    assert value - least == largest_gap([2, 2, 2], 3, 6) == 3 * 2 * 2
    assert largest_gap([5], 9, 9) == 0 and largest_gap([3, 0, 0], 2, 3) == 3 + 3


@pytest.mark.parametrize(("policy", "window"), [("br0", 4), ("level-plus", 32), ("level-x", 65)])
def test_one_free_slot(policy: str, window: int) -> None:
    """A rule that looks at the oldest alone loses all it can when the fit comes after; BR-0 that sees all is exact."""
    loads, free = [0] + [1] * 7, [1] + [0] * 7
    value, least = decided(policy, loads, free, [50] * window + [1])
    assert (value, least) == (largest_gap(free, 50, window + 1), 0) == (7 * 49, 0)
    assert decided(policy, loads, free, [50] * (window - 1) + [1])[0] < value
    assert search_worst(make_policy("br0"), free, 50, 4, seed=0, **LITTLE).gap == 0


def test_what_is_not_proved_never_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that proves nothing, or only gaps of 0."""
    found = search_worst(make_policy("jsq"), [2, 2], 9, 8, seed=1, **LITTLE)
    assert found.gap > 0 == found.unproved

    def unproved(*args: np.ndarray, **more: int) -> Decision:
        answer = decide_io(*args, **more)
        return Decision(worker=answer.worker, value=answer.value, bound=-1, method="start")

    monkeypatch.setattr(adversary, "decide_io", unproved)
    found = search_worst(make_policy("jsq"), [2, 2], 9, 8, seed=1, **LITTLE)
    assert found.gap == 0 and found.mean is None and found.unproved == found.solved == found.evaluations == 60 + 120

    def level_only(*args: np.ndarray, **more: int) -> Decision:
        return decide_io(*args, **more) if args[0][0] == args[0][1] else unproved(*args, **more)

    monkeypatch.setattr(adversary, "decide_io", level_only)
    found = search_worst(make_policy("jsq"), [2, 2], 9, 8, seed=1, **LITTLE)
    assert found.loads[0] == found.loads[1] and 0 < found.unproved < found.solved


def test_a_decision_that_leaves_slots_free_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would look better than the optimum."""
    monkeypatch.setattr(adversary, "decide_once", lambda policy, loads, free, waiting: np.full(len(waiting), -1))
    with pytest.raises(PolicyError, match="not maximal"):
        search_worst(make_policy("jsq"), [2, 0], 9, 8, seed=1, **LITTLE)


def test_equal_seeds_give_equal_records() -> None:
    """And the record is of its instance."""
    system = {"free": [2, 0, 1], "largest": 20, "queue": 6, **LITTLE}
    (first,), (again,), (other,) = (worst_gap(seed=s, policy="level-plus", **system) for s in (3, 3, 4))
    assert first == again != other
    value, least = decided("level-plus", **json.loads(first["instance"]))
    assert (value, least, value - least) == (first["imbalance"], first["optimum"], first["gap"])
    assert first["status"] == "optimal" and 0 < first["gap"] <= first["bound"] == largest_gap([2, 0, 1], 20, 6)
    assert first["evaluations"] == 60 + 2 * 120 >= first["solved"] and 0 <= first["mean"] <= first["gap"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"free": [1]}, "two workers"),
        ({"free": [0, 0]}, "free slot"),
        ({"free": [1, -1]}, "free"),
        ({"free": [1, 0.5]}, "free"),
        ({"largest": 1}, "largest"),
        ({"queue": 1}, "Let more requests wait"),
        ({"starts": 0}, "starts"),
        ({"climbs": -1}, "climbs"),
        ({"moves": 2.5}, "moves"),
        ({"seed": -1}, "seed"),
        ({"policy": "brh"}, "without forecasts"),
        ({"policy": "random"}, "draws"),
    ],
)
def test_bad_input_is_refused(change: dict[str, object], says: str) -> None:
    given = {"policy": "jsq", "free": [1, 1], "largest": 4, "queue": 3, "seed": 0, **LITTLE} | change
    with pytest.raises(ParameterError, match=says):
        search_worst(make_policy(str(given.pop("policy"))), **given)  # type: ignore[arg-type]
