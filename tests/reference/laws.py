"""Plain oracles of laws and small facts: the exact FCFS law, what an overtaking cap forces."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.signal import fftconvolve


def forced_sequentially(
    order: list[int], admitted: int, admissions: int, cap: int, pick: Callable[[list[int]], int]
) -> Iterator[int]:
    """Requests that the overtaking cap forces when ``pick`` chooses freely among the waiting ones otherwise."""
    queue = list(order)
    for step in range(admissions):
        if admitted + step - queue[0] >= cap:
            yield queue.pop(0)
        else:
            queue.remove(pick(queue))


def fcfs_imbalance(p: float, sizes: int, workers: int, slots: int) -> float:
    """Exact ``Ī = G (E max_g L_g − B E U)`` of every size-blind FCFS rule at saturation, ``S ~ U{1..sizes}``.

    A slot holds ``U = S + A``, ``P(A = a) = p (1 − p)^a``, independently of the others; a worker's load is the sum of ``B`` of
    them. Convolve by repeated squaring, then ``E max = Σ_x (1 − CDF(x)^G)``.
    """
    longest = math.ceil(math.log(1e-18) / math.log(1 - p))
    law = np.convolve(np.r_[0.0, np.full(sizes, 1 / sizes)], p * (1 - p) ** np.arange(longest + 1))
    total, square, left = np.ones(1), law, slots
    while left:
        if left & 1:
            total = fftconvolve(total, square)
        left >>= 1
        if left:
            square = fftconvolve(square, square)
    cdf = np.clip(np.cumsum(total), 0, 1)
    return float(workers * (np.sum(1 - cdf**workers) - slots * ((sizes + 1) / 2 + (1 - p) / p)))
