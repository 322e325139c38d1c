"""Plain oracles for the LEVEL bounds: direct sums, the clamp chain simulated, its exact law for tiny systems, FCFS by FFT."""

from math import exp, log

import numpy as np


def direct_log_phi(theta: float, eta: float, m: int, d: int, upper: bool, p: float, s: int, r: int, t: float) -> float:
    """``log φ`` summed age by age, prompt by prompt; the cost of a block from its definition."""
    q, sign = 1 - p, 1 if upper else -1
    age = np.arange(int(log(1e-30) / log(q * exp(max(theta - eta, 0.0) if upper else eta))) + 200)
    renewed = sum(p * q**j * exp(sign * theta * (r + j)) for j in range(m))
    worst = np.max(
        [
            np.exp(-sign * eta * (size + age)) * (q**m * np.exp(sign * theta * (size + age + m)) + renewed)
            for size in range(1, s + 1)
        ],
        axis=0,
    )
    cost = np.ones(len(age))
    if upper:
        cost = np.exp(eta * np.where(age < d - 1, age + r - 1, d - 1))
    else:
        for x in range(d - 1):
            cost[x] = np.sum(p * q**age * np.exp(eta * np.maximum(0, s - r + age + d - 2 - 2 * x)))
    return log(float(np.sum(p * q**age * cost * worst))) + sign * (eta - theta) * t


def direct_log_psi(theta: float, m: int, upper: bool, p: float, s: int, r: int, t: float) -> float:
    """``log ψ_M`` age by age."""
    q, sign = 1 - p, 1 if upper else -1
    age = np.arange(int(log(1e-30) / log(q * exp(sign * theta))) + 200)
    size = np.where(age < m, r, s if upper else 1)
    return log(float(np.sum(p * q**age * np.exp(sign * theta * (size + age))))) - sign * theta * t


