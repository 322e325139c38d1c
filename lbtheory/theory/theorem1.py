"""Theorem 1 of the decode paper: its constants, its three bounds, and the sharper ones that its proof gives (section 6).

``S ~ F`` on ``{1, …, s}``, not constant; ``O ~ Geo(p)``; independent; releases fixed in advance. With ``q = 1 − p``::

    ρ   = 1 − max_t P(S = t)                 supply condition: liminf A(k)/k > n p / ρ
    σ²  = Var S + q/p²                       μ₂ = (s + 1/p)² + q/p²
    θ₀  = min{1/(s+1), −½ log q}             r  = q e^{θ₀} ≤ √q
    V   = p² q e^{θ₀(s+1)} [(s+1)²/(1−r) + 2(s+1) r/(1−r)² + r(1+r)/(1−r)³]
    τ   = min{θ₀, p/(2V)}                    κ  = p τ / 4
    ε   = sqrt(8 n p q μ₂ min{1, 4 G e^{−κB}})

Upper: ``limsup Ī^IO ≤ (G−1)(s+ε)/p``. Lower: ``liminf Ī^JSQ ≥ (Gσ/1024) sqrt(B log G)`` for ``B ≥ B₀``, ``log G ≤ 64 λ₀²σ²B``.
Ratio: ``≥ (pσ/(2048 s)) (G/(G−1)) sqrt(B log G)`` once ``ε ≤ s`` too. Every value here is that of the formula, in any regime.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, whole_number
from lbtheory.theory.arithmetic import DOUBLE, Arithmetic, probability
from lbtheory.theory.law import PromptLaw


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """What the theorem is about: ``p``, the prompt law, ``G`` workers of ``B`` slots. Made by `system`, which checks."""

    p: Fraction
    law: PromptLaw
    workers: int
    slots: int

    @property
    def q(self) -> Fraction:
        """``1 − p``."""
        return 1 - self.p

    @property
    def n(self) -> int:
        """All slots."""
        return self.workers * self.slots

    @property
    def s(self) -> int:
        """Largest prompt."""
        return self.law.s

    @property
    def slot_mean(self) -> Fraction:
        """``E U = E S + q/p``, tokens."""
        return self.law.mean + self.q / self.p

    @property
    def slot_variance(self) -> Fraction:
        """``σ² = Var S + q/p²``, tokens²."""
        return self.law.variance + self.q / self.p**2


def system(p: Fraction | float, law: PromptLaw, workers: int, slots: int) -> System:
    """Check the parameters of the theorem.

    Raises
    ------
    ParameterError
        ``p`` outside (0, 1), workers or slots below 1, a constant prompt law (then ``ρ = 0`` and no supply is enough).
    """
    if law.constant:
        raise ParameterError(
            f"`law` of the decode theorem must not be constant; got {law.s} always. Then ρ = 0: no supply meets the theorem's "
            "condition. Use a law with at least two sizes, or the exact benchmark law alone."
        )
    return System(
        p=probability(p, "system"),
        law=law,
        workers=whole_number("workers", "system", workers, 1),
        slots=whole_number("slots", "system", slots, 1),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """Constants and bounds of Theorem 1, numbers of the arithmetic that was asked for (proved by the paper, sections 6.1, 6.2).

    Attributes
    ----------
    sigma, rho, mu2, theta0, r, V, tau, kappa, epsilon : number
        As in the module's formulas.
    io_upper, jsq_lower : number
        Bounds on long-run imbalances, tokens.
    ratio_lower : number or None
        Lower bound on their ratio; None at ``G = 1``, where both are 0.
    supply_rate : number
        ``n p / ρ``, requests an iteration.
    """

    sigma: Any
    rho: Any
    mu2: Any
    theta0: Any
    r: Any
    V: Any
    tau: Any
    kappa: Any
    epsilon: Any
    io_upper: Any
    jsq_lower: Any
    ratio_lower: Any
    supply_rate: Any


def constants(of: System, arithmetic: Arithmetic = DOUBLE) -> Constants:
    """Evaluate Theorem 1 at a system."""
    a, number = arithmetic, arithmetic.number
    p, q, s, workers = number(of.p), number(of.q), number(of.s), number(of.workers)
    sigma = a.sqrt(number(of.slot_variance))
    mu2 = number(second_moment(of.p, of.s))
    theta0, r, gap = tilt_limit(of.p, of.s, a)
    wide = s + 1
    v = p**2 * q * a.exp(theta0 * wide) * (wide**2 / gap + 2 * wide * r / gap**2 + r * (1 + r) / gap**3)
    tau = a.minimum(theta0, p / (2 * v))
    kappa = p * tau / 4
    epsilon = excess(of, kappa, 8 * mu2, a)
    spread = a.sqrt(number(of.slots) * a.log(workers))
    return Constants(
        sigma=sigma,
        rho=number(1 - of.law.commonest),
        mu2=mu2,
        theta0=theta0,
        r=r,
        V=v,
        tau=tau,
        kappa=kappa,
        epsilon=epsilon,
        io_upper=(workers - 1) * (s + epsilon) / p,
        jsq_lower=workers * sigma / 1024 * spread,
        ratio_lower=None if of.workers == 1 else p * sigma / (2048 * s) * workers / (workers - 1) * spread,
        supply_rate=number(of.n * of.p / (1 - of.law.commonest)),
    )


def second_moment(p: Fraction, s: int) -> Fraction:
    """``μ₂ = E(s + 1 + A_*)² = (s + 1/p)² + q/p²``, tokens² (decode paper, section 6.1)."""
    return (s + 1 / p) ** 2 + (1 - p) / p**2


def tilt_limit(p: Fraction, s: int, a: Arithmetic) -> tuple[Any, Any, Any]:
    """``θ₀``, ``r = q e^{θ₀}``, and ``1 − r`` without cancellation."""
    log_q = a.log1p(-a.number(p))
    theta0 = a.minimum(1 / a.number(s + 1), -log_q / 2)
    return theta0, a.exp(log_q + theta0), -a.expm1(log_q + theta0)


def excess(of: System, kappa: Any, factor: Any, a: Arithmetic) -> Any:
    """``sqrt(factor · n p q · min{1, 4 G e^{−κB}})``: Cauchy–Schwarz bound on ``E(u* − Bp)₊``, ``E u*² ≤ factor · n p q``."""
    number = a.number
    tail = a.minimum(number(1), 4 * number(of.workers) * a.exp(-kappa * number(of.slots)))
    return a.sqrt(factor * number(of.n * of.p * of.q) * tail)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharperConstants:
    """What the same proof gives with less lost (ours, proved: section 6.4.2), beside the factor gained on the paper.

    Attributes
    ----------
    epsilon_four : float
        ``ε`` from ``E u*² ≤ 4 n p q μ₂`` in place of 8: ``u*² ≤ 2(max² + min²)`` and the two come from different ``(g, t)``.
    epsilon : float
        ``ε`` from ``E u*² ≤ 2 n p q (μ₂ + E max(s, A_*)²)``: the coefficients of ``E_g(s+1)`` are at most ``max(s, A_*)``.
    epsilon_gain : float
        Paper's ``ε`` over it.
    io_upper : float
        ``max{G−1, (G−2)/p} s + (G−1) ε/p``: either all ``G−1`` deficits are at most ``s``, or at most ``G−2`` are.
    io_gain : float or None
    spread_upper : float
        ``(G−1)(s + ε/p)``, for SpreadLex (section 6.4.3): its leading term has no factor ``1/p``.
    spread_gain : float or None
    jsq_lower : float
        ``(h/16) G σ sqrt(B log G)`` with `H`: ``h/16 = 1/130.3…`` in place of 1/1024.
    jsq_gain : float
    jsq_level : float
        ``z`` at which `sharper_tail` gives the most: ``t = σ sqrt(B) z``.
    jsq_lower_level : float
        ``G σ sqrt(B) max_z z [1 − (1 − a(z))^{G−1}]``, ``a`` of `sharper_tail`. It needs ``B ≥ B₀`` and ``z ≤ ½ λ₀ σ sqrt(B)``.
    """

    epsilon_four: float
    epsilon: float
    epsilon_gain: float
    io_upper: float
    io_gain: float | None
    spread_upper: float
    spread_gain: float | None
    jsq_lower: float
    jsq_gain: float
    jsq_level: float
    jsq_lower_level: float


H = -math.expm1(-math.exp(-0.25) / 5 * 2**-0.25)
"""``h = 1 − exp(−a₀ 2^{−1/4}) = 0.12276…``: lower bound on the probability that some worker is ``t`` above its mean (6.3)."""


def sharper_tail(z: float | np.ndarray) -> float | np.ndarray:
    """``a(z) = (1/5) e^{−2z² − 4√2 z} ≤ P(L_g ≥ B E U + σ√B z)`` for ``B ≥ B₀``, ``z ≤ ½ λ₀ σ sqrt(B)`` (ours, proved).

    The paper tilts by ``λ = 2z/(σ√B)`` and bounds ``λ B K'(λ) ≤ 8Bσ²λ² = 32z²``. Tilt instead by the ``λ`` with
    ``B K'(λ) = σ√B z``: it exists, and is at most ``2z/(σ√B)``, because ``K'(λ) ≥ ½σ²λ``; so ``λ B K'(λ) ≤ 2z²``, and
    ``λ σ_λ √B ≤ 4√2 z`` as before. The rest of the proof is unchanged.
    """
    return np.exp(-2 * np.square(z) - 4 * math.sqrt(2) * np.asarray(z)) / 5


def sharper(of: System) -> SharperConstants:
    """The sharper constants of section 6.4.2 and 6.4.3 at a system, in doubles."""
    paper, p, s, others = constants(of), float(of.p), of.s, of.workers - 1
    mu2 = second_moment(of.p, s)
    square = s**2 * (1 - of.q ** (s + 1)) + of.q ** (s + 1) * mu2  # E max(s, A_*)²
    epsilon = excess(of, paper.kappa, float(2 * (mu2 + square)), DOUBLE)
    levels = np.geomspace(1e-2, 10, 2000)
    gains = levels * -np.expm1(others * np.log1p(-sharper_tail(levels)))
    best = int(np.argmax(gains))
    io_upper = max(others, (others - 1) / p) * s + others * epsilon / p
    spread_upper = others * (s + epsilon / p)
    return SharperConstants(
        epsilon_four=excess(of, paper.kappa, float(4 * mu2), DOUBLE),
        epsilon=epsilon,
        epsilon_gain=math.sqrt(4 * mu2 / (mu2 + square)),
        io_upper=io_upper,
        io_gain=paper.io_upper / io_upper if others else None,
        spread_upper=spread_upper,
        spread_gain=paper.io_upper / spread_upper if others else None,
        jsq_lower=paper.jsq_lower * 1024 * H / 16,
        jsq_gain=1024 * H / 16,
        jsq_level=float(levels[best]),
        jsq_lower_level=of.workers * float(paper.sigma) * math.sqrt(of.slots) * float(gains[best]),
    )
