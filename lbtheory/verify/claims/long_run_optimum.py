"""Minimising today's imbalance exactly is not the best long-run policy: the smallest case."""

from itertools import combinations_with_replacement, product

import numpy as np

from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, close, together

ORDER = 445
WORKERS, SIZES, CAP = 3, (1, 2), 60
"""One slot a worker; workloads are capped, which changes the average by less than 1e-8 at ``p ≥ 1/3``."""


def check(laboratory: Laboratory) -> Verdict:
    """Relative value iteration on the sorted workloads, every size in supply; IO_0 with its best tie rule."""
    optimum, myopic = _average(1 / 3, greedy=False), _average(1 / 3, greedy=True)
    beyond = [_average(0.4, greedy=True) - _average(0.4, greedy=False)]
    return together(
        [
            close([(optimum, 332 / 57), (myopic, 1664 / 285)], 1e-8, "average imbalances at p = 1/3"),
            at_most(beyond, 1e-8, "gap at p = 0.4"),
        ]
    )


def _average(p: float, *, greedy: bool) -> float:
    """Long-run mean imbalance of the best policy, or of the best among those that minimise each step's imbalance."""
    states = list(combinations_with_replacement(range(1, CAP + 1), WORKERS))
    place = {state: i for i, state in enumerate(states)}
    cost = np.array([WORKERS * max(one) - sum(one) for one in states], float)
    masks = list(product((False, True), repeat=WORKERS))
    chance = np.array([p ** sum(mask) * (1 - p) ** (WORKERS - sum(mask)) for mask in masks])
    before: dict[tuple[int, ...], int] = {}
    leads = np.empty((len(states), len(masks)), int)
    options: list[list[int]] = []
    for i, state in enumerate(states):
        for m, mask in enumerate(masks):
            left = tuple(min(w + 1, CAP) for w, done in zip(state, mask, strict=True) if not done)
            if left not in before:
                before[left] = len(options)
                fills = combinations_with_replacement(SIZES, WORKERS - len(left))
                found = [place[tuple(sorted(left + fill))] for fill in fills]
                least = cost[found].min()
                options.append([k for k in found if not greedy or cost[k] == least])
            leads[i, m] = before[left]
    width = max(map(len, options))
    table = np.array([one + one[:1] * (width - len(one)) for one in options])
    value = np.zeros(len(states))
    for _ in range(10_000):
        new = cost + value[table].min(axis=1)[leads] @ chance
        change = new - value
        value = new - new[0]
        if np.ptp(change) < 1e-10:
            return float((change.max() + change.min()) / 2)
    raise ArithmeticError("relative value iteration did not settle")


CLAIM = Claim(
    id="long-run-optimum",
    statement="G = 3, B = 1, S ∈ {1, 2}, p = 1/3: optimum 332/57, IO_0 with its best ties 1664/285; no gap at p = 0.4",
    source="ours (section 6.4.5)",
    hypotheses=("every size in supply", "one slot a worker"),
    kind=Kind.OURS,
    check=check,
)
