"""What a policy may see, what it may do, and what a size-blind rule cannot depend on."""

from typing import ClassVar

import numpy as np
import pytest

from lbtheory.core import InformationError, ParameterError, PolicyError
from lbtheory.decode.engine import simulate
from lbtheory.decode.instance import Assignment
from lbtheory.decode.policies import InformationSet, Policy, View
from lbtheory.decode.stream import RequestStream, request_stream
from lbtheory.decode.traces.releases import at_iterations, saturated
from tests.contracts.cases import COUNT_RULES, policy, stream

NEEDS = {
    "loads": InformationSet.LOADS,
    "ages": InformationSet.AGES,
    "prompts": InformationSet.PROMPTS,
    "prompt_mean": InformationSet.PROMPTS,
    "forecast": InformationSet.FORECAST,
    "coins": InformationSet.COINS,
}
EVERYTHING = InformationSet.LOADS | InformationSet.AGES | InformationSet.PROMPTS | InformationSet.COINS


def first_fit(view: View) -> Assignment:
    """The oldest to the lowest worker with room."""
    slots = [g for g, c in enumerate(view.free) for _ in range(c)]
    return Assignment(workers=tuple(tuple(j for j in range(view.admissions) if slots[j] == g) for g in range(len(view.free))))


class Reader(Policy):
    """First fit that also reads one attribute of its view."""

    name: ClassVar[str] = "reader"

    def __init__(self, attribute: str, information: InformationSet) -> None:
        self.attribute, self.information = attribute, information  # type: ignore[misc]

    def assign(self, view: View, rng: np.random.Generator) -> Assignment:
        """Read, then first fit."""
        getattr(view, self.attribute)
        return first_fit(view)


class Given(Policy):
    """A policy that returns what a function of the view says."""

    name: ClassVar[str] = "given"

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def assign(self, view: View, rng: np.random.Generator) -> Assignment:
        """The given answer."""
        return self.answer(view)  # type: ignore[operator,no-any-return]


def small() -> RequestStream:
    """Five requests, three at iteration 1."""
    return request_stream(np.array([3, 1, 2, 5, 4]), np.array([2, 1, 3, 1, 2]), at_iterations([1, 1, 1, 2, 4]))


@pytest.mark.parametrize("attribute", NEEDS)
def test_reading_outside_the_declared_information_raises(attribute: str) -> None:
    """Each attribute needs its flag, whatever else is declared."""
    with pytest.raises(InformationError, match=attribute):
        simulate(small(), Reader(attribute, InformationSet.NOTHING), workers=2, slots=1)
    others = (EVERYTHING | InformationSet.FORECAST) & ~NEEDS[attribute]
    with pytest.raises(InformationError, match=attribute):
        simulate(small(), Reader(attribute, others), workers=2, slots=1)


@pytest.mark.parametrize("attribute", [a for a in NEEDS if a != "forecast"])
def test_declared_information_is_there(attribute: str) -> None:
    """With its flag the same policy runs."""
    made = simulate(small(), Reader(attribute, NEEDS[attribute]), workers=2, slots=1)
    assert made.stopped == "drained"


def test_nobody_sees_output_lengths() -> None:
    """No public attribute of a view holds hidden lengths, and unknown names are plain attribute errors."""
    seen: list[set[str]] = []

    def look(view: View) -> Assignment:
        seen.append({name for name in dir(view) if not name.startswith("_")})
        with pytest.raises(AttributeError):
            view.outputs  # noqa: B018
        return first_fit(view)

    simulate(small(), Given(look), workers=2, slots=1)
    methods = {"admissions", "as_seen", "forced"}
    assert seen[0] == {"active", "admitted", "free", "iteration", "order", "slots", "waited", "weights"} | methods


