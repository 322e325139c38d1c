"""Theorem S (ours, proved): LEVEL with the supply as it comes, ``S ~ F``."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, whole_number
from lbtheory.theory.arithmetic import probability
from lbtheory.theory.law import PromptLaw
from lbtheory.theory.levelling.side import LevelSide, side_bound


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplyBound:
    """``limsup E I ≤ value`` with only the smallest and largest prompts in supply (double precision).

    Attributes
    ----------
    value : float
        ``G [s − 1 + min_x(x + G H₊(x)) + H₋(0)]``, tokens, ``s`` the number of sizes from the smallest to the largest.
    bottom, top : int
        ``lo`` and ``hi``: prompts of at most ``lo`` and at least ``hi`` are admitted, tokens.
    share : Fraction
        ``α``.
    centre : Fraction
        ``t``: the target is ``T = B(t + q/p)``, tokens.
    releases : Fraction
        ``n p/α``: what ``liminf A(k)/k`` must exceed, requests an iteration.
    overload : Fraction
        ``1/α``: that number in units of the ``n p`` that can be served.
    fcfs_overload : float
        A sketch, not proved: the overload if each group is served in order of arrival, ``max(f, 1 − f)/α`` with
        ``f = (t + E e/B − μ_bot)/(μ_top − μ_bot)``, at the worst ``E e`` that the bound allows.
    point : float
        The ``x`` of the minimum.
    above, below : LevelSide
        ``(e − z)⁺`` and ``(e + z)⁻``, ``z = (s − 1)/2``.
    """

    value: float
    bottom: int
    top: int
    share: Fraction
    centre: Fraction
    releases: Fraction
    overload: Fraction
    fcfs_overload: float
    point: float
    above: LevelSide
    below: LevelSide


def supply_bound(p: Fraction | float, law: PromptLaw, alpha: Any, workers: int, slots: int) -> SupplyBound:
    """Theorem S (ours, proved): the bound of `chernoff_bound` where prompts come as ``S ~ F`` and only quantiles are in supply.

    Each worker takes fixed lists of its ``c`` free slots' number of waiting requests ``≥ hi`` and ``≤ lo``, and admits ``j``
    of the first and ``c − j`` of the second, ``j`` minimising ``|L − T|``, ``T = B(t + q/p)``, ``t = (lo + hi)/2`` (no
    integer needed). One swap changes ``L`` by at most ``s − 1``, so ``e' > z = (s − 1)/2`` implies that all are ``≤ lo``,
    ``e' < −z`` that all are ``≥ hi``. Theorems A and M then hold for ``(e − z)⁺`` and ``(e + z)⁻``. The shared queue couples
    workers, so the union bound stands for independence. Supply: ``liminf A(k)/k > n p/α`` (then both groups eventually have
    ``n`` waiting). Requests of middle sizes wait for ever.

    Checked: the proof, and tails against a simulation of this rule.

    Parameters
    ----------
    p : Fraction or float
    law : PromptLaw
    alpha : Fraction or float
        Share of each group, in ``(0, 1/2]``: ``lo`` is the least size with ``P(S ≤ lo) ≥ α``, ``hi`` the largest with ``P(S ≥
        hi) ≥ α``.
    workers, slots : int

    Raises
    ------
    ParameterError
        ``alpha`` out of range, or ``lo ≥ hi``: then a swap changes nothing.
    """
    p = probability(p, "supply_bound")
    workers = whole_number("workers", "supply_bound", workers, 2)
    slots = whole_number("slots", "supply_bound", slots, 1)
    share = _share(alpha)
    low, high = quantiles(law, share)
    if low >= high:
        raise ParameterError(
            f"`alpha` of `supply_bound` must leave the two groups apart; at {share} their ends are {low} and {high}. "
            "Take a smaller share."
        )
    shift, z = law.smallest - 1, Fraction(law.s - law.smallest, 2)
    size, centre = law.s - shift, Fraction(low + high, 2)
    level = slots * (centre - shift + (1 - p) / p)
    above = side_bound(p=p, s=size, renewal=low - shift, slots=slots, level=level + z, upper=True)
    reach = above.mean + float(2 * z)
    below = side_bound(p=p, s=size, renewal=high - shift, slots=slots, level=level - z, upper=False, above=reach)
    x, h = above.minorant()
    union = x + workers * h
    best = int(np.argmin(union))
    return SupplyBound(
        value=workers * (size - 1 + float(union[best]) + below.mean),
        bottom=low,
        top=high,
        share=share,
        centre=centre,
        releases=workers * slots * p / share,
        overload=1 / share,
        fcfs_overload=_fcfs_overload(law, low, high, share, centre, float(z) + max(above.mean, below.mean), slots),
        point=float(x[best]),
        above=above,
        below=below,
    )


def _share(alpha: Any) -> Fraction:
    try:
        share = Fraction(alpha)
    except (TypeError, ValueError, OverflowError):
        share = Fraction(0)
    if not 0 < share <= Fraction(1, 2):
        raise ParameterError(f"`alpha` of `supply_bound` must be a number in (0, 1/2]; got {alpha!r}.")
    return share


def quantiles(law: PromptLaw, share: Fraction) -> tuple[int, int]:
    """The least size with ``P(S ≤ lo) ≥ α`` and the largest with ``P(S ≥ hi) ≥ α``."""
    found = []
    for pairs in (zip(law.sizes, law.weights, strict=True), zip(law.sizes[::-1], law.weights[::-1], strict=True)):
        mass = 0
        for size, weight in pairs:
            mass += weight
            if mass >= share * law.total:
                found.append(size)
                break
    return found[0], found[1]


def _fcfs_overload(
    law: PromptLaw, low: int, high: int, share: Fraction, centre: Fraction, deviation: float, slots: int
) -> float:
    """``max(f, 1 − f)/α`` at the worst ``|E e| ≤ deviation`` (a sketch)."""
    pairs = list(zip(law.sizes, law.weights, strict=True))
    bottom = [(t, w) for t, w in pairs if t <= low]
    top = [(t, w) for t, w in pairs if t >= high]
    small, large = (sum(t * w for t, w in group) / sum(w for _, w in group) for group in (bottom, top))
    middle = (float(centre) - small) / (large - small)
    extra = deviation / slots / (large - small)
    return min(1.0, max(middle, 1 - middle) + extra) / float(share)
