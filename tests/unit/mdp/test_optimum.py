"""The long-run optimum: known values, plain value iteration, bounds that bracket, rules as they run."""

import math
from itertools import pairwise, product

import numpy as np
import pytest

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.decode.mdp import (
    best_ties,
    build,
    deviation,
    evaluate,
    first_come,
    optimum,
    policy_mix,
    system,
    worst_gap,
    worst_ties,
)
from lbtheory.decode.mdp.model import least_states
from lbtheory.decode.mdp.solve import optimal_fills
from lbtheory.decode.mdp.tasks import averages
from lbtheory.decode.policies import make_policy


def close(found: float, value: float) -> bool:
    return math.isclose(found, value, abs_tol=1e-9)


@pytest.mark.parametrize(
    ("args", "cap", "best", "random"),
    [
        ((2, 1, 1 / 2, (1, 2, 3, 4)), 50, 9 / 16, 31 / 16),
        ((2, 1, 1 / 5, (1, 2, 3)), 140, 4.096, 4.582716049382716),
    ],
)
def test_two_workers_of_one_slot(args: tuple[object, ...], cap: int, best: float, random: float) -> None:
    model = build(system(*args, cap=cap))  # type: ignore[arg-type]
    assert close(optimum(model).average, best)
    assert close(best_ties(model, "io").average, best)
    assert close(first_come(model).average, random)
    assert deviation(model, optimum(model)) is None


def test_three_workers_where_today_is_not_right() -> None:
    model = build(system(3, 1, 1 / 3, (1, 2), cap=60))
    best, myopic = optimum(model), best_ties(model, "io")
    assert close(best.average, 332 / 57) and close(myopic.average, 1664 / 285)
    assert close(best_ties(model, "spread-lex").average, 1664 / 285)
    assert worst_ties(model, "io").average > myopic.average + 0.2
    assert best.span <= 1e-10
    wrong = deviation(model, best)
    assert wrong is not None
    assert wrong.survivors == ((2,), (), ())
    assert (wrong.myopic, wrong.best) == (((2,), (2,), (2,)), ((1,), (1,), (2,)))
    assert wrong.today == (0, 2) and wrong.later[0] - wrong.later[1] > 2
    assert "2 more today" in str(wrong)


@pytest.mark.slow
def test_three_workers_at_one_tenth() -> None:
    model = build(system(3, 1, 1 / 10, (1, 2), cap=190))
    for found, value in ((optimum(model), 6070167 / 257450), (best_ties(model, "io"), 3047949 / 128725)):
        below, above = found.truncation
        assert found.low - below <= value <= found.high + above
        assert abs(found.average - value) < 2e-6


@pytest.mark.parametrize("more", [{}, {"queue": 2}, {"look": 1}])
def test_the_methods_agree(more: dict[str, int]) -> None:
    model = build(system(2, 1, 0.3, (1, 2, 4), cap=20, **more))
    methods = ("steps", "policies") if more.get("look") else ("events", "steps", "policies")
    for rule in ("io", "spread-lex"):
        found = [
            [run.average for run in (optimum(model, method=m), best_ties(model, rule, method=m), first_come(model, method=m))]
            + [worst_ties(model, rule, method=m).average]
            for m in methods
        ]
        assert np.allclose(found, found[0], rtol=0, atol=2e-9)
    best = optimum(model)
    assert optimum(model, method="policies").sweeps <= 2
    again = evaluate(model, model.first, near=first_come(model))
    assert close(again.average, first_come(model).average) and again.sweeps <= 2
    values = [optimum(model, method=m).values for m in methods]
    assert np.allclose(values, values[0], rtol=0, atol=1e-7)
    assert best.span <= 1e-10


def test_events_take_fewer_sweeps() -> None:
    model = build(system(2, 1, 0.1, (1, 2), cap=60))
    assert 2 * optimum(model, method="events").sweeps < optimum(model, method="steps").sweeps