def test_a_view_can_only_be_narrowed() -> None:
    """`View.as_seen` drops what the other policy does not declare and adds nothing."""

    def look(view: View) -> Assignment:
        for asked in (InformationSet.NOTHING, EVERYTHING | InformationSet.FORECAST):
            narrow = view.as_seen(asked)
            for attribute in NEEDS:
                with pytest.raises(InformationError, match=attribute):
                    getattr(narrow, attribute)
            assert (narrow.free, narrow.order, narrow.admitted) == (view.free, view.order, view.admitted)
        return first_fit(view)

    simulate(small(), Given(look), workers=2, slots=1)


def test_user_policy_runs_in_the_plain_engine() -> None:
    """A Python policy needs no compiled rule; asking for one is a named error."""
    made = simulate(stream("clock"), Given(first_fit), workers=3, slots=2)
    assert made.engine == "plain" and made.stopped == "drained" and made.requests.finished.all()
    with pytest.raises(ParameterError, match="no compiled rule"):
        simulate(stream("clock"), Given(first_fit), workers=3, slots=2, engine="compiled")


def test_user_policy_cannot_change_the_system_through_its_view() -> None:
    """A policy that scribbles over its view after deciding changes nothing."""

    def scribble(view: View) -> Assignment:
        answer = first_fit(view)
        view.free[:] = [99] * len(view.free)
        view.order.clear()
        return answer

    a = simulate(stream("saturated"), Given(scribble), workers=3, slots=2, keep_loads=True)
    b = simulate(stream("saturated"), Given(first_fit), workers=3, slots=2, keep_loads=True)
    assert np.array_equal(a.iterations.loads, b.iterations.loads)


@pytest.mark.parametrize(
    ("workers", "remedy"),
    [
        (((0,), ()), "must admit 2 requests"),  # not maximal
        (((), ()), "must admit 2 requests"),
        (((0, 1), ()), "more requests than it has free slots"),
        (((0,), (0,)), "at most once"),
        (((0,), (3,)), "does not wait"),
        (((0,), (-1,)), "does not wait"),
        (((0,), (1,), ()), "at most once, for 2 workers"),
        (((0,),), "at most once, for 2 workers"),
    ],
)
def test_bad_assignments_raise(workers: tuple[tuple[int, ...], ...], remedy: str) -> None:
    """Infeasible or non-maximal assignments are refused with the policy's name."""
    with pytest.raises(PolicyError, match=remedy) as error:
        simulate(small(), Given(lambda view: Assignment(workers=workers)), workers=2, slots=1)
    assert "given" in str(error.value)


@pytest.mark.parametrize("engine", ["compiled", "plain"])
@pytest.mark.parametrize("text", COUNT_RULES)
def test_count_rules_are_blind_to_sizes(text: str, engine: str) -> None:
    """Other prompts, same draws: every destination and admission iteration stays."""
    n = 90
    rng = np.random.default_rng(8)
    outputs, times = rng.geometric(0.2, n), np.sort(rng.integers(1, 30, n))
    for releases in (saturated(4), at_iterations(times)):
        runs = [
            simulate(request_stream(prompts, outputs, releases, seed=2), policy(text), workers=3, slots=4, engine=engine)
            for prompts in (np.ones(n, int), rng.integers(1, 500, n))
        ]
        assert np.array_equal(runs[0].requests.worker, runs[1].requests.worker)
        assert np.array_equal(runs[0].requests.admission_iteration, runs[1].requests.admission_iteration)


def test_coins_belong_to_requests() -> None:
    """Draws depend on the seed and the request only, so policies share them."""
    made = stream("iteration")
    assert np.array_equal(made.coins(), stream("iteration").coins()) and made.coins().shape == (len(made), 3)
    longer = request_stream(np.ones(200, int), np.ones(200, int), saturated(), seed=made.seed)
    assert np.array_equal(longer.coins()[: len(made)], made.coins())
    runs = [
        simulate(request_stream(made.prompts, made.outputs, made.releases, seed=seed), policy("random"), workers=5, slots=5)
        for seed in (0, 1)
    ]
    assert not np.array_equal(runs[0].requests.worker, runs[1].requests.worker)
