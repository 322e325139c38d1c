"""Survival curves of output lengths: the empirical one, and the product-limit one for histories with running requests.

``P(O > a)`` from finished requests is ``N(a)/N(0)``, ``N(a)`` the number of them longer than ``a``. A request that still
runs at age ``a`` says ``O > a`` and no more: it is censored on the right, and the long ones are censored most. The
product-limit estimator (Kaplan and Meier, Journal of the American Statistical Association 53, 1958, 457-481) counts it as at
risk up to its age:

    ``Ŝ(a) = Π_{t ≤ a} (1 − d_t / n_t)``,   ``d_t`` finished at ``t``, ``n_t`` finished or censored at ``t`` or later.

Where the longest observation is censored the curve ends in a plateau above 0, which is carried on.
"""

from dataclasses import dataclass

import numpy as np

ESTIMATES = ("empirical", "product-limit")
SCALE = 2**30
"""Weight of probability 1 in a product-limit curve."""


@dataclass(frozen=True, slots=True)
class Curve:
    """``alive[a] ∝ P̂(O > a)`` for ``a = 0, 1, …``, whole numbers, constant from the last entry on."""

    alive: np.ndarray

    def by_age(self, cap: int) -> np.ndarray:
        """``ĉ(a) = Σ_{j<cap} P̂(O > a + j) / P̂(O > a)`` at each age of the curve; ``min(1, cap)`` where nothing survives.

        Sums are whole numbers, so a request that no historical one of its age left within the window has ``ĉ = cap`` exactly.
        """
        alive = self.alive
        sums = np.concatenate([[0], np.cumsum(np.concatenate([alive, np.full(cap, alive[-1])]))])
        total = sums[cap : cap + len(alive)] - sums[: len(alive)]
        return np.where(alive > 0, total / np.maximum(alive, 1), float(min(1, cap)))

    def finishing(self, ages: np.ndarray, horizon: int) -> np.ndarray:
        """``(F̂(a+H) − F̂(a)) / (1 − F̂(a))``, 1 where nothing survives."""
        last = len(self.alive) - 1
        now = self.alive[np.minimum(ages, last)]
        then = self.alive[np.minimum(np.asarray(ages) + horizon, last)]
        return np.where(now > 0, 1 - then / np.maximum(now, 1), 1.0)


def empirical(outputs: np.ndarray) -> Curve:
    """``N(a)`` for ``a = 0 … longest output``; the last entry is 0."""
    return Curve(len(outputs) - np.cumsum(np.bincount(outputs)))


def product_limit(outputs: np.ndarray, running_ages: np.ndarray) -> Curve:
    """``2^30 Ŝ(a)``, rounded, for ``a = 0 …`` the longest finished or running length."""
    from scipy.stats import CensoredData, ecdf

    longest = max(int(outputs.max()), int(running_ages.max(initial=0)))
    data = CensoredData(uncensored=outputs, right=running_ages)
    return Curve(np.rint(SCALE * ecdf(data).sf.evaluate(np.arange(longest + 1))).astype(np.int64))


def estimated(estimate: str, outputs: np.ndarray, running_ages: np.ndarray | None) -> Curve:
    """The curve by the name of its estimate; without running requests the two agree."""
    if estimate == "empirical" or running_ages is None or len(running_ages) == 0:
        return empirical(outputs)
    return product_limit(outputs, running_ages)
