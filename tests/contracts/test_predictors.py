"""Every predictor: forecasts lie in [0, cap], and its table (if it has one) says the same at every age."""

import numpy as np
import pytest

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.decode.policies import make_policy
from lbtheory.decode.predictors import History, InFlight, Predictor, Requests, make_predictor
from tests.contracts.cases import history

LENGTHS = {
    "geometric": history().outputs,
    "one": np.array([1]),
    "constant": np.full(7, 12),
    "gaps": np.array([1, 1, 5, 5, 5, 40]),
}
CAPS = (0, 1, 2, 7, 8, 41, 300)
PREDICTORS = (
    "oracle",
    "noisy",
    "noisy/error=2/seed=3",
    "survival",
    "survival/estimate=product-limit",
    "exact-match",
    "exact-match/minimum=1/estimate=product-limit",
    "exact-match/key=prompt/buckets=3",
    "learned/trees=8/every=4/lag=2",
)


def predictor(name: str, outputs: np.ndarray) -> Predictor:
    """A predictor as a policy makes it, from a history with requests still running."""
    n = len(outputs)
    known = History(
        prompts=3 + np.arange(n) % 4,
        outputs=outputs,
        keys=np.arange(n) % 3,
        running_ages=outputs[: n // 2] + 3,
        running_prompts=np.full(n // 2, 3),
        running_keys=np.arange(n // 2) % 4,
    )
    return make_policy(f"brh:predictor={name}", history=known).predictor  # type: ignore[attr-defined,no-any-return]


def flight(ages: np.ndarray, oracle: bool) -> InFlight:
    """Requests of these ages; hidden lengths are one more than all ages together need, less the age."""
    n = len(ages)
    remaining = n + 5 - ages if oracle else None
    return InFlight(ids=np.arange(n), ages=ages, prompts=3 + np.arange(n) % 5, keys=np.arange(n) % 5, remaining=remaining)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("name", PREDICTORS)
def test_range(name: str, lengths: str) -> None:
    """``0 ≤ ĉ ≤ cap``, one a request, finite; also past all history. Probabilities are in [0, 1]."""
    chosen = predictor(name, LENGTHS[lengths])
    ages = np.arange(LENGTHS[lengths].max() + 20)
    for cap in CAPS:
        seen = flight(ages, chosen.oracle)
        values = chosen.predict(seen, cap)
        assert values.shape == ages.shape and values.dtype.kind == "f"
        assert np.isfinite(values).all() and (values >= 0).all() and (values <= cap).all()
        if cap >= 1:
            assert (values >= min(1, cap)).all(), "a request in flight has at least one more iteration"
            chance = chosen.finishing(seen, cap)
            assert chance.shape == ages.shape and (chance >= 0).all() and (chance <= 1).all()


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("name", PREDICTORS)
def test_table_agrees_with_predict(name: str, lengths: str) -> None:
    """The table gives the forecast at every age, for every request."""
    chosen = predictor(name, LENGTHS[lengths])
    ages = np.arange(LENGTHS[lengths].max() + 20)
    seen = flight(ages, chosen.oracle)
    outputs = None if seen.remaining is None else seen.ages + seen.remaining
    for cap in CAPS:
        table = chosen.table(Requests(prompts=seen.prompts, keys=seen.keys, outputs=outputs), cap)
        if table is None:
            assert name == "oracle"
            continue
        assert len(table.start) == len(table.length) == len(table.first) == len(ages) and table.nbytes > 0
        assert np.array_equal(table.at(ages), chosen.predict(seen, cap))


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("name", [name for name in PREDICTORS if "survival" in name or "match" in name])
def test_curves_sum_to_the_forecast(name: str, lengths: str) -> None:
    """``ĉ = Σ_{h<cap} P̂(r > h)`` on the curve that the hazard projection uses, up to its fixed point."""
    chosen = predictor(name, LENGTHS[lengths])
    ages = np.arange(LENGTHS[lengths].max() + 20)
    seen = flight(ages, False)
    curves = chosen.curve_table(Requests(prompts=seen.prompts, keys=seen.keys))
    assert curves is not None
    for cap in (1, 7, 41):
        expected, chance = chosen.predict(seen, cap), chosen.finishing(seen, cap)
        for i, age in enumerate(ages):
            stays = np.array(curves.surviving(i, int(age), cap)) / 2**20
            assert stays[0] == 1 and (np.diff(stays) <= 0).all()
            assert stays[:-1].sum() == pytest.approx(expected[i], abs=cap * 2**-20)
            assert 1 - stays[-1] == pytest.approx(chance[i], abs=2**-20)


def test_oracle_is_the_capped_remaining_length() -> None:
    """``min(r, cap)`` exactly; so is the noisy oracle without error, and the one with error keeps its errors."""
    seen = InFlight(ids=np.arange(6), ages=np.zeros(6, int), prompts=np.ones(6, int), remaining=np.arange(1, 7))
    for name in ("oracle", "noisy/error=0"):
        assert make_predictor(name).predict(seen, 4).tolist() == [1, 2, 3, 4, 4, 4]
        assert make_predictor(name).finishing(seen, 4).tolist() == [1, 1, 1, 1, 0, 0]
    noisy = make_predictor("noisy/error=0.5/seed=1")
    first = noisy.predict(seen, 1000)
    assert not np.array_equal(first, np.arange(1, 7)) and np.array_equal(noisy.predict(seen, 1000), first)
    many = InFlight(ids=np.arange(9000), ages=np.zeros(9000, int), prompts=np.ones(9000, int), remaining=np.full(9000, 10_000))
    errors = np.log(noisy.predict(many, 10**9) / 10_000)
    assert abs(errors.mean()) < 0.02 and errors.std() == pytest.approx(0.5, abs=0.015)
    assert np.array_equal(noisy.predict(seen, 1000), first), "a longer stream does not change the errors of a shorter one"


@pytest.mark.parametrize(
    ("text", "error", "remedy"),
    [
        ("clairvoyant", UnknownNameError, "predictor"),
        ("survival/estimate=mean", ParameterError, "empirical, product-limit"),
        ("survival/bins=3", UnknownNameError, "option of predictor 'survival'"),
        ("survival/refit", ParameterError, "key=value"),
        ("survival/refit=-1", ParameterError, "refit"),
        ("exact-match/key=text", ParameterError, "hash, prompt"),
        ("exact-match/minimum=0", ParameterError, "minimum"),
        ("exact-match/minimum=few", ParameterError, "must be int"),
        ("learned/trees=0", ParameterError, "trees"),
        ("noisy/error=nan", ParameterError, "error"),
        ("noisy/error=-1", ParameterError, "error"),
        ("oracle/error=1", UnknownNameError, "option of predictor 'oracle'"),
    ],
)
def test_bad_predictors_are_refused(text: str, error: type[Exception], remedy: str) -> None:
    """By name, option and value; also through a policy."""
    with pytest.raises(error, match=remedy):
        make_predictor(text, history())
    with pytest.raises(error, match=remedy):
        make_policy(f"brh:predictor={text}", history=history())


def test_what_a_predictor_lacks_is_named() -> None:
    """A history, or survival curves for the hazard projection."""
    for name in ("survival", "exact-match", "learned"):
        with pytest.raises(ParameterError, match="needs a history"):
            make_predictor(name)
    for policy in ("brh", "level-h"):
        with pytest.raises(ParameterError, match="survival curves"):
            make_policy(f"{policy}:projection=hazard")
        with pytest.raises(ParameterError, match="cutoff, hazard"):
            make_policy(f"{policy}:projection=mean")
