"""How the supply condition is split between successes and arrivals."""

import math
from fractions import Fraction

import numpy as np
from scipy.stats import binom

from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import OVERLOAD, Laboratory
from lbtheory.verify.verdict import Verdict, at_most, together

ORDER = 200


def check(laboratory: Laboratory) -> Verdict:
    """The algebra in exact fractions; the exact binomial probabilities that an event fails, against Hoeffding's rates."""
    left: list[Fraction] = []
    right: list[Fraction] = []
    fails, rates = [], []
    for of in laboratory.systems:
        rho, work = 1 - of.law.commonest, of.n * of.p
        rate = Fraction(OVERLOAD) * work / rho
        delta = rho * rate - work
        low, high = work + delta / 3, work + 2 * delta / 3
        left += [-delta, work, low, high / rate]
        right += [Fraction(0), low, high, rho - delta / (3 * rate)]
        for k in (20, 100, 500, 3000):
            arrivals = int(rate * k)
            fails.append(binom.sf(math.floor(low * k), of.n * (k - 1), float(of.p)))
            rates.append(math.exp(-2 * float(low * k - work * (k - 1)) ** 2 / (of.n * (k - 1))))
            fails.append(binom.cdf(math.ceil(high * k) - 1, arrivals, float(rho)))
            rates.append(math.exp(-2 * max(float(rho * arrivals - high * k), 0.0) ** 2 / arrivals))
    return together(
        [
            at_most([float(x) for x in left], np.array([float(x) for x in right]), "identities", slack=1e-15),
            at_most(fails, np.array(rates), "exact probabilities that an event fails, k up to 3,000", slack=1e-9),
        ]
    )


CLAIM = Claim(
    id="supply-split",
    statement="Δ = ρℓ − np > 0, a = np + Δ/3, b = np + 2Δ/3;  bk/A(k) ≤ ρ − Δ/(3ℓ);  P(W_{k−1} ≤ ak), P(N_t(A(k)) ≥ bk) → 1",
    source="decode paper, EC.1.1; the rates of convergence are Hoeffding's",
    hypotheses=("liminf A(k)/k = ℓ > np/ρ",),
    kind=Kind.PROVED,
    check=check,
)
