"""Release rules, and the prefill pool against a plain event simulation."""

import numpy as np
import pytest

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


def test_saturated_and_batched() -> None:
    rule = saturated(64)
    assert (rule.kind, rule.queue, rule.times, len(rule)) == ("saturated", 64, None, 0)
    got = batched(7, 3, 5)
    assert (got.kind, got.queue, got.times.tolist()) == ("iteration", 0, [1, 1, 1, 6, 6, 6, 11])
    assert not got.times.flags.writeable and got.times.dtype == np.int64


def test_bursts_leave_empty_iterations() -> None:
    got = bursts(9, sizes=[3, 1], gaps=[4, 1])
    assert got.times.tolist() == [1, 1, 1, 5, 6, 6, 6, 10, 11]
    assert bursts(2, sizes=[5], gaps=[1]).times.tolist() == [1, 1]


def test_poisson() -> None:
    rng = np.random.default_rng(0)
    got = poisson_iterations(60_000, 3.0, rng)
    counts = np.bincount(got.times)[1:-1]
    assert got.kind == "iteration" and got.times.min() >= 1
    assert counts.mean() == pytest.approx(3, abs=0.06) and counts.var() == pytest.approx(3, abs=0.15)
    assert (counts == 0).mean() == pytest.approx(np.exp(-3), abs=0.008)
    clock = poisson_clock(60_000, 4.0, rng)
    gaps = np.diff(clock.times)
    assert clock.kind == "clock" and gaps.mean() == pytest.approx(0.25, rel=0.02)
    assert gaps.std() / gaps.mean() == pytest.approx(1, abs=0.02)


def test_given_times() -> None:
    assert at_iterations([1, 1, 4]).times.tolist() == [1, 1, 4]
    assert at_iterations(np.array([1.0, 2.0])).times.dtype == np.int64
    assert at_times([0, 0.5, 0.5]).times.tolist() == [0, 0.5, 0.5]
    assert len(at_times([])) == 0


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: saturated(-1), "`queue` of `saturated` must be a whole number ≥ 0; got -1"),
        (lambda: saturated(1.5), "`queue`"),
        (lambda: batched(5, 0, 1), "`size` of `batched`"),
        (lambda: batched(0, 1, 1), "`n` of `batched`"),
        (lambda: batched(5, 1, 0), "`every` of `batched`"),
        (lambda: bursts(5, [], [1]), "each hold at least one number"),
        (lambda: bursts(5, [1], [0]), r"`gaps\[0\]` of `bursts` must be a whole number ≥ 1"),
        (lambda: bursts(5, [1, 0], [1]), r"`sizes\[1\]` of `bursts`"),
        (lambda: poisson_clock(5, 0, np.random.default_rng()), "`rate` of `poisson_clock` must be positive"),
        (lambda: poisson_clock(5, 1e-320, np.random.default_rng()), "`rate`"),
        (lambda: poisson_iterations(5, float("nan"), np.random.default_rng()), "`rate`"),
        (lambda: poisson_iterations(0, 1.0, np.random.default_rng()), "`n`"),
        (lambda: at_iterations([1, 3, 2]), "nondecreasing; got 2 after 3 at index 2"),
        (lambda: at_iterations([0, 1]), "must be ≥ 1; got 0 at index 0"),
        (lambda: at_iterations([1.5, 2]), "list of whole numbers"),
        (lambda: at_iterations([1, float("nan")]), "list of whole numbers"),
        (lambda: at_iterations([[1], [2]]), "list of whole numbers"),
        (lambda: at_times([1, 0.5]), "nondecreasing; got 0.5 after 1.0 at index 1"),
        (lambda: at_times([-1, 0.5]), "must be ≥ 0; got -1.0 at index 0"),
        (lambda: at_times([0, float("inf")]), "must be finite; got inf at index 1"),
        (lambda: at_times(["a"]), "list of numbers"),
    ],
)
def test_bad_releases(call, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call()


def plain_pool(arrivals, prompts, workers, batch, fixed, per_token):
    """Event by event: at each instant finished workers go idle, arrivals queue, idle workers take batches."""
    n = len(arrivals)
    release, busy, queue, coming = [None] * n, [], [], list(range(n))
    while coming or queue or busy:
        now = min([arrivals[i] for i in coming[:1]] + [end for end, _ in busy])
        for job in [job for job in busy if job[0] <= now]:
            busy.remove(job)
            for i in job[1]:
                release[i] = job[0]
        while coming and arrivals[coming[0]] <= now:
            queue.append(coming.pop(0))
        while queue and len(busy) < workers:
            taken, queue = queue[:batch], queue[batch:]
            busy.append((now + fixed + per_token * sum(prompts[i] for i in taken), taken))
    order = sorted(range(n), key=lambda i: (release[i], i))
    return [release[i] for i in order], order


@pytest.mark.parametrize("seed", range(60))
def test_prefill_pool_against_plain_events(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    arrivals = np.sort(rng.integers(0, 80, size=n) / 8.0)
    prompts = rng.integers(1, 9, size=n)
    workers, batch = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    fixed, per_token = float(rng.choice([0.0, 0.25, 1.0])), float(rng.choice([0.125, 0.25]))
    times, order = prefill_pool(arrivals, prompts, workers=workers, batch=batch, fixed=fixed, per_token=per_token)
    want_times, want_order = plain_pool(arrivals.tolist(), prompts.tolist(), workers, batch, fixed, per_token)
    assert times.tolist() == want_times and order.tolist() == want_order
    assert sorted(order.tolist()) == list(range(n)) and np.all(np.diff(times) >= 0)
    assert len(at_times(times)) == n


def test_prefill_pool_by_hand() -> None:
    out = prefill_pool(np.array([0.0, 0.0, 1.0]), np.array([100, 10, 10]), workers=2, batch=1, fixed=1.0, per_token=0.1)
    assert out.order.tolist() == [1, 2, 0] and out.times.tolist() == [2.0, 4.0, 11.0], "a short prompt overtakes a long one"
    together = prefill_pool(np.array([0.0, 0.0]), np.array([1, 2]), workers=3, batch=4, fixed=0.5, per_token=1.0)
    assert together.times.tolist() == [3.5, 3.5]
    empty = prefill_pool(np.array([]), np.array([], dtype=np.int64), workers=1, batch=1, fixed=0, per_token=0)
    assert len(empty.times) == 0 and len(empty.order) == 0
    many = prefill_pool(np.zeros(3), np.ones(3, dtype=np.int64), workers=10**9, batch=1, fixed=0, per_token=0)
    assert many.order.tolist() == [0, 1, 2], "equal times keep the order of arrival"


@pytest.mark.parametrize(
    "change, message",
    [
        ({"workers": 0}, "`workers`"),
        ({"batch": 1.5}, "`batch`"),
        ({"fixed": -1.0}, "`fixed`"),
        ({"per_token": float("nan")}, "`per_token`"),
        ({"arrivals": np.array([1.0, 0.0])}, "nondecreasing"),
        ({"arrivals": np.array([0.0])}, "as many entries"),
        ({"prompts": np.array([0, 1])}, "whole numbers of tokens"),
        ({"prompts": np.array([1.0, 1.0])}, "whole numbers of tokens"),
    ],
)
def test_bad_pools(change, message: str) -> None:
    good = {
        "arrivals": np.array([0.0, 1.0]),
        "prompts": np.array([1, 2]),
        "workers": 1,
        "batch": 1,
        "fixed": 0.0,
        "per_token": 0.1,
    }
    with pytest.raises(ParameterError, match=message):
        prefill_pool(**{**good, **change})
