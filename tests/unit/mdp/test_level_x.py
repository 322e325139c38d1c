"""LEVEL-X on small systems: fewer wrong decisions than LEVEL+, and an average nearer to the optimum."""

import numpy as np
import pytest

from lbtheory.decode.mdp import build, evaluate, optimum, policy_mix, system
from lbtheory.decode.policies import make_policy


@pytest.mark.parametrize(("slots", "p", "top", "cap", "queue"), [(2, 0.5, 3, 16, None), (1, 0.5, 3, 14, 3)])
def test_nearer_to_the_optimum_than_level_plus(slots: int, p: float, top: int, cap: int, queue: int | None) -> None:
    model = build(system(2, slots, p, list(range(1, top + 1)), cap=cap, queue=queue))
    best = optimum(model, span=1e-6)
    averages, wrong = [], []
    for text in ("level-x:overtake=none", "level-plus:overtake=none,window=0"):
        mix = policy_mix(model, make_policy(text))
        averages.append(evaluate(model, mix, span=1e-6).average)
        worth = best.values[model.result]
        lost = np.add.reduceat(worth * mix, model.act[:-1]) - np.minimum.reduceat(worth, model.act[:-1])
        wrong.append(float((lost > 1e-4).mean()))
    assert best.average - 1e-5 <= averages[0] < averages[1] - 1e-3 and wrong[0] < wrong[1]
