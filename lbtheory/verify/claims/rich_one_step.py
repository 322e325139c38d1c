"""The one-step inequality in rich supply."""

from fractions import Fraction

import numpy as np

from lbtheory.decode.exact import solve_io
from lbtheory.decode.instance import decode_instance
from lbtheory.theory.rich_supply import one_step
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, close, together

ORDER = 450


def check(laboratory: Laboratory) -> Verdict:
    """Exactly, in fractions, over random states; the stated optimum against the exact solver of IO_0."""
    rng = laboratory.rng("rich-one-step")
    left, right, pairs = [], [], []
    for number in range(laboratory.size(2000, 20_000)):
        p, s = Fraction(int(rng.integers(1, 10)), 10), int(rng.integers(2, 12))
        shape = (int(rng.integers(2, 6)), int(rng.integers(1, 7)))
        w = rng.integers(1, s + 1, shape) + rng.geometric(float(p), shape) - 1
        coins = (rng.random(shape) < float(p)).astype(int)
        found = one_step(p, s, w.tolist(), coins.tolist())
        left.append(found.range_after)
        right.append(found.bound)
        if number < 60:
            pairs.append((_imbalance(found.loads), _solved(w, coins, s)))
    return together(
        [at_most(left, np.array(right, dtype=object), "random states"), close(pairs, 0.0, "optima of the exact solver")]
    )


def _imbalance(loads: tuple[int, ...]) -> float:
    return float(len(loads) * max(loads) - sum(loads))


def _solved(w: np.ndarray, coins: np.ndarray, s: int) -> float:
    """The optimum of IO_0 with every size in supply."""
    free = coins.sum(axis=1)
    loads = np.where(coins == 1, 0, w + 1).sum(axis=1)
    queue = np.repeat(np.arange(1, s + 1), max(1, int(free.sum())))
    solved = solve_io(decode_instance(loads.tolist(), free.tolist(), queue.tolist()))
    return float(solved.objective if solved.objective is not None else np.nan)


CLAIM = Claim(
    id="rich-one-step",
    statement="D' = (max_g(a_g+c_g) − min_g(a_g+s c_g))₊ ≤ (qD + v)₊,  v = max_g E_g(1) − min_g E_g(s) − (s−1)Bp",
    source="ours (section 6.4.7)",
    hypotheses=("every size 1..s in supply", "IO_0 under any tie rule, or SpreadLex", "every slot full"),
    kind=Kind.OURS,
    check=check,
)
