"""Releases by hand, and the prefill pool against a plain event-by-event oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lbtheory.core import ParameterError
from lbtheory.decode.traces import (
    at_iterations,
    at_times,
    batched,
    bursts,
    poisson_clock,
    poisson_iterations,
    prefill_pool,
    saturated,
)


def test_times_by_hand() -> None:
    """Batches; bursts that repeat and are cut; saturated releases have no times."""
    assert batched(5, 2, 3).times.tolist() == [1, 1, 4, 4, 7]  # type: ignore[union-attr]
    assert bursts(7, [3, 1], [10, 1]).times.tolist() == [1, 1, 1, 11, 12, 12, 12]  # type: ignore[union-attr]
    assert saturated(9).queue == 9 and saturated(9).times is None
    assert at_iterations([1, 1, 5]).kind == "iteration" and at_times([0, 0.5]).kind == "clock"


def test_poisson_rates() -> None:
    """10,000 requests at a rate of 4: mean gap within five standard errors; counts an iteration have variance = mean."""
    times = poisson_clock(10_000, 4.0, np.random.default_rng(0)).times
    assert times is not None and (np.diff(times) >= 0).all()
    assert abs(times[-1] / 10_000 - 0.25) < 5 * 0.25 / np.sqrt(10_000)
    iterations = poisson_iterations(10_000, 4.0, np.random.default_rng(1)).times
    assert iterations is not None and iterations.min() >= 1
    counts = np.bincount(iterations)[1:-1]
    assert abs(counts.mean() - 4) < 0.2 and abs(counts.var() / counts.mean() - 1) < 0.15


@pytest.mark.parametrize(
    "make",
    [
        lambda: at_iterations([0, 1]),
        lambda: at_iterations([2, 1]),
        lambda: at_iterations([1.5]),
        lambda: at_times([1.0, 0.5]),
        lambda: at_times([float("nan")]),
        lambda: at_times([-1.0]),
        lambda: saturated(-1),
        lambda: batched(5, 0, 1),
        lambda: bursts(5, [], [1]),
        lambda: bursts(5, [0], [1]),
        lambda: poisson_clock(5, 0.0, np.random.default_rng(0)),
    ],
)
def test_bad_releases(make) -> None:  # type: ignore[no-untyped-def]
    """Named errors."""
    with pytest.raises(ParameterError):
        make()


def pool_oracle(arrivals: list[int], prompts: list[int], workers: int, batch: int, fixed: int, per_token: int) -> list[int]:
    """Step through whole-number time: at each instant free workers take what waits, in order of arrival."""
    release, waiting, free_at, now = [-1] * len(arrivals), [], [0] * workers, 0
    while -1 in release:
        waiting += [i for i, t in enumerate(arrivals) if t == now]
        for w in range(workers):
            if free_at[w] <= now and waiting:
                taken, waiting = waiting[:batch], waiting[batch:]
                end = now + fixed + per_token * sum(prompts[i] for i in taken)
                free_at[w] = end
                for i in taken:
                    release[i] = end
        now += 1
    return release


@settings(max_examples=150, deadline=None)
@given(
    requests=st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6)), min_size=1, max_size=25),
    workers=st.integers(1, 3),
    batch=st.integers(1, 4),
    fixed=st.integers(1, 4),
    per_token=st.integers(0, 2),
)
def test_prefill_pool_equals_the_oracle(
    requests: list[tuple[int, int]], workers: int, batch: int, fixed: int, per_token: int
) -> None:
    """Release times by request; the order is that of release, ties by arrival."""
    arrivals = sorted(t for t, _ in requests)
    prompts = [s for _, s in requests]
    result = prefill_pool(
        np.array(arrivals, float), np.array(prompts), workers=workers, batch=batch, fixed=fixed, per_token=per_token
    )
    expected = pool_oracle(arrivals, prompts, workers, batch, fixed, per_token)
    found = np.empty(len(arrivals))
    found[result.order] = result.times
    assert found.tolist() == expected
    assert result.order.tolist() == sorted(range(len(arrivals)), key=lambda i: (expected[i], i))


@pytest.mark.parametrize("bad", [{"workers": 0}, {"batch": 0}, {"fixed": -1.0}, {"per_token": float("nan")}])
def test_prefill_pool_is_checked(bad: dict[str, float]) -> None:
    """Named errors."""
    good: dict[str, float] = {"workers": 1, "batch": 1, "fixed": 0.1, "per_token": 0.0}
    with pytest.raises(ParameterError):
        prefill_pool(np.array([0.0]), np.array([1]), **(good | bad))  # type: ignore[arg-type]