def test_tables_are_what_chance_does() -> None:
    model = build(system(2, 2, 0.25, (1, 2), cap=4))
    rows, _ = model.slots_of(model.after)
    before, _ = model.slots_of(model.before)
    for y in (0, len(rows) // 2, len(rows) - 1):
        law: dict[tuple[tuple[int, ...], ...], float] = {}
        for leave in product((True, False), repeat=4):
            loads = [0 if gone else min(model.workload(a) + 1, 4) for gone, a in zip(leave, rows[y].ravel(), strict=True)]
            state = tuple(sorted((tuple(sorted(loads[:2])), tuple(sorted(loads[2:])))))
            law[state] = law.get(state, 0.0) + math.prod(0.25 if gone else 0.75 for gone in leave)
        found: dict[tuple[tuple[int, ...], ...], float] = {}
        for j in range(model.start[y], model.start[y + 1]):
            state = tuple(sorted(tuple(sorted(model.workload(a) for a in row)) for row in before[model.to[j]]))
            found[state] = found.get(state, 0.0) + model.weight[j]
        assert found == pytest.approx(law, abs=1e-14)
    assert model.nbytes < 100_000 and model.to.dtype == np.int32


def test_no_gap_at_two_fifths() -> None:
    model = build(system(3, 1, 2 / 5, (1, 2), cap=40))
    assert close(optimum(model).average, best_ties(model, "io").average)


def test_a_low_cap_stays_within_its_bound() -> None:
    for cap in (5, 8, 12, 20):
        found = optimum(build(system(2, 1, 1 / 2, (1, 2, 3, 4), cap=cap)))
        below, above = found.truncation
        assert found.low - below <= 9 / 16 <= found.high + above
    assert abs(optimum(build(system(2, 1, 1 / 2, (1, 2, 3, 4), cap=5))).average - 9 / 16) > 1e-3


def plain(workers: int, slots: int, p: float, sizes: tuple[int, ...], cap: int, sweeps: int) -> float:
    """The optimum without any reduction: slots in order, every fill, plain dictionaries."""
    n = workers * slots
    states = list(product(range(1, cap + 1), repeat=n))
    masks = list(product((0, 1), repeat=n))

    def cost(w: tuple[int, ...]) -> int:
        loads = [sum(w[g * slots : (g + 1) * slots]) for g in range(workers)]
        return workers * max(loads) - sum(loads)

    value = dict.fromkeys(states, 0.0)
    ahead = {
        state: [
            (
                p ** sum(mask) * (1 - p) ** (n - sum(mask)),
                list(product(*(sizes if done else (min(w + 1, cap),) for w, done in zip(state, mask, strict=True)))),
            )
            for mask in masks
        ]
        for state in states
    }
    for _ in range(sweeps):
        new = {y: cost(y) + sum(c * min(value[z] for z in after) for c, after in ahead[y]) for y in states}
        changes = [new[y] - value[y] for y in states]
        value = {y: v - new[states[0]] for y, v in new.items()}
    assert max(changes) - min(changes) < 1e-9
    return (max(changes) + min(changes)) / 2


@pytest.mark.parametrize("args", [(2, 1, 0.5, (1, 3), 7), (3, 1, 0.6, (1, 2), 4), (2, 2, 0.6, (1, 2), 3)])
def test_exchange_of_slots_and_workers_loses_nothing(args: tuple[int, int, float, tuple[int, ...], int]) -> None:
    workers, slots, p, sizes, cap = args
    model = build(system(workers, slots, p, sizes, cap=cap))
    assert math.isclose(optimum(model).average, plain(workers, slots, p, sizes, cap, 60), abs_tol=1e-8)


def test_chance_and_first_come_are_laws() -> None:
    for more in ({}, {"queue": 2}, {"look": 2}):
        model = build(system(2, 2 if not more else 1, 0.4, (1, 3), law=(0.3, 0.7), cap=6, **more))
        assert np.allclose(np.add.reduceat(model.weight, model.start[:-1]), 1)
        assert np.allclose(np.add.reduceat(model.first, model.act[:-1]), 1)


def test_a_finite_queue_lies_between_first_come_and_rich_supply() -> None:
    rich = build(system(2, 1, 0.5, (1, 2, 3), cap=30))
    values = [optimum(build(system(2, 1, 0.5, (1, 2, 3), cap=30, queue=r))).average for r in (0, 1, 2, 4)]
    assert close(values[0], first_come(rich).average)
    assert all(a > b for a, b in pairwise(values))
    assert values[-1] > optimum(rich).average
    waiting = build(system(2, 1, 0.5, (1, 2, 3), cap=30, queue=2))
    assert close(first_come(waiting).average, first_come(rich).average)


def test_known_lives_help_the_optimum_and_change_nothing_for_first_come() -> None:
    blind = build(system(2, 1, 0.3, (1, 2, 3, 4), cap=40))
    averages_ = []
    for look in (1, 2):
        seeing = build(system(2, 1, 0.3, (1, 2, 3, 4), cap=40, look=look))
        assert close(first_come(seeing).average, first_come(blind).average)
        assert close(best_ties(seeing, "io-h").low, optimum(seeing).low) or optimum(seeing).high < best_ties(seeing, "io-h").low
        averages_.append(optimum(seeing).average)
    assert averages_[0] < optimum(blind).average - 0.2 and averages_[1] <= averages_[0] + 1e-9


def test_policies_are_asked_as_they_run() -> None:
    model = build(system(2, 2, 0.5, (1, 2, 3), cap=9))
    best = optimum(model).average
    exact = policy_mix(model, make_policy("io"))
    assert worst_gap(model, exact) == 0
    assert (optimal_fills(model, "io") | (exact == 0)).all()
    low, high = best_ties(model, "io").low, worst_ties(model, "io").high
    assert low - 1e-9 <= evaluate(model, exact).average <= high + 1e-9
    for name in ("br0:greedy=0", "level:overtake=none"):
        mix = policy_mix(model, make_policy(name))
        assert evaluate(model, mix).average > best
        assert worst_gap(model, mix) >= 1


def test_records() -> None:
    (row,) = averages(seed=0, workers=2, slots=1, p="1/2", sizes=[1, 2, 3, 4])
    assert abs(row["optimum"] - 9 / 16) < 2e-6 and row["above"] <= 1e-6 and row["where"] == ""
    (row,) = averages(seed=0, workers=2, slots=1, p="1/2", sizes=[1, 2], look=1, error=1e-2)
    assert row["br0"] is None and row["io_h"] >= row["optimum"] - 1e-9


@pytest.mark.parametrize(
    ("workers", "slots", "sizes", "cap", "queue"),
    [(2, 1, (1, 3), 9, None), (2, 2, (2, 3), 6, None), (4, 1, (3,), 7, None), (3, 1, (2, 3), 6, 2), (2, 2, (1, 2, 4), 5, 3)],
)
def test_states_are_counted_before_they_are_met(
    workers: int, slots: int, sizes: tuple[int, ...], cap: int, queue: int | None
) -> None:
    one = system(workers, slots, 0.5, sizes, cap=cap, queue=queue)
    assert least_states(one) == len(build(one).after)
    if queue is None:
        seeing = system(workers, slots, 0.5, sizes, cap=cap, look=1)
        assert least_states(seeing) <= len(build(seeing).after)


def test_bad_input() -> None:
    good = {"workers": 2, "slots": 1, "p": 0.5, "sizes": (1, 2), "cap": 5}
    for change, match in (
        ({"p": 1.0}, "`p` of `system`"),
        ({"p": float("nan")}, "`p` of `system`"),
        ({"p": "1/2"}, "`p` of `system`"),
        ({"sizes": (1.5, 2.5)}, "`sizes` of `system`"),
        ({"cap": 5.5}, "`cap` of `system`"),
        ({"cap": "5"}, "`cap` of `system`"),
        ({"law": (float("nan"), 0.5)}, "`law` of `system`"),
        ({"sizes": (2, 1)}, "`sizes` of `system`"),
        ({"sizes": ()}, "`sizes` of `system`"),
        ({"law": (0.5, 0.4)}, "`law` of `system`"),
        ({"cap": 1}, "`cap` of `system`"),
        ({"workers": 1}, "`workers` of `system`"),
        ({"queue": -1}, "`queue` of `system`"),
        ({"slots": 12, "cap": 50}, "62 bits"),
    ):
        with pytest.raises(ParameterError, match=match):
            system(**(good | change))  # type: ignore[arg-type]
    model = build(system(2, 1, 0.5, (1, 2), cap=5))
    with pytest.raises(UnknownNameError):
        best_ties(model, "io_0")
    with pytest.raises(UnknownNameError):
        optimum(model, method="howard")
    with pytest.raises(ParameterError, match="`method`"):
        optimum(build(system(2, 1, 0.5, (1, 2), cap=5, look=1)), method="events")
    for large in (system(2, 2, 0.02, (1, 2), cap=400), system(3, 2, 0.3, (1, 2, 3), cap=60)):  # refused before they are built
        with pytest.raises(ParameterError, match="Lower the cap"):
            build(large)
    with pytest.raises(ParameterError, match="`mix` of `evaluate`"):
        evaluate(model, model.first * 0.5)
    with pytest.raises(ParameterError, match="uniform"):
        policy_mix(build(system(2, 1, 0.5, (1, 2), law=(0.3, 0.7), cap=5)), make_policy("br0"))
