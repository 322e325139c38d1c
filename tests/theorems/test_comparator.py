"""The comparator lemma of the decode paper (EC.1.2), and the smallest cases where a neighbouring statement fails."""

from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.theory._comparator_kernel import EVERY, ORDER, SOME, UNIQUE, Range, judged
from lbtheory.theory.comparator import KEYS, ComparatorResult, check_instance, enumerate_instances, search_counterexample
from tests.reference.exact import assignments, imbalance, spread_key

FAST = [
    # workers, s, instances, satisfying
    (1, 3, 288, 235),
    (2, 1, 378, 14),
    (2, 2, 4_092, 1_716),
    (2, 3, 42_120, 33_000),
    (2, 4, 429_552, 403_541),
    (3, 1, 7_992, 74),
    (3, 2, 176_904, 66_339),
    (3, 3, 3_212_352, 2_467_738),
    (4, 2, 6_014_844, 2_101_572),
]


def count_by_hand(workers: int, s: int, largest_free: int, largest_load: int) -> tuple[int, int]:
    """Instances, and those that meet the hypothesis: loads times queues, each queue looked at."""
    loads = (largest_load + 1) ** workers - largest_load**workers
    every = good = 0
    for slots, ways in Counter(map(sum, product(range(largest_free + 1), repeat=workers))).items():
        queues = list(product(range(2 * slots + 2), repeat=s))
        every += ways * len(queues)
        good += ways * sum(all(sum(q) - n >= slots for n in q) for q in queues)
    return loads * every, loads * good


def shape(result: ComparatorResult | None) -> tuple[Any, ...]:
    """Loads, free slots, queue, and the loads of the first optimum with a breach."""
    assert result is not None
    return result.loads, result.free, result.queue, result.breaches[0].loads


@pytest.mark.parametrize(("workers", "s", "instances", "satisfying"), FAST)
def test_lemma_holds_everywhere(workers: int, s: int, instances: int, satisfying: int) -> None:
    """Every optimum, every maximum: a θ for every deficit above s, and the order; nothing is left out of the range."""
    report = enumerate_instances(workers, s)
    assert (report.instances, report.satisfying) == (instances, satisfying) == count_by_hand(workers, s, 2, 2 * s + 1)
    assert report.failures == report.order_failures == 0 and report.example is None
    assert report == enumerate_instances(workers, s) and 0 < report.representatives < instances


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "s", "options", "instances", "satisfying"),
    [
        (3, 4, {}, 53_618_976, 50_292_180),
        (4, 3, {}, 181_229_400, 137_561_115),
        (3, 3, {"largest_load": 12}, 8_914_752, 6_848_338),
        (2, 4, {"largest_free": 4}, 9_595_760, 8_991_636),
    ],
)
def test_lemma_holds_in_larger_ranges(workers: int, s: int, options: dict[str, int], instances: int, satisfying: int) -> None:
    """More sizes, workers, load and slots than the lemma's first cases; also with the weaker hypothesis."""
    report = enumerate_instances(workers, s, **options)
    assert (report.instances, report.satisfying) == (instances, satisfying)
    assert report.failures == report.order_failures == 0
    weaker = enumerate_instances(workers, s, shortfall=1, **options)
    assert weaker.satisfying > satisfying and weaker.failures == 0


