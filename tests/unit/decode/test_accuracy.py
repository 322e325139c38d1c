"""Accuracy of forecasts, and the tasks that measure them."""

import numpy as np
import pytest

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.decode import forecast_tasks, tasks
from lbtheory.decode.predictors import History, Requests, make_predictor
from lbtheory.decode.predictors.accuracy import accuracy, area, looks

SOURCE = {"p": "1/10", "prompts": "uniform:20", "requests": 4_000}


def test_looks() -> None:
    """Every ΔT below the output length."""
    flight, remaining = looks(Requests(prompts=np.array([5, 6]), outputs=np.array([3, 5]), keys=np.array([8, 9])), 2)
    assert flight.ages.tolist() == [0, 2, 0, 2, 4] and remaining.tolist() == [3, 1, 5, 3, 1]
    assert flight.ids.tolist() == [0, 0, 1, 1, 1] and flight.keys.tolist() == [8, 8, 9, 9, 9]  # type: ignore[union-attr]
    with pytest.raises(ParameterError, match="outputs"):
        looks(Requests(prompts=np.array([5])), 2)


def test_area_by_counting_pairs() -> None:
    """AUC is the share of pairs in the right order, ties half; None where one kind is missing."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        chance, ends = rng.integers(0, 5, 30) / 4, rng.random(30) < 0.4
        pairs = [(a > b) + (a == b) / 2 for a in chance[ends] for b in chance[~ends]]
        assert area(chance, ends) == pytest.approx(np.mean(pairs))
    assert area(np.array([0.5, 0.1]), np.array([True, True])) is None


def test_accuracy_against_its_definition() -> None:
    """The oracle makes no error; Survival's are the averages that the names say."""
    rng = np.random.default_rng(1)
    outputs = rng.geometric(0.05, 800)
    known = Requests(prompts=np.ones(400, int), outputs=outputs[400:])
    flight, remaining = looks(known, 7)
    everyone = np.ones(len(remaining), bool)
    perfect = accuracy(make_predictor("oracle"), flight, remaining, 15, everyone)
    assert perfect.mae == perfect.rmse == perfect.brier == 0 and perfect.auc == 1
    made = make_predictor("survival", History(prompts=np.ones(400, int), outputs=outputs[:400]))
    young = flight.ages < 14
    got = accuracy(made, flight, remaining, 15, young)
    error = made.predict(flight, 15)[young] - np.minimum(remaining, 15)[young]
    ends = (remaining <= 15)[young]
    assert got.looks == young.sum() and got.finishing == pytest.approx(ends.mean())
    assert (got.mae, got.bias) == (pytest.approx(np.abs(error).mean()), pytest.approx(error.mean()))
    assert got.rmse**2 == pytest.approx((error**2).mean())
    assert got.brier == pytest.approx(((made.finishing(flight, 15)[young] - ends) ** 2).mean())
    assert np.nansum(got.calibration[:, 0]) == got.looks
    assert np.nansum(got.calibration[:, 0] * np.nan_to_num(got.calibration[:, 2])) == pytest.approx(ends.sum())
    with pytest.raises(ParameterError, match="one look"):
        accuracy(made, flight, remaining, 15, np.zeros(len(remaining), bool))


def test_accuracy_task() -> None:
    """A record a predictor and bucket; the marginal law of a memoryless workload is calibrated."""
    records = forecast_tasks.accuracies(
        seed=0,
        workload="w",
        source=SOURCE,
        predictors=["oracle", "survival"],
        horizon=8,
        every=3,
        buckets=[0, 10],
        requests=3_000,
    )
    rows = {(r["predictor"], r["bucket"]): r for r in records if r["what"] == "accuracy"}
    assert {b for _, b in rows} == {"all", "0 to 9", "10 and more"}
    assert rows["survival", "0 to 9"]["looks"] + rows["survival", "10 and more"]["looks"] == rows["survival", "all"]["looks"]
    assert abs(rows["survival", "all"]["bias"]) < 0.15 and rows["survival", "all"]["bytes"] > 0
    tenths = [r for r in records if r["what"] == "calibration" and r["predictor"] == "survival" and r["looks"] > 500]
    assert tenths and all(abs(r["chance"] - r["finishing"]) < 0.05 for r in tenths)


def test_a_forecast_takes_less_than_a_microsecond() -> None:
    """In the compiled path; the hazard projection's 80 probabilities of a request may take two (the machine may be shared)."""
    source = {"p": "1/100", "prompts": "uniform:100"}
    names = ["oracle", "survival", "noisy", "exact-match", "survival+hazard"]
    records = forecast_tasks.query_costs(
        seed=0, workload="w", source=source, predictors=names, workers=8, slots=32, horizon=80, repeats=15
    )
    cost = {r["predictor"]: r["nanoseconds"] for r in records}
    assert all(cost[name] < 1_000 for name in names[:-1]) and cost["survival+hazard"] < 2_000


def test_censoring_task() -> None:
    """Learning from finished requests alone sees too many ends; the product limit errs less, and the other way.

    Nobody was seen past the run, so its curve ends in a plateau.
    """
    records = forecast_tasks.censoring(
        seed=0,
        workload="w",
        source={"p": "1/100", "prompts": "uniform:9"},
        workers=4,
        slots=64,
        horizon=20,
        iterations=[40, 80],
    )
    bias = {(r["predictor"], r["iteration"]): r["bias"] for r in records}
    for k in (40, 80):
        assert bias["empirical", k] > 3 * abs(bias["product-limit", k])


def test_decision_times_task() -> None:
    """Parts add up, and decisions are those of the policy itself."""
    records = forecast_tasks.decision_times(
        seed=0, workload="w", source=SOURCE, workers=3, slots=4, horizon=6, window=4, greedy=1, warmup=5, steps=30
    )
    assert records and all(r["compiled"] >= 0 for r in records)
    for r in records:
        assert r["look"] + r["stage1"] + r["stage2"] == pytest.approx(r["total"]) and min(r["stage1"], r["stage2"]) >= 0
        assert (r["stage1"] > 0) == (r["free"] > 1)


def test_versus_task() -> None:
    """One record a policy; the first is the reference; a public trace that is not at hand is named."""
    run = {"workload": "w", "workers": 3, "slots": 4, "overtake": 8, "steps": 400, "warmup": 50, "seed": 1}
    records = tasks.versus(source=SOURCE, policies=["jsq", "level-plus"], factor="x", value=2.0, **run)
    first, second = records
    assert first["ratio"] == 1 and first["excess"] == 0 and first["ratio_low"] is None
    assert second["ratio"] == pytest.approx(first["imbalance"] / second["imbalance"])
    assert second["excess"] == pytest.approx(second["imbalance"] - first["imbalance"])
    assert second["excess_low"] < second["excess"] < second["excess_high"]
    with pytest.raises(UnknownNameError, match="public trace"):
        tasks.versus(source={"public": "Nowhere"}, policies=["jsq"], **run)