def fill(extra: np.ndarray, coins: np.ndarray, span: int, even: bool) -> np.ndarray:
    """Prompts less the smallest for the completed slots, with the row sums ``extra``: as unequal or as equal as can be."""
    rank = np.cumsum(coins, axis=1) - 1
    if even:
        count = np.maximum(coins.sum(axis=1), 1)
        share = (extra // count)[:, None] + (rank < (extra % count)[:, None])
    else:
        share = np.clip(extra[:, None] - span * rank, 0, span)
    return np.where(coins, share, 0)


def clamp_chain(
    rng: np.random.Generator, p: float, s: int, slots: int, target: int, chains: int, steps: int, even: bool = False
) -> np.ndarray:
    """``e`` of independent workers under LEVEL with actual prompts ``1 … s``, started near stationarity; (steps, chains)."""
    load = rng.integers(1, s + 1, (chains, slots)) + rng.geometric(p, (chains, slots)) - 1
    deviations = np.empty((steps, chains), np.int64)
    for k in range(steps):
        coins = rng.random((chains, slots)) < p
        load = np.where(coins, 0, load + 1)
        survivors, free = load.sum(axis=1), coins.sum(axis=1)
        extra = np.clip(target - survivors - free, 0, (s - 1) * free)
        load = load + coins + fill(extra, coins, s - 1, even)
        deviations[k] = load.sum(axis=1) - target
    return deviations


def correlated_chain(
    rng: np.random.Generator, p: float, s: int, slots: int, target: int, chains: int, steps: int
) -> np.ndarray:
    """``e`` of a chain whose completed workloads ``S + X`` are drawn anew with mean ``(T + e)/B``: ``S = s`` for the oldest."""
    e, deviations = np.zeros(chains, np.int64), np.empty((steps, chains), np.int64)
    for k in range(steps):
        share = np.clip(((target + e) / slots - (1 - p) / p - 1) / (s - 1), 0, 1)[:, None]
        count = rng.binomial(slots, p, chains)
        age = rng.geometric(p, (chains, count.max() + 1)) - 1
        rank = (1 - p) ** age * (1 - p * rng.random(age.shape))  # uniform, small for old
        load = np.where(np.arange(age.shape[1]) < count[:, None], np.where(rank < share, s, 1) + age, 0).sum(axis=1)
        low = e + slots - load
        e = np.where(low > 0, low, np.minimum(low + (s - 1) * count, 0))
        deviations[k] = e
    return deviations


def group_chain(
    rng: np.random.Generator, p: float, s: int, low: int, high: int, slots: int, level: float, chains: int, steps: int
) -> np.ndarray:
    """``e`` under Theorem S's rule: ``j`` of the free slots get a size in ``high … s``, the others one in ``1 … low``."""
    load = rng.integers(1, s + 1, (chains, slots)) + rng.geometric(p, (chains, slots)) - 1
    deviations = np.empty((steps, chains))
    for k in range(steps):
        coins = rng.random((chains, slots)) < p
        load = np.where(coins, 0, load + 1)
        survivors, free = load.sum(axis=1), coins.sum(axis=1)
        top, bottom = rng.integers(high, s + 1, (chains, slots)), rng.integers(1, low + 1, (chains, slots))
        sums = np.zeros((chains, slots + 1))
        for j in range(slots + 1):  # the first j of the list t, the first c − j of the list b
            tops = np.where(np.arange(slots) < j, top, 0).sum(axis=1)
            bottoms = np.where(np.arange(slots) < (free - j)[:, None], bottom, 0).sum(axis=1)
            sums[:, j] = np.where(j <= free, survivors + tops + bottoms - level, np.inf)
        best = np.argmin(np.abs(sums), axis=1)
        rank = np.cumsum(coins, axis=1) - 1
        from_top = np.take_along_axis(top, np.maximum(rank, 0), axis=1)
        from_bottom = np.take_along_axis(bottom, np.maximum(rank - best[:, None], 0), axis=1)
        load = load + np.where(coins, np.where(rank < best[:, None], from_top, from_bottom), 0)
        deviations[k] = load.sum(axis=1) - level
        assert np.array_equal(deviations[k], np.take_along_axis(sums, best[:, None], axis=1)[:, 0])
    return deviations


def exact_pair_law(p: float, s: int, target: int, cap: int) -> tuple[np.ndarray, np.ndarray]:
    """Stationary law of ``e`` for two slots (as unequal as can be), workloads cut at ``cap``: values and probabilities."""
    q = 1 - p
    pair = np.zeros((cap + 1, cap + 1))
    pair[1, 1] = 1.0
    w = np.arange(cap + 1)
    answer = np.clip(target - w, 1, s)  # the prompt beside a survivor of workload w
    both = int(np.clip(target, 2, 2 * s))
    first = 1 + min(both - 2, s - 1)
    up = np.minimum(w + 1, cap)
    for _ in range(4000):
        new = np.zeros_like(pair)
        np.add.at(new, (up[:, None], up[None, :]), q * q * pair)
        rows, columns = pair.sum(axis=1), pair.sum(axis=0)
        np.add.at(new, (up, answer[up]), p * q * rows)
        np.add.at(new, (answer[up], up), p * q * columns)
        new[first, both - first] += p * p * pair.sum()
        if np.abs(new - pair).max() < 1e-15:
            break
        pair = new
    law = np.bincount((w[:, None] + w[None, :]).ravel(), weights=pair.ravel())
    return np.arange(len(law)) - target, law


def largest_less_mean(values: np.ndarray, law: np.ndarray, workers: int) -> float:
    """``E max − E`` of ``G`` independent copies."""
    below = np.minimum(np.cumsum(law), 1.0)
    return float(np.sum(np.diff(values) * (below - below**workers)[:-1]))


def fcfs_mean(p: float, s: int, slots: int, workers: int) -> float:
    """``G(E max_g L_g − B E U)``, ``U = S + A_*``, ``S ~ U{1..s}``, by FFT on a window of 30 standard deviations."""
    q = 1 - p
    ages = np.arange(int(log(1e-17) / log(q)))
    law = np.convolve(np.full(s, 1 / s), p * q**ages)
    size = 1 + np.arange(len(law))
    mean, deviation = (s + 1) / 2 + q / p, ((s * s - 1) / 12 + q / p**2) ** 0.5 * slots**0.5
    length = 1 << int(np.ceil(np.log2(30 * deviation + 4 * s)))
    start = round(slots * mean) - length // 2
    folded = np.bincount(size % length, weights=law, minlength=length)
    turn = np.exp(2j * np.pi * np.arange(length // 2 + 1) * (start % length) / length)
    sums = np.fft.irfft(np.fft.rfft(folded) ** slots * turn, length)
    below = np.minimum(np.cumsum(np.maximum(sums, 0)), 1)
    return float(workers * (start + np.sum(1 - (below / below[-1]) ** workers) - slots * mean))