@pytest.mark.parametrize(
    ("workers", "s", "key", "options"),
    [
        (2, 2, "D,N,I", {"shortfall": 2}),
        (3, 2, "I", {"total_free": 2, "largest_load": 5}),
        (3, 2, "D", {"total_free": 2, "largest_load": 3}),
        pytest.param(3, 3, "I", {"largest_free": 1, "total_free": 2, "largest_load": 6}, marks=pytest.mark.slow),
    ],
)
def test_nothing_is_lost_by_symmetry(workers: int, s: int, key: str, options: dict[str, int]) -> None:
    """Every load, free slot and full queue one by one, by the plain judge, in the range of the report."""
    report = enumerate_instances(workers, s, key=key, **options)
    assert report.failures > 0
    found: Counter[str] = Counter()
    for free in product(range(report.largest_free + 1), repeat=workers):
        slots = sum(free)
        if report.total_free not in (None, slots):
            continue
        loads = [a for a in product(range(report.largest_load + 1), repeat=workers) if min(a) == 0]
        for counts in product(range(2 * slots + 2), repeat=s):
            found["instances"] += len(loads)
            if sum(counts) < slots or sum(counts) - max(counts) < slots - report.shortfall:
                continue
            queue = [t for t, n in enumerate(counts, 1) for _ in range(n)]
            for a in loads:
                result = check_instance(a, free, queue, key, s=s)
                found["satisfying"] += 1
                found["failures"] += not result.holds
                found["every_failures"] += result.every_fails
                found["unique_failures"] += result.unique_fails
                found["order_failures"] += not result.ordered
    names = ("instances", "satisfying", "failures", "every_failures", "unique_failures", "order_failures")
    assert {name: found[name] for name in names} == {name: getattr(report, name) for name in names}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_kernel_agrees_with_the_plain_judge(data: st.DataObject) -> None:
    """The same bits for any loads, free slots and key, on queues of any supply with at least ``C`` requests."""
    workers, s = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    profile = tuple(data.draw(st.lists(st.tuples(st.integers(0, 14), st.integers(0, 2)), min_size=workers, max_size=workers)))
    if sum(free for _, free in profile) > 4:
        profile = tuple((load, min(free, 1)) for load, free in profile)
    order = data.draw(st.integers(0, len(KEYS) - 1))
    (block,) = judged(Range(workers, s, 2, 14, None, 4), order, [profile])
    for _ in range(3):
        j = data.draw(st.integers(0, len(block.queues) - 1))
        queue = [t for t, n in enumerate(block.queues[j], 1) for _ in range(n)]
        result = check_instance(block.loads, block.free, queue, KEYS[order], s=s)
        bits = SOME * (not result.holds) + EVERY * result.every_fails + UNIQUE * result.unique_fails
        assert block.flags[j] == bits + ORDER * (not result.ordered)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=3),
    st.lists(st.integers(1, 4), min_size=1, max_size=6),
)
def test_plain_judge_against_brute_force_by_request(workers: list[tuple[int, int]], queue: list[int]) -> None:
    """Optima for ``(D, N, I)`` and ``I``, their maxima, and the pairs without a θ, from all subsets of requests."""
    loads, free, s = [a for a, _ in workers], [c for _, c in workers], max(queue)
    options = {tuple(tuple(sorted(queue[i] for i in t)) for t in option) for option in assignments(free, queue)}
    after = {option: [a + sum(t) for a, t in zip(loads, option, strict=True)] for option in options}
    for key, value in (("D,N,I", spread_key), ("I", lambda reached: (imbalance(reached),))):
        result = check_instance(loads, free, queue, key)
        best = {o: x for o, x in after.items() if value(x) == min(map(value, after.values()))}
        assert result.optimum == min(map(value, after.values())) and result.optima == len(best)
        tops = [(o, r) for o, x in best.items() for r in range(len(x)) if x[r] == max(x)]
        pairs = {(o, r, g) for o, r in tops for g in range(len(loads)) if best[o][r] - best[o][g] > s}
        bad = {
            (o, r, g)
            for o, r, g in pairs
            if all(sum(o[r]) - sum(o[g]) > theta * free[r] - (theta + 1) * free[g] for theta in range(s + 1))
        }
        assert result.maxima == len(tops) and {(b.assignment, b.r, b.g) for b in result.breaches} == bad
        assert result.failing_optima == len({o for o, _, _ in bad}) and len(result.breaches) == len(bad)
        assert result.failing_maxima == len({(o, r) for o, r, _ in bad})
        assert result.ordered == all(x <= y for o, r, g in pairs for x in o[r] for y in o[g])
        assert result.supply == min(len(queue) - queue.count(t) for t in range(1, s + 1))


def test_imbalance_alone_can_fail() -> None:
    """Loads 5, 0, 3; free 0, 1, 1; queue 1, 1, 2, 2: the one optimum 5, 2, 5 has two maxima, and that with a slot fails."""
    result = check_instance([5, 0, 3], [0, 1, 1], [1, 1, 2, 2], "I")
    assert result.hypothesis and (result.s, result.slots, result.supply) == (2, 2, 2)
    assert result.optimum == (3,) and (result.optima, result.failing_optima) == (1, 1)
    assert (result.maxima, result.failing_maxima) == (2, 1) and not result.every_fails and result.ordered
    (breach,) = result.breaches
    assert breach.assignment == ((), (2,), (2,)) and breach.loads == (5, 2, 5) and (breach.r, breach.g) == (2, 1)
    repaired = check_instance([5, 0, 3], [0, 1, 1], [1, 1, 2, 2])
    assert repaired.holds and repaired.optimum == (3, 1, 4) and repaired.optima == 1


