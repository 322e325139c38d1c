"""Simulated FCFS imbalance against the exact law of its slots at saturation: intervals by batch means, level 99 %.

Every run starts empty and fills all slots in its first iteration; slot states forget it like ``(1 − p)^k``, which is below
1e-13 at the end of each warm-up.
"""

from functools import cache

import numpy as np
import pytest
from scipy.stats import t as student

from lbtheory.core import generator
from lbtheory.decode.engine import simulate
from lbtheory.decode.policies import make_policy
from lbtheory.decode.stream import RequestStream, request_stream
from lbtheory.decode.traces.releases import poisson_iterations, saturated
from tests.reference.laws import fcfs_imbalance

pytestmark = pytest.mark.statistical

LEVEL = 0.99
BATCHES = 40
LAW = 343.0412
"""G = 8, B = 64, p = 1/4, S ~ U{1..4}."""
NO_LOOK_AT_OWN_SIZE = (
    "jsq",
    "rr",
    "random",
    "p2c",
    "vllm",
    "jsq:ties=random,stale=4,local=false",
    "token-jsq",
    "token-jsq:ties=rotating,stale=2",
)


@cache
def stream(p: float, sizes: int, iterations: int, seed: int) -> RequestStream:
    """A geometric stream that lasts ``iterations`` iterations of 8 workers with 64 slots and a little more."""
    n = round(8 * 64 * (p * iterations * 1.02 + 8))
    prompts = generator(seed, "prompts").integers(1, sizes + 1, n)
    return request_stream(prompts, generator(seed, "outputs").geometric(p, n), saturated(64), seed=seed)


def batches(text: str, p: float, sizes: int, iterations: int, warmup: int, streams: int) -> np.ndarray:
    """Batch means of the imbalance after the warm-up, ``BATCHES`` in all from independent streams."""
    means = []
    for seed in range(11, 11 + streams):
        made = simulate(stream(p, sizes, iterations, seed), make_policy(text), workers=8, slots=64, steps=iterations)
        assert len(made.iterations) == iterations and (made.iterations.active == 8 * 64).all()
        means.append(made.iterations.imbalance_sum[warmup:].reshape(BATCHES // streams, -1).mean(axis=1))
    return np.concatenate(means)


def interval(means: np.ndarray) -> tuple[float, float]:
    """The 99 % interval of the mean of independent batch means."""
    half = float(means.std(ddof=1)) / len(means) ** 0.5 * student.ppf((1 + LEVEL) / 2, len(means) - 1)
    return float(means.mean()) - half, float(means.mean()) + half


def test_exact_law() -> None:
    """Convolution and ``Σ (1 − CDF^G)`` give the published values, and agree with a direct sum where that is possible."""
    assert fcfs_imbalance(1 / 4, 4, 8, 64) == pytest.approx(343.0412, abs=5e-5)
    assert fcfs_imbalance(1 / 100, 100, 8, 64) == pytest.approx(9769, abs=0.5)
    assert fcfs_imbalance(1 / 20, 50, 8, 64) == pytest.approx(2256, abs=0.5)
    # G = 2, B = 1, S = 1: I = |A_1 − A_2| of two geometric ages, with mean 2q/(p(2 − p)) = 2q/(1 − q²).
    for p in (0.25, 0.5, 0.9):
        assert fcfs_imbalance(p, 1, 2, 1) == pytest.approx(2 * (1 - p) / (1 - (1 - p) ** 2), rel=1e-12)
    assert fcfs_imbalance(1 / 4, 4, 1, 5) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("text", NO_LOOK_AT_OWN_SIZE)
def test_fcfs_rules_have_the_exact_law(text: str) -> None:
    """4 streams, warm-up 200, 10 batches of 800 each: the interval covers 343.0412 and is narrow.

    That holds for count rules, and for token-JSQ too: at saturation every free slot is filled, a request's destination depends
    on the sizes of earlier requests only, so the sizes that go into the slots are independent draws whatever the order.
    """
    low, high = interval(batches(text, 1 / 4, 4, 8200, 200, 4))
    assert low <= LAW <= high
    assert high - low < 0.03 * LAW


@pytest.mark.parametrize("text", ["br0", "level-plus"])
def test_choosing_by_size_leaves_the_law(text: str) -> None:
    """Rules that pick requests by size lie below the law on the same streams: 1 stream, warm-up 200, 40 batches of 200."""
    low, high = interval(batches(text, 1 / 4, 4, 8200, 200, 1))
    assert 0 < low <= high < LAW / 2


def test_token_jsq_gains_below_saturation() -> None:
    """At 90 % load slots stay free and loads can steer: token-JSQ's interval lies below Count-JSQ's, and both below the law.

    Poisson releases of 0.9 · 128 an iteration, warm-up 200, 40 batches of 100, paired by a common stream.
    """
    n = 500_000
    prompts, outputs = generator(3, "prompts").integers(1, 5, n), generator(3, "outputs").geometric(1 / 4, n)
    requests = request_stream(prompts, outputs, poisson_iterations(n, 0.9 * 128, generator(3, "releases")))
    low, high = {}, {}
    for text in ("jsq", "token-jsq"):
        made = simulate(requests, make_policy(text), workers=8, slots=64, steps=4200)
        assert made.iterations.waiting[200:].mean() < 1
        low[text], high[text] = interval(made.iterations.imbalance_sum[200:].reshape(BATCHES, -1).mean(axis=1))
    assert high["token-jsq"] < low["jsq"] / 2 and high["jsq"] < LAW


@pytest.mark.parametrize("text", ["jsq", "p2c"])
def test_long_outputs(text: str) -> None:
    """p = 1/100, S ~ U{1..100}; 1 stream, warm-up 3,000, 40 batches of 3,000: 9,769."""
    low, high = interval(batches(text, 1 / 100, 100, 123_000, 3000, 1))
    assert low <= fcfs_imbalance(1 / 100, 100, 8, 64) <= high
    assert high - low < 0.06 * 9769


@pytest.mark.parametrize("text", ["jsq", "br0", "level-plus", "level:overtake=none"])
def test_parity_is_free_of_the_policy(text: str) -> None:
    """G = 2, S ∈ {1, 3}: ``L_1 − L_2`` is odd with probability ``½(1 − (p/(1+q))^{2B})`` whatever the policy, so that ``Ī``
    cannot fall below it. p = 1/2, B = 1: 4/9. Warm-up 100, 40 batches of 500.
    """
    n = 25_000
    prompts = 1 + 2 * generator(5, "prompts").integers(0, 2, n)
    requests = request_stream(prompts, generator(5, "outputs").geometric(0.5, n), saturated(16), seed=5)
    made = simulate(requests, make_policy(text), workers=2, slots=1, steps=20_100, keep_loads=True)
    assert made.iterations.loads is not None
    odd = np.diff(made.iterations.loads, axis=1)[100:, 0] % 2
    low, high = interval(odd.reshape(BATCHES, -1).mean(axis=1))
    assert low <= 4 / 9 <= high
    assert made.iterations.imbalance_sum[100:].mean() >= odd.mean()
