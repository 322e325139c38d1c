"""Exact laws of block policies: constant size, and pairs of slots."""

from fractions import Fraction

import numpy as np

from lbtheory.theory import uniform
from lbtheory.theory.blocks import block_imbalance, constant_block, constant_ratio, pair_block
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, close, mean_equals, together

ORDER = 480
STATED = {
    (20, 50, 8, 64, 81): (1846, 1521),
    (100, 100, 64, 64, 258): (129_306, 115_673),
    (1000, 4000, 8, 64, 5691): (94_641, 75_585),
    (1000, 4000, 32, 256, 5691): (1_096_484, 875_821),
    (100, 400, 128, 64, 608): (289_421, 232_992),
}


def check(laboratory: Laboratory) -> Verdict:
    """Stated values; pairs simulated as independent blocks; the limit of the constant size's gain."""
    values = []
    for (a, s, workers, slots, target), (constant, pairs) in STATED.items():
        p = Fraction(1, a)
        values.append((block_imbalance(constant_block(p, 1), slots, workers)[0], float(constant)))
        values.append((block_imbalance(pair_block(p, 1, s, target), slots, workers)[0], float(pairs)))
    parts = [close(values, 5e-4, "stated values")]
    count = laboratory.size(400, 4000)
    exact = block_imbalance(pair_block(Fraction(1, 20), 1, 50, 81), 64, 8)[0]
    draws = _pairs(laboratory.rng("blocks"), 1 / 20, 50, 81, count * 8 * 32).reshape(count, 8, 32).sum(axis=2)
    parts.append(mean_equals(8 * draws.max(axis=1) - draws.sum(axis=1), exact, "simulated pairs"))
    law, p = uniform(50), Fraction(1, 20)
    limit = float(np.sqrt(1 + float(p**2 * law.variance / (1 - p))))
    parts.append(close([(constant_ratio(p, law), limit)], 1e-12, "limit"))
    return together(parts, f"{len(values)} stated values; {count:,} independent draws of eight workers of 32 pairs")


def _pairs(rng: np.random.Generator, p: float, s: int, target: int, count: int) -> np.ndarray:
    """Loads of independent pairs after ``15/p`` iterations: ``clamp(T − v)`` beside a survivor; half when both complete."""
    first = np.full(count, min(max(target // 2, 1), s))
    second = np.clip(target - first, 1, s)
    for _ in range(int(15 / p)):
        done = rng.random((2, count)) < p
        first, second = first + 1, second + 1
        half = min(max(target // 2, 1), s)
        both = done[0] & done[1]
        new_first = np.where(both, half, np.where(done[0], np.clip(target - second, 1, s), first))
        new_second = np.where(both, np.clip(target - half, 1, s), np.where(done[1], np.clip(target - first, 1, s), second))
        first, second = new_first, new_second
    return np.asarray(first + second)


CLAIM = Claim(
    id="blocks",
    statement="control inside disjoint blocks of slots has a product law: Ī = G(E max_g L_g − E L), L a sum of block loads",
    source="ours (section 6.4.8)",
    hypotheses=("every size in rich supply", "every slot full"),
    kind=Kind.OURS,
    check=check,
)
