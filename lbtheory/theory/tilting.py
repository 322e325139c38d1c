"""The tilted slot law and the constants of the lower bound: ``λ₀``, ``R_BE``, ``B₀`` (decode paper, section 6.2 and 6.3).

Tilting ``U = S + A_*`` by ``λ`` tilts ``S`` by ``e^{λt}`` and makes ``A_*`` geometric with ``q_λ = q e^λ``, ``p_λ = 1 − q_λ``.
With ``K(λ) = log E e^{λ(U − EU)}``: ``K'(λ) = E_λ U − E U``, ``K''(λ) = σ_λ² = Var_λ S + q_λ/p_λ²``.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.signal import lfilter

from lbtheory.core import ParameterError, whole_number
from lbtheory.theory.law import PromptLaw
from lbtheory.theory.theorem1 import System

BERRY_ESSEEN = 0.4748
"""``C_BE`` for sums of i.i.d. variables (Shevtsova 2011, "On the absolute constants in the Berry–Esseen type inequalities")."""

POINTS, MOST_POINTS = 257, 4097


@dataclass(frozen=True, slots=True, kw_only=True)
class TiltedSlot:
    """Moments of a slot's workload under a tilt.

    Attributes
    ----------
    tilt : float
        ``λ``.
    shift : float
        ``K'(λ)``, tokens.
    variance : float
        ``σ_λ²``, tokens².
    third : float
        ``E_λ |U − E_λ U|³``, tokens³.
    age_third : float
        ``E_λ A³ = q_λ (1 + 4q_λ + q_λ²)/p_λ³``.
    """

    tilt: float
    shift: float
    variance: float
    third: float
    age_third: float

    @property
    def berry_esseen(self) -> float:
        """``C_BE E|U − EU|³/σ³``: the sum of ``B`` is normal within this over ``sqrt(B)``."""
        return BERRY_ESSEEN * self.third / self.variance**1.5


def tilted_slot(p: Fraction, law: PromptLaw, tilt: float) -> TiltedSlot:
    """Exact moments, but for rounding: ``E|x|³ = E x³ + 2 E (−x)₊³``, and the last is a finite sum.

    Raises
    ------
    ParameterError
        Unless ``0 ≤ λ`` and ``q e^λ < 1``.
    """
    log_q = math.log1p(-float(p))
    if not (tilt >= 0 and log_q + tilt < 0):
        raise ParameterError(f"`tilt` of `tilted_slot` must be at least 0 with q e^λ < 1; got {tilt} at p = {float(p):.6g}.")
    q, p_tilted = math.exp(log_q + tilt), -math.expm1(log_q + tilt)
    sizes = np.array(law.sizes, float)
    weights = np.array([w / law.total for w in law.weights]) * np.exp(tilt * (sizes - law.s))
    weights /= weights.sum()
    size_mean = float(sizes @ weights)
    centred = sizes - size_mean
    age_mean = q / p_tilted
    mean = size_mean + age_mean
    cube = float(centred**3 @ weights) + q * (1 + q) / p_tilted**3
    below = np.zeros(math.ceil(mean))  # pmf of U on {0, …, ⌈mean⌉ − 1}
    low = sizes < len(below)
    below[sizes[low].astype(int)] = weights[low]
    below = lfilter([p_tilted], [1.0, -q], below)
    missing = float((mean - np.arange(len(below))) ** 3 @ below)
    base_mean = float(law.mean) + math.exp(log_q) / float(p)
    return TiltedSlot(
        tilt=tilt,
        shift=mean - base_mean,
        variance=float(centred**2 @ weights) + q / p_tilted**2,
        third=cube + 2 * missing,
        age_third=q * (1 + 4 * q + q * q) / p_tilted**3,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerBoundConstants:
    """Constants of the lower bound.

    Attributes
    ----------
    lambda0 : float
        ``min{½ log 2, log(1 + p/(2q)), log 2/(2(s−1))}``, an explicit choice (ours); it gives ``e^λ ≤ √2``, ``q ≤ q_λ ≤ 2q``,
        ``p_λ ≥ p/2``, ``2λ(s−1) ≤ log 2`` for ``λ ≤ λ₀``.
    berry_esseen, B0 : float
        ``R_BE = C_BE · 4[(s−1)³ + 192 q/p³]/(σ²/2)^{3/2}`` and ``B₀ = (16 R_BE)²``, explicit (ours, proved).
    berry_esseen_computed, B0_computed : float
        The same with ``sup_{λ ≤ λ₀} C_BE E_λ|U−E_λU|³/σ_λ³``, bounded by a grid and a Lipschitz constant.
    """

    lambda0: float
    berry_esseen: float
    B0: float
    berry_esseen_computed: float
    B0_computed: float


def lambda_limit(p: Fraction, s: int) -> float:
    """``λ₀``, see `LowerBoundConstants`; ``s ≥ 2``."""
    whole_number("s", "lambda_limit", s, 2)
    return min(math.log(2) / 2, math.log1p(float(p / (2 * (1 - p)))), math.log(2) / (2 * (s - 1)))


def lower_bound_constants(of: System) -> LowerBoundConstants:
    """``λ₀``, ``R_BE`` and ``B₀`` at a system, explicit and computed."""
    p, s, variance = float(of.p), of.s, float(of.slot_variance)
    lambda0 = lambda_limit(of.p, s)
    explicit = BERRY_ESSEEN * 4 * ((s - 1) ** 3 + 192 * (1 - p) / p**3) / (variance / 2) ** 1.5
    computed = min(explicit, largest_berry_esseen(of, lambda0))
    return LowerBoundConstants(
        lambda0=lambda0,
        berry_esseen=explicit,
        B0=(16 * explicit) ** 2,
        berry_esseen_computed=computed,
        B0_computed=(16 * computed) ** 2,
    )


def largest_berry_esseen(of: System, lambda0: float) -> float:
    """Upper bound on ``sup_{0 ≤ λ ≤ λ₀} C_BE E_λ|U−E_λU|³/σ_λ³`` (ours, proved but for rounding).

    With ``m₄ = E_λ(U−E_λU)⁴`` and ``f = E_λ|U−E_λU|³/σ_λ³``: ``|f'| ≤ (m₄ + 3σ_λ⁴)/σ_λ³ + (3/2) m₄^{3/2}/σ_λ⁵``, since
    ``d/dλ E_λ g = Cov_λ(g, U)`` and ``dσ_λ²/dλ = E_λ(U−E_λU)³``. The right side is bounded over the interval by
    ``m₄ ≤ (s−1)⁴/12 + 6 (s−1)²/4 · q_λ/p_λ² + q_λ(p_λ²+9q_λ)/p_λ⁴`` at ``λ₀``, where it is largest, and by ``σ_λ² ≥ σ²/2`` (row
    ``tilt``).
    """
    spread = of.s - 1
    q = float(of.q) * math.exp(lambda0)
    age = q / (1 - q) ** 2
    fourth = spread**4 / 12 + 1.5 * spread**2 * age + q * ((1 - q) ** 2 + 9 * q) / (1 - q) ** 4
    most = spread**2 / 4 + age
    least = max(float(of.slot_variance) / 2, float(of.q / of.p**2))
    slope = BERRY_ESSEEN * ((fourth + 3 * most**2) / least**1.5 + 1.5 * fourth**1.5 / least**2.5)
    points = POINTS
    while True:
        step = lambda0 / (points - 1)
        found = max(tilted_slot(of.p, of.law, float(tilt)).berry_esseen for tilt in np.linspace(0, lambda0, points))
        if slope * step / 2 <= 0.02 * found or points >= MOST_POINTS:
            return found + slope * step / 2
        points = 4 * points - 3
