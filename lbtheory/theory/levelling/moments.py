"""Theorem M (ours, proved): second moments bound ``E e⁺`` and ``E e⁻``."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

import numpy as np

from lbtheory.core import ParameterError
from lbtheory.theory.levelling.system import LevelSystem


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondMoment:
    """``E e⁺ ≤ value`` (or ``E e⁻``), tokens, with what proves it.

    Attributes
    ----------
    value : float
        Infinite where the drift ``β`` has the wrong sign.
    drift : Fraction
        ``β₊ = pT − B``, ``β₋ = B + pB(s − 1) − pT`` (tokens an iteration).
    b, weight : float, int
        The multipliers ``b`` in ``[0, β]`` and ``λ``.
    above : float
        The bound of ``E e⁺`` that a positive ``λ`` needs below; 0 where unused.
    """

    value: float
    drift: Fraction
    b: float
    weight: int
    above: float


def second_moment(
    system: LevelSystem, *, upper: bool = True, target: int | None = None, above: float | None = None
) -> SecondMoment:
    """Theorem M (ours, proved): second moments bound ``E e⁺`` and ``E e⁻``.

    ``(1 − q²) Y² + 2qb Y ≤ pq E Σ_b w_b² + b²`` for ``Y = E e⁺``, and with ``(w_b + 1 − s)²`` for ``Y = E e⁻``, in
    stationarity, rich supply, slots always full, constant integer target ``T``. With ``N = Σ_b (p − ξ_b) w_b`` the recursion
    is ``e'⁺ ≤ (q e − β + N)⁺ ≤ (q e⁺ − b 1{e>0} + N)⁺`` for ``0 ≤ b ≤ β``; square it and use ``E(e⁺)² ≥ Y²`` (that term is
    new here). ``E w²`` depends on the rule: ``E w² ≤ E_X max_S[(S+X)² − λ(S+X)] + λ E w`` with ``E w = (T + E e)/B``, the
    maximum at ``S = 1`` or ``s`` by convexity. Checked: each step by hand, values against simulation and an exact stationary
    law.

    Parameters
    ----------
    system : LevelSystem
    upper : bool
        ``E e⁺``, otherwise ``E e⁻``.
    target : int, optional
        ``T``; `LevelSystem.target` by default.
    above : float, optional
        A proved bound of ``E e⁺``: lets ``λ`` be positive for ``E e⁻``.

    Raises
    ------
    ParameterError
        A target that is not an integer: then ``e' > 0`` no longer implies that only the smallest prompts were admitted.
    """
    target = check_target(system, target, "second_moment")
    if above is not None and not 0 <= above < inf:
        raise ParameterError(f"`above` of `second_moment` must be a finite number ≥ 0; got {above}. Leave it out.")
    return least_moment(
        p=system.p,
        s=system.s,
        renewal=1 if upper else system.s,
        slots=system.slots,
        level=Fraction(system.shifted(target)),
        upper=upper,
        above=above,
    )


def check_target(system: LevelSystem, target: int | None, function: str) -> int:
    """``target`` or the system's own; raises unless it is an integer."""
    if target is None:
        return system.target()
    if isinstance(target, bool) or not isinstance(target, int | np.integer):
        raise ParameterError(
            f"`target` of `{function}` must be an integer number of tokens; got {target!r}. "
            "Between integers a load above the target may contain larger prompts, and the theorem fails."
        )
    return int(target)


def drift(p: Fraction, renewal: int, slots: int, level: Fraction, upper: bool) -> Fraction:
    """``β``: expected fall (below: rise) from 0 in one iteration when every prompt admitted is ``renewal``."""
    rise = slots - p * (level + slots * (1 - renewal))
    return -rise if upper else rise


def least_moment(
    *, p: Fraction, s: int, renewal: int, slots: int, level: Fraction, upper: bool, above: float | None
) -> SecondMoment:
    """The least value over a grid of ``b`` and ``λ``; ``renewal`` is the prompt ``r`` admitted while the deviation lasts."""
    beta = drift(p, renewal, slots, level, upper)
    if beta < 0:
        return SecondMoment(value=inf, drift=beta, b=0.0, weight=0, above=0.0)
    n = np.unique(np.linspace(0, 3 / float(p), 160).astype(np.int64))
    weights = np.append(s + 3 - 2 * renewal + 2 * n, 0)
    if upper or above is None:
        weights = weights[weights >= 0] if upper else weights[weights <= 0]
    b = nextafter(float(beta), 0) * np.linspace(0, 1, 51)
    values = _roots(p, s, renewal, slots, float(level), upper, b[None, :], weights[:, None], above or 0.0)
    i, j = np.unravel_index(np.argmin(values), values.shape)
    weight = int(weights[i])
    used = above if above is not None and not upper and weight > 0 else 0.0
    return SecondMoment(value=float(values[i, j]), drift=beta, b=float(b[j]), weight=weight, above=used)


def _roots(
    p: Fraction,
    s: int,
    renewal: int,
    slots: int,
    level: float,
    upper: bool,
    b: np.ndarray,
    weight: np.ndarray,
    above: float,
) -> np.ndarray:
    """Positive root ``Y`` of ``(1 − q²) Y² + 2qb Y = pq(B W + λ(T ± Y)) + b²``; below ``above`` stands for ``Y`` if ``λ > 0``.

    ``W = E_X max_S[(S + X + 1 − r)² − λ(S + X)]``, the maximum at ``s`` from the age ``n`` on.
    """
    chance, age = float(p), float((1 - p) / p)
    q = 1 - chance
    n = np.maximum(0, np.ceil((weight - s - 3 + 2 * renewal) / 2))
    late = q**n * (s - 1)
    square = (2 - renewal) ** 2 + 2 * (2 - renewal) * age + age * (1 + q) / chance
    worst = square + late * (s + 3 - 2 * renewal + 2 * n + 2 * age) - weight * (1 + age + late)
    constant = chance * q * (slots * worst + weight * level) + b * b
    if upper:
        linear = 2 * q * b - chance * q * weight
    else:
        linear = 2 * q * b - chance * q * np.maximum(-weight, 0)
        constant = constant + chance * q * np.maximum(weight, 0) * above
    root = np.sqrt(linear * linear + 4 * (1 - q * q) * np.maximum(constant, 0))
    return np.where(linear > 0, 2 * constant / (linear + root), (root - linear) / (2 * (1 - q * q)))
