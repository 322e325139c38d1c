"""Special cases of a server that queueing theory solves.

Every test: 40 independent replications of 3,000 s after 300 s of warm-up; the theory's value must lie in the two-sided 99.9 %
Student interval of their mean. Arrivals, services and the engine's uniform numbers come from fixed seeds.
"""

from math import factorial

import numpy as np
import pytest
from scipy import stats

from lbtheory.cells import CellSpec, Parameters, Scenario, cell_stream, simulate

REPLICATIONS, WARMUP, DURATION, LEVEL = 40, 300.0, 3300.0, 0.999
UNIT = 1e-6
"""Seconds a token, so that whole tokens resolve a service time to 1e-6."""


def replicate(rate, prefill, decode, queue=None, choices=1):
    """Mean latency and error rate of each replication; ``prefill`` and ``decode`` draw service times, seconds, or are None."""
    cell = CellSpec(
        name="only",
        servers=1,
        prefill_token_time=UNIT if prefill else 0.0,
        decode_token_time=UNIT if decode else 0.0,
        arrival_rate=rate,
    )
    scenario = Scenario(cells=(cell,), latency=[[0.0]], duration=DURATION, warmup=WARMUP)
    means, errors = [], []
    for k in range(REPLICATIONS):
        rng = np.random.default_rng([9, k])
        times = np.cumsum(rng.exponential(1 / rate, int(rate * DURATION * 1.2)))
        times = times[times < DURATION]
        ones = np.ones(len(times), int)
        tokens = [np.maximum(np.rint(law(rng, len(times)) / UNIT), 1).astype(int) if law else ones for law in (prefill, decode)]
        run = simulate(
            scenario,
            "rand",
            stream=cell_stream(times, np.zeros(len(times), int), *tokens, seed=k),
            parameters=Parameters(queue=queue, aversion=False, choices=choices, probe_period=1.0, cap=1e6),
        )
        counted = run.counted
        means.append((run.returned - run.arrival)[counted & run.done].mean())
        errors.append(run.failed[counted].mean())
    return np.array(means), np.array(errors)


def holds(sample, value):
    """Whether the interval of the mean contains the value."""
    half = stats.t.ppf(0.5 + LEVEL / 2, len(sample) - 1) * sample.std(ddof=1) / np.sqrt(len(sample))
    return abs(sample.mean() - value) <= half and half < 0.08 * value


def exponential(mean):
    return lambda rng, size: rng.exponential(mean, size)


@pytest.mark.statistical
@pytest.mark.parametrize("load", [0.5, 0.85])
def test_decode_pool_is_mmc(load):
    """Prefill takes no time: the pool of 8 slots is M/M/8, latency ``1/μ + C(8, a)/(8μ − λ)`` (Erlang C)."""
    c, mu = 8, 1.0
    a = load * c
    tail = a**c / factorial(c) / (1 - load)
    wait = tail / (sum(a**k / factorial(k) for k in range(c)) + tail) / (c * mu - a * mu)
    means, errors = replicate(a * mu, None, exponential(1 / mu))
    assert holds(means, 1 / mu + wait)
    assert errors.max() == 0


@pytest.mark.statistical
def test_bounded_queue_is_mmck():
    """With ``Q`` waiting, one on the engine and 8 decoding the system is M/M/8/(9 + Q): blocking by PASTA."""
    c, room, a = 8, 8 + 1 + 2, 7.5
    weights = [a**k / factorial(k) if k <= c else a**c / factorial(c) * (a / c) ** (k - c) for k in range(room + 1)]
    blocked = weights[-1] / sum(weights)
    _, errors = replicate(a, None, exponential(1.0), queue=2)
    assert holds(errors, blocked)


@pytest.mark.statistical
@pytest.mark.parametrize("shape", [0.5, 1.0, 4.0])
def test_prefill_engine_is_mg1(shape):
    """Decode takes no time: the prefill engine is M/G/1, latency ``E[S] + λE[S²]/(2(1 − ρ))`` (Pollaczek and Khinchine)."""
    rate, mean = 2.0, 0.35
    means, _ = replicate(rate, lambda rng, size: rng.gamma(shape, mean / shape, size), None)
    second = mean**2 * (1 + 1 / shape)
    assert holds(means, mean + rate * second / (2 * (1 - rate * mean)))
