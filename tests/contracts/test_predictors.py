"""Every predictor: forecasts lie in [0, cap], and its table (if it has one) says the same at every age."""

import numpy as np
import pytest

from lbtheory.decode.policies import PREDICTORS, make_policy
from lbtheory.decode.predictors import History, InFlight, Predictor
from tests.contracts.cases import history

LENGTHS = {
    "geometric": history().outputs,
    "one": np.array([1]),
    "constant": np.full(7, 12),
    "gaps": np.array([1, 1, 5, 5, 5, 40]),
}
CAPS = (0, 1, 2, 7, 8, 41, 300)


def predictor(name: str, outputs: np.ndarray) -> Predictor:
    """A predictor as a policy makes it."""
    known = History(prompts=np.full(len(outputs), 3), outputs=outputs, keys=np.arange(len(outputs)) % 3)
    return make_policy(f"brh:predictor={name}", history=known).predictor  # type: ignore[attr-defined,no-any-return]


def flight(ages: np.ndarray, oracle: bool) -> InFlight:
    """Requests of these ages, the oracle's with remaining lengths 1, 2, …"""
    none = np.zeros(0, np.int64)
    return InFlight(
        ages=ages,
        prompts=np.full(len(ages), 3),
        keys=np.arange(len(ages)) % 5,
        remaining=np.arange(1, len(ages) + 1) if oracle else None,
        finished_prompts=none,
        finished_outputs=none,
    )


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("name", PREDICTORS)
def test_range(name: str, lengths: str) -> None:
    """``0 ≤ ĉ ≤ cap``, one a request, finite; also past all history."""
    chosen = predictor(name, LENGTHS[lengths])
    ages = np.arange(LENGTHS[lengths].max() + 20)
    for cap in CAPS:
        values = chosen.predict(flight(ages, chosen.oracle), cap)
        assert values.shape == ages.shape and values.dtype.kind == "f"
        assert np.isfinite(values).all() and (values >= 0).all() and (values <= cap).all()
        if cap >= 1:
            assert (values >= min(1, cap)).all(), "a request in flight has at least one more iteration"


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("name", PREDICTORS)
def test_table_agrees_with_predict(name: str, lengths: str) -> None:
    """``values[start + min(age, length − 1)]`` is the forecast at every age, for every request."""
    chosen = predictor(name, LENGTHS[lengths])
    ages = np.arange(LENGTHS[lengths].max() + 20)
    seen = flight(ages, chosen.oracle)
    for cap in CAPS:
        table = chosen.table(seen.prompts, seen.keys, cap)
        if table is None:
            continue
        assert len(table.start) == len(table.length) == len(ages)
        at = table.start + np.minimum(ages, table.length - 1)
        assert np.array_equal(table.values[at], chosen.predict(seen, cap))


def test_oracle_is_the_capped_remaining_length() -> None:
    """``min(r, cap)`` exactly."""
    chosen = predictor("oracle", np.array([1]))
    assert chosen.predict(flight(np.zeros(6, int), True), 4).tolist() == [1, 2, 3, 4, 4, 4]