@pytest.mark.parametrize("key", ["I", "I,D,N"])
def test_smallest_case_in_which_some_maximum_fails(key: str) -> None:
    """G = 3, s = 2, C = 2, then largest load 5: no less will do. More slots need less load: 4 at C = 3, 3 at C = 4.

    G = 2 has I = D, C = 1 no pair with a slot each, and s = 1 no queue that meets the hypothesis with a slot to fill.
    """
    assert shape(search_counterexample(key, 3, 2)) == ((0, 3, 5), (1, 1, 0), (1, 1, 2, 2), (2, 5, 5))
    assert search_counterexample(key, 3, 2, largest_load=4, total_free=2) is None
    assert shape(search_counterexample(key, 3, 2, largest_load=4)) == ((0, 3, 4), (1, 1, 1), (1, 1, 1, 2, 2, 2), (2, 5, 5))
    assert search_counterexample(key, 3, 2, largest_load=3, total_free=3) is None
    assert shape(search_counterexample(key, 3, 2, largest_load=3))[:2] == ((0, 3, 3), (1, 1, 2))
    assert search_counterexample(key, 3, 2, largest_load=2) is None
    assert enumerate_instances(3, 1, key=key).satisfying == enumerate_instances(3, 1, key=key, total_free=0).satisfying


@pytest.mark.parametrize("key", KEYS)
def test_two_workers_or_one_slot_never_fail(key: str) -> None:
    """Exhaustive for every key; the searches below show that three workers and two slots do."""
    for s in (1, 2, 3, 4):
        two = enumerate_instances(2, s, key=key)
        assert two.satisfying > 0 and two.failures == two.order_failures == 0
    for workers, s in product((2, 3, 4), (2, 3)):
        one = enumerate_instances(workers, s, key=key, total_free=1)
        assert one.satisfying > 0 and one.failures == one.order_failures == 0


@pytest.mark.parametrize(
    ("key", "s", "failures", "order_failures"),
    [
        ("I", 2, 3_276, 0),
        ("I", 3, 68_934, 14_562),
        ("I,D,N", 2, 3_276, 0),
        ("I,D,N", 3, 54_858, 0),
        ("D", 2, 12_432, 0),
        ("D", 3, 246_102, 0),
    ],
)
def test_how_often_other_keys_fail(key: str, s: int, failures: int, order_failures: int) -> None:
    """G = 3: some maximum of some optimum fails, never all of them; the search agrees with the report."""
    report = enumerate_instances(3, s, key=key)
    assert (report.failures, report.order_failures) == (failures, order_failures)
    assert report.every_failures == report.unique_failures == 0
    assert report.example == search_counterexample(key, 3, s)


def test_smallest_case_for_the_range_alone() -> None:
    """With ``D`` alone a tie may raise a maximum that a third worker's least load hides."""
    found = search_counterexample("D", 3, 2)
    assert shape(found) == ((0, 0, 3), (0, 1, 1), (1, 1, 2, 2), (0, 1, 4))
    assert found is not None and (found.optima, found.failing_optima) == (2, 1)


@pytest.mark.parametrize("key", ["I", "I,D,N"])
def test_unique_optimum_with_a_unique_maximum_that_fails(key: str) -> None:
    """G = 3, C = 2, s = 5: loads 0, 6, 10; queue 1, 1, 5, 5; the optimum 5, 11, 10 has I = 7. No rule for ties helps."""
    found = search_counterexample(key, 3, 5, kind="unique", total_free=2)
    assert shape(found) == ((0, 6, 10), (1, 1, 0), (1, 1, 5, 5), (5, 11, 10))
    assert found is not None and found.optimum[0] == 7 and found.optima == found.maxima == 1 and found.unique_fails
    assert search_counterexample(key, 3, 5, kind="every", total_free=2) == found
    for s in (2, 3, 4):
        assert search_counterexample(key, 3, s, kind="every", total_free=2) is None


@pytest.mark.slow
def test_every_maximum_fails_only_from_five_sizes_on() -> None:
    """Key I, G = 3 and s ≤ 4, or G = 4 and s ≤ 3, any C of the range: some maximum of some optimum always passes."""
    for workers, s, failures in ((3, 4, 963_462), (4, 2, 257_376), (4, 3, 10_359_144)):
        report = enumerate_instances(workers, s, key="I")
        assert report.failures == failures and report.every_failures == 0


