"""Exponential moments of the noise: slot by slot, and for a worker."""

import math

import numpy as np

from lbtheory.theory.theorem1 import constants
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most, mean_at_most, together

ORDER = 160


def check(laboratory: Laboratory) -> Verdict:
    """The slot inequality on a grid; the worker's moment with coins integrated out exactly, states from independent runs."""
    left, right = [], []
    for p in (0.01, 0.25, 0.7):
        for size in (1.0, 7.0, 60.0):
            for theta in np.linspace(-2 / size, 2 / size, 41):
                for share in np.linspace(-1, 1, 21):
                    left.append(float(coin_mgf(p, theta, np.array(share * size))))
                    right.append(1 + p * (1 - p) * theta**2 * size**2 / 2 * math.exp(abs(theta) * size))
    parts = [at_most(left, np.array(right), "slot inequality (p, θ, a, Z)", slack=1e-14)]
    for of in laboratory.systems[:2]:
        known = constants(of)
        for policy in ("io", "jsq"):
            states = laboratory.states(of, policy)
            for t in (0, of.s + 1):
                for theta in (-known.theta0, known.theta0):
                    moments = [coin_mgf(float(of.p), theta, t - w - 1).prod(axis=1).mean() for w in states]
                    bound = math.exp(known.V * of.slots * theta**2 / 2)
                    parts.append(mean_at_most(moments, bound, f"E exp(θE_g({t})), {policy}"))
    return together(
        parts, f"{len(left):,} slot inequalities (p, θ, a, Z); {len(parts) - 1} moments over {len(states)} independent states"
    )


def coin_mgf(p: float, theta: float, coefficient: np.ndarray) -> np.ndarray:
    """``E e^{θ(ξ−p)a}``."""
    return np.asarray(p * np.exp(theta * (1 - p) * coefficient) + (1 - p) * np.exp(-theta * p * coefficient))


CLAIM = Claim(
    id="mgf",
    statement="E e^{θ(ξ−p)a} ≤ 1 + ½ p q θ² Z² e^{|θ|Z}, |a| ≤ Z;  E e^{θE_g(t)} ≤ e^{VBθ²/2}, |θ| ≤ θ₀, t ∈ {0, s+1}",
    source="decode paper, EC.1.3",
    hypotheses=("every policy of the model",),
    kind=Kind.PROVED,
    check=check,
)
