"""What predictors learn: matches and the fall back to Survival, censoring, trees, and fits inside a run."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from lbtheory.decode.engine import simulate
from lbtheory.decode.known import known_at
from lbtheory.decode.policies import make_policy
from lbtheory.decode.policies.base import ForecastNeed, InformationSet, Policy, View
from lbtheory.decode.predictors import ExactMatch, History, InFlight, Learned, Predictor, Requests, Survival
from lbtheory.decode.predictors.curves import SCALE, product_limit
from lbtheory.decode.stream import request_stream
from lbtheory.decode.traces import read_trace, synthetic
from lbtheory.decode.traces.releases import saturated


def seen(ages: np.ndarray, prompts: np.ndarray | None = None, keys: np.ndarray | None = None) -> InFlight:
    """Requests of these ages."""
    n = len(ages)
    return InFlight(ids=np.arange(n), ages=ages, prompts=np.ones(n, int) if prompts is None else prompts, keys=keys)


def test_exact_match_uses_the_matching_lengths() -> None:
    """Lengths of the key while enough of them reached the age, then all lengths."""
    outputs = np.array([10, 10, 12, 50, 50, 50, 50])
    keys = np.array([1, 1, 1, 2, 2, 2, 3])
    known = History(prompts=np.ones(7, int), outputs=outputs, keys=keys)
    match, marginal = ExactMatch(known, minimum=2), Survival(known)
    assert match.matched == 2
    ages = np.array([9, 10, 49, 9, 9])
    flight = seen(ages, keys=np.array([1, 1, 2, 3, 4]))
    values, all_lengths = match.predict(flight, 20), marginal.predict(flight, 20)
    assert values[0] == pytest.approx((1 + 1 + 3) / 3), "lengths 10, 10 and 12 at age 9"
    assert values[1] == all_lengths[1], "only one of the key outlived age 10"
    assert values[2] == 1 and (values[3:] == all_lengths[3:]).all(), "keys 3 and 4 have no history of two"
    assert match.finishing(flight, 1)[0] == pytest.approx(2 / 3)


def test_exact_match_falls_back_exactly() -> None:
    """Without recurring keys, without keys at all, or with another trace's keys the trajectory is Survival's."""
    trace = synthetic("proprietary-like", 0, n=700, recurrence=0.4)
    history = History(prompts=trace.prompts[:300], outputs=trace.outputs[:300], keys=trace.keys[:300])
    strange = np.arange(400) + 2**40
    for keys in (None, strange):
        stream = request_stream(trace.prompts[300:], np.minimum(trace.outputs[300:], 400), saturated(16), keys=keys)
        runs = [
            simulate(
                stream, make_policy(f"brh:predictor={name}", history=history), workers=4, slots=4, steps=600, keep_loads=True
            )
            for name in ("survival", "exact-match/minimum=1", "survival/estimate=product-limit")
        ]
        for other in runs[1:]:
            assert np.array_equal(runs[0].iterations.loads, other.iterations.loads)


def test_mooncake_repeats(shared_data: Path) -> None:
    """118 of 12,031 requests of the conversation trace repeat a whole hash list; the rest are forecast as by Survival."""
    trace = read_trace(str(shared_data / "mooncake_fast25" / "conversation_trace.jsonl.gz"))
    assert trace.keys is not None
    _, first, counts = np.unique(trace.keys, return_index=True, return_counts=True)
    assert len(trace) == 12_031 and len(trace) - len(first) == 118 and counts.max() < 12
    half = len(trace) // 2
    known = History(prompts=trace.prompts[:half], outputs=trace.outputs[:half], keys=trace.keys[:half])
    match, marginal = ExactMatch(known, minimum=1), Survival(known)
    rest = slice(half, None)
    ages = np.zeros(len(trace) - half, int)
    flight = seen(ages, trace.prompts[rest], trace.keys[rest])
    matched = np.isin(trace.keys[rest], trace.keys[:half])
    same = match.predict(flight, 80) == marginal.predict(flight, 80)
    assert same[~matched].all() and 0 < matched.sum() < 118


def test_product_limit_by_hand() -> None:
    """Kaplan-Meier on 1, 2, 2+, 4, 5+: 4/5, 3/5, 3/5, 3/10 and a plateau."""
    curve = product_limit(np.array([1, 2, 4]), np.array([2, 5]))
    expected = [1, Fraction(4, 5), Fraction(3, 5), Fraction(3, 5), Fraction(3, 10), Fraction(3, 10)]
    assert curve.alive.tolist() == [round(SCALE * s) for s in expected]
    assert curve.by_age(10)[5] == 10, "nothing is known to end past the plateau"


def test_censoring_removes_the_bias_of_a_young_run() -> None:
    """Of 4,000 requests started together and looked at after 60 iterations, 45 % run: finished lengths alone are too short."""
    outputs = np.random.default_rng(3).geometric(1 / 75, 4000)
    done = outputs <= 60
    known = History(prompts=np.ones(done.sum(), int), outputs=outputs[done], running_ages=np.full((~done).sum(), 60))
    flight = seen(np.array([0]))
    truth = (1 - (1 - 1 / 75) ** 50) * 75
    naive, honest = (Survival(known, estimate=e).predict(flight, 50)[0] for e in ("empirical", "product-limit"))
    assert honest == pytest.approx(truth, rel=0.02) and naive < 0.75 * truth


def test_trees_learn_what_the_prompt_says() -> None:
    """Outputs equal to half the prompt: the trees tell long from short where Survival cannot."""
    rng = np.random.default_rng(1)
    prompts = rng.choice([100, 400], 1500)
    outputs = prompts // 2 + rng.integers(0, 8, 1500)
    known = History(prompts=prompts, outputs=outputs)
    model = Learned(known, trees=60, every=8)
    flight = seen(np.array([40, 40]), np.array([100, 400]))
    short, long = model.predict(flight, 60)
    assert short == pytest.approx(13.5, abs=4) and long > 58
    chance = model.finishing(flight, 60)
    assert chance[0] > 0.95 and chance[1] < 0.05
    past = seen(np.array([500]), np.array([400]))
    assert model.predict(past, 60) == 1 and model.finishing(past, 60) == 1


def test_features_are_causal() -> None:
    """What comes later in the history does not change the features of an earlier request."""
    rng = np.random.default_rng(2)
    prompts, outputs = rng.integers(1, 99, 200), rng.integers(1, 99, 200)
    whole = Learned(History(prompts=prompts, outputs=outputs), lag=10)._samples()[0]
    changed = outputs.copy()
    changed[100:] = 7
    part = Learned(History(prompts=prompts, outputs=changed), lag=10)._samples()[0]
    samples = int((-(-outputs[:100] // 32)).sum())
    assert np.array_equal(whole[:samples, 2:], part[:samples, 2:], equal_nan=True)
    assert np.isnan(whole[0, 2:]).all() and np.isfinite(whole[samples - 1, 2:]).all()


def test_known_at_is_what_happened() -> None:
    """Finished in order of completion, running with their ages."""
    stream = request_stream(np.array([5, 6, 7, 8]), np.array([4, 1, 9, 2]), saturated(0), keys=np.array([3, 1, 4, 1]))
    known = known_at(stream, np.array([1, 1, 2, 0]), 5)
    assert known.outputs.tolist() == [1, 4] and known.prompts.tolist() == [6, 5] and known.keys.tolist() == [1, 3]  # type: ignore[union-attr]
    assert known.running_ages.tolist() == [3] and known.running_keys.tolist() == [4]  # type: ignore[union-attr]


class Listener(Policy):
    """First fit that keeps the histories its predictor is fitted on."""

    name = "listener"
    information = InformationSet.FORECAST

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor

    def forecast_need(self) -> ForecastNeed:
        """A window of 5."""
        return ForecastNeed(predictor=self.predictor, horizon=5, cap=5, every_iteration=True)

    def assign(self, view: View, rng: np.random.Generator):  # type: ignore[no-untyped-def]
        """First fit."""
        from tests.contracts.test_information import first_fit

        return first_fit(view)


class Eavesdropper(Survival):
    """Survival that notes what it is asked to learn."""

    heard: list[History]

    def learn(self, more: History) -> Survival:  # type: ignore[override]
        """Note."""
        self.heard.append(more)
        return super().learn(more)


def test_refits_come_on_time_and_know_no_future() -> None:
    """Before iterations 1 + refit, 1 + 2 refit, …; every finished request has really finished by then."""
    rng = np.random.default_rng(0)
    stream = request_stream(rng.integers(1, 9, 300), rng.geometric(0.1, 300), saturated(5))
    predictor = Eavesdropper(History(prompts=np.array([1]), outputs=np.array([3])), refit=20)
    predictor.heard = []
    run = simulate(stream, Listener(predictor), workers=3, slots=4, steps=70)
    assert [len(more.running_ages) + len(more.outputs) for more in predictor.heard] == [
        int(((run.requests.admission_iteration > 0) & (run.requests.admission_iteration < k)).sum()) for k in (21, 41, 61)
    ]
    for k, more in zip((21, 41, 61), predictor.heard, strict=True):
        finish = run.requests.finish_iteration
        assert len(more.outputs) == ((finish > 0) & (finish < k)).sum()


def test_hazard_projection_is_the_expected_load() -> None:
    """Against exact fractions of counts, from the requests in flight."""
    rng = np.random.default_rng(4)
    outputs = rng.integers(1, 12, 60)
    known = History(prompts=np.ones(60, int), outputs=outputs)
    curves = Survival(known).curve_table(Requests(prompts=np.array([9, 20])))
    for age in (0, 3, 11, 15):
        alive = [int((outputs > age + h).sum()) for h in range(9)]
        exact = [Fraction(1)] + [Fraction(n, alive[0]) if alive[0] else Fraction(0) for n in alive[1:]]
        got = curves.surviving(1, age, 8)
        assert all(abs(p - Fraction(x, 2**20)) <= Fraction(1, 2**21) for p, x in zip(exact, got, strict=True))