@pytest.mark.parametrize(("workers", "s"), [(2, 2), (2, 4), (3, 2), (3, 3)])
def test_one_request_less_is_enough(workers: int, s: int) -> None:
    """``|R| ≥ C`` and ``|R∖R(t)| ≥ C − 1`` will do (ours)."""
    weaker = enumerate_instances(workers, s, shortfall=1)
    assert weaker.satisfying > enumerate_instances(workers, s).satisfying and weaker.failures == 0


@pytest.mark.parametrize(
    ("workers", "slots", "want"),
    [
        (2, 2, ((0, 3), (1, 1), (1, 1), (1, 4))),
        (3, 3, ((0, 0, 3), (1, 1, 1), (1, 1, 2), (1, 2, 4))),
        (3, 4, ((0, 2, 3), (1, 2, 1), (1, 1, 2, 2), (2, 4, 5))),
    ],
)
def test_two_requests_less_are_not(workers: int, slots: int, want: tuple[Any, ...]) -> None:
    """With ``|R∖R(t)| = C − 2`` for a ``t`` the lemma fails at C = 2, 3, 4: equal sizes on ``r`` and ``g``, none to swap."""
    found = search_counterexample("D,N,I", workers, 2, total_free=slots, shortfall=2)
    assert shape(found) == want
    assert found is not None and found.supply == slots - 2 and not found.hypothesis and found.ordered


def test_too_few_requests_break_the_lemma() -> None:
    """``|R| < C``: a free slot on ``g`` that nobody takes leaves no θ."""
    result = check_instance([3, 0], [0, 1], [], s=2)
    assert (result.supply, result.slots) == (0, 1) and result.unique_fails


@pytest.mark.parametrize(("workers", "s"), [(2, 4), (3, 2), (3, 3)])
def test_order_needs_no_hypothesis(workers: int, s: int) -> None:
    """``max T_r ≤ min T_g`` for ``(D, N, I)`` with any queue of at least ``C`` requests, where the lemma itself fails."""
    report = enumerate_instances(workers, s, shortfall=2 * workers)
    assert report.order_failures == 0 and report.failures > 0


def test_order_can_fail_for_imbalance_alone() -> None:
    """Loads 0, 3, 6; one slot each on the first two; queue 1, 2, 3: (2, 3) ties with (3, 2) for I."""
    result = check_instance([0, 3, 6], [1, 1, 0], [1, 2, 3], "I")
    assert result.hypothesis and result.optima == 2 and not result.ordered
    assert [(b.assignment, b.r, b.g) for b in result.order_breaches] == [(((2,), (3,), ()), 1, 0)]


def test_progress_is_told() -> None:
    """Called once for each choice of loads and free slots, the last time with all done."""
    calls: list[tuple[int, int]] = []
    enumerate_instances(2, 1, progress=lambda done, total: calls.append((done, total)))
    assert [done for done, _ in calls] == list(range(1, len(calls) + 1)) and {total for _, total in calls} == {len(calls)}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_instance([1], [1, 2], [1]), "one entry a worker; got 1, 2"),
        (lambda: check_instance([], [], [1]), "one entry a worker"),
        (lambda: check_instance([-1], [1], [1]), r"`loads\[0\]`.*≥ 0; got -1"),
        (lambda: check_instance([0], [1], [0]), r"`queue\[0\]`.*≥ 1; got 0"),
        (lambda: check_instance([0.5], [1], [1]), r"`loads\[0\]`.*got 0.5"),
        (lambda: check_instance([0], [1], [3], s=2), "`s`.*≥ 3; got 2"),
        (lambda: check_instance([0], [1], []), "`s` of `check_instance` must be given"),
        (lambda: check_instance([0] * 9, [2] * 9, [1, 2, 3] * 6), "at most 200000 assignments"),
        (lambda: enumerate_instances(0, 2), "`workers`.*≥ 1; got 0"),
        (lambda: enumerate_instances(2, 0), "`s`.*≥ 1; got 0"),
        (lambda: search_counterexample("I", 2, 2, shortfall=-1), "`shortfall`.*≥ 0; got -1"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    """The message names the argument, what it must be and what came."""
    with pytest.raises(ParameterError, match=message):
        call()


def test_unknown_names() -> None:
    """Keys and kinds of failure are offered."""
    for call in (lambda: check_instance([0], [0], [1], "N"), lambda: enumerate_instances(2, 2, key="D,I")):
        with pytest.raises(UnknownNameError, match="D,N,I"):
            call()
    with pytest.raises(UnknownNameError, match="unique"):
        search_counterexample("I", 2, 2, kind="all")
