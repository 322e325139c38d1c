"""Theorems B and C (ours, proved): closed forms of Theorem A, the second free of the number of slots."""

from dataclasses import dataclass
from math import e, exp, expm1, log, log1p

from lbtheory.theory.levelling.system import LevelSystem

RATE = 0.0345
"""``.32 · .432 / 4``, rounded down."""
LATE_RATE = 0.0465
"""``.186 / 4``."""
BRACKET = 8
"""Theorem C's constant beside ``log G``; its proof gives 7.71."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedForm:
    """Theorem B at one system.

    Attributes
    ----------
    value : float
        Bound of ``limsup E I``, tokens.
    upper, lower : float
        Bounds of ``E max_g e_g⁺`` and ``E e⁻``, tokens.
    theta : float
        ``θ = (s − 1)/(4 μ₃)``, a token: rate of both tails ``P(±e > x) ≤ C e^{−θx}``.
    constant : float
        ``C_B``, of the lower tail.
    upper_constant : float
        ``C_B e^{θ(T₀ − T)} ≤ 1.022 C_B``, of the upper tail.
    """

    value: float
    upper: float
    lower: float
    theta: float
    constant: float
    upper_constant: float


def closed_form(system: LevelSystem) -> ClosedForm:
    """Theorem B (ours, proved): ``E I ≤ (G/θ)[ℓ(G C⁺) + ℓ(C)]`` for every ``0 < p < 1``, ``s ≥ 2``, ``B ≥ 1``; decreasing in
    ``B``.

    ``C = 1/(e^γ − 1) + e^{−.0465 B (s−1)²/μ₃}``, ``γ = .0345 B p (s−1)²/μ₃``, ``ℓ(c) = 1 + log c`` if ``c ≥ 1``, else ``c``;
    ``C⁺ = C e^{θ(T₀−T)}`` for the integer target ``T = ⌊T₀⌋``. Hypotheses as in `chernoff_bound`. Proof: Theorem A at ``η = θ
    q^m``, where the workload cancels from the mean: ``log φ_m ≤ −.32 (1 − q^m) θ(s−1)`` and ``1 − q^m ≥ .432 mp`` for ``m ≤
    2/p``, ``log ψ_M ≤ −.186 θ(s−1)`` for ``M ≥ 2/p``. Checked: the algebra, and the three constants on a grid of ``p`` from
    .001 to .9 and ``s`` from 2 to 40,000 (.387, .432, .350).
    """
    s, p, mu3 = system.s, float(system.p), float(system.mu3)
    theta = (s - 1) / (4 * mu3)
    strength = system.slots * (s - 1) ** 2 / mu3
    late = exp(-LATE_RATE * strength)
    constant = 1 / expm1(min(RATE * p * strength, 700.0)) + late
    upper_constant = constant * exp(theta * float(system.centre - system.target()))
    upper = _mean_from_tail(system.workers * upper_constant) / theta
    lower = _mean_from_tail(constant) / theta
    return ClosedForm(
        value=system.workers * (upper + lower),
        upper=upper,
        lower=lower,
        theta=theta,
        constant=constant,
        upper_constant=upper_constant,
    )


def _mean_from_tail(c: float) -> float:
    """``ℓ(c) = ∫ min(1, c e^{−x}) dx``."""
    return 1 + log(c) if c >= 1 else c


def free_of_slots(system: LevelSystem) -> float:
    """Theorem C (ours, proved): ``E I ≤ 4G(log G + 8) μ₃/(s − 1)`` for **every** ``B``, tokens.

    If ``p(s − 1) < 1`` the bracket gains ``log(1/(p(s − 1)))``. Hypotheses as in `chernoff_bound`. Proof: blocks of ``1 +
    ⌊1/(θB)⌋`` lags, so ``C ≤ e/(e^{.138 p(s−1)} − 1) + 1``, and Theorem M below where ``pB(s−1)² ≤ 4qμ₃``. Checked: the proof
    with the integer target's ``e^{θ(T₀−T)} ≤ e^{1/48}`` (the bracket needs 7.694, or 7.711 for ``p(s − 1) < 1``); above
    Theorem A's value throughout a grid.
    """
    control = float(system.p * (system.s - 1))
    bracket = log(system.workers) + BRACKET + max(0.0, -log(control))
    return 4 * system.workers * bracket * float(system.mu3) / (system.s - 1)


def bracket_needed(control: float) -> float:
    """What the proof of Theorem C needs beside ``log G`` (and ``log(1/(p(s−1)))``), ``control = p(s − 1)``."""
    upper = 1 + log(max(e, e / expm1(0.138 * control) + 1)) + 1 / 48 - max(0.0, -log(control))
    return upper + 1 + log1p(14)
