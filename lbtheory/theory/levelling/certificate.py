"""The whole chain of a bound again in ball arithmetic, at the multipliers that were found: a rigorous number."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, whole_number
from lbtheory.theory.arithmetic import ball, balls
from lbtheory.theory.levelling._balls import CertificateError, SideBalls, above, require
from lbtheory.theory.levelling._envelope import convex_minorant
from lbtheory.theory.levelling.chernoff import LevelBound
from lbtheory.theory.levelling.moments import SecondMoment, drift
from lbtheory.theory.levelling.side import LevelSide, Vertex

AGREEMENT = 1e-9
"""Relative distance by which a claimed double may be below the certified number: rounding, no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedBound:
    """``limsup E I ≤ value``, rigorous: the upper end of a ball, rounded up.

    Attributes
    ----------
    value, spread, upper, lower : float
        As in the bound that was certified, each rounded up.
    bound : LevelBound
    precision : int
        Bits.
    """

    value: float
    spread: float
    upper: float
    lower: float
    bound: LevelBound
    precision: int


def certify(bound: LevelBound, *, precision: int = 128) -> CertifiedBound:
    """Evaluate a bound again in balls, from rational ``p``, the integer target and the multipliers as exact rationals.

    Any multipliers prove some number, so what is checked is that they prove what ``bound`` claims. Conditions are decided in
    balls: convergence of each series (``q e^{θ−η} < 1``, ``q e^η < 1``, ``q e^θ < 1``), signs of multipliers, ``0 ≤ b ≤ β``,
    contiguous blocks, and ``x ≥ (m₁ − 1)B`` where lags before ``m₁`` are left out. Where the worse of ``S = 1, s`` is
    undecided both are added.

    Raises
    ------
    CertificateError
        A condition fails or is undecided, or a claimed value is below the certified one.
    ParameterError
        A bound with a target that is not an integer, or a precision below 53 bits.
    """
    precision = whole_number("precision", "certify", precision, 53)
    if not isinstance(bound, LevelBound):
        raise ParameterError(f"`bound` of `certify` must be a LevelBound; got {type(bound).__name__}. Use `chernoff_bound`.")
    system = bound.system
    require(isinstance(bound.target, int), "the target is not an integer")
    for side, upper in ((bound.above, True), (bound.below, False)):
        check_side(side, bound, upper)
    with balls(precision):
        points, values, mean = certify_side(bound.above, None)
        largest, spread = largest_mean(points, values, system.workers)
        _, _, low = certify_side(bound.below, mean)
        made = CertifiedBound(
            value=above(system.workers * (spread + ball(low))),
            spread=above(spread),
            upper=above(largest),
            lower=_double(low),
            bound=bound,
            precision=precision,
        )
    for name in ("value", "spread", "upper", "lower"):
        check_claim(name, getattr(bound, name), getattr(made, name))
    return made


def check_side(side: LevelSide, bound: LevelBound, upper: bool) -> None:
    """A side must speak of the system and target of the bound."""
    system = bound.system
    want = (upper, system.p, system.s, 1 if upper else system.s, system.slots, Fraction(system.shifted(bound.target)))
    require((side.upper, side.p, side.s, side.renewal, side.slots, side.level) == want, "a side belongs to another system")


def check_claim(name: str, claimed: float, proved: float, rounding: float = AGREEMENT) -> None:
    """Refuse a claim that is below what is proved."""
    if not claimed * (1 + rounding) >= proved:
        raise CertificateError(f"the claimed `{name}`, {claimed!r}, is below what the multipliers prove, {proved!r}.")


def certify_side(side: LevelSide, mean_above: Fraction | None) -> tuple[list[Fraction], list[Fraction], Fraction]:
    """Vertices of a rigorous convex minorant from 0 on, as exact fractions, and the bound of the mean."""
    kernel = SideBalls(p=side.p, s=side.s, renewal=side.renewal, slots=side.slots, level=side.level, upper=side.upper)
    known: dict[tuple[Any, ...], Any] = {}
    points, values = [Fraction(0)], [Fraction(0)]
    for vertex in side.vertices:
        points.append(Fraction(vertex.x))
        proved = above(excess(kernel, vertex, known))
        check_claim(f"vertices at x = {vertex.x:g}", vertex.value, proved)
        values.append(Fraction(proved))
    moment = _certify_moment(side, mean_above)
    start = min(x + h for x, h in zip(points[1:], values[1:], strict=True))
    values[0] = start if moment == inf else min(start, Fraction(moment))
    values = [min(h, values[0]) for h in values]
    kept = convex_minorant(np.array(points, object), np.array(values, object))
    kept = kept if kept[0] == 0 else [0, *kept]
    return [points[i] for i in kept], [values[i] for i in kept], values[0]


def excess(kernel: SideBalls, vertex: Vertex, known: dict[tuple[Any, ...], Any]) -> Any:
    """``Σ_blocks e^{B log φ − θx − 1}/θ``: bounds ``E(e − x)⁺``."""
    lags, widths = vertex.lags.tolist(), vertex.widths.tolist()
    thetas, etas = vertex.thetas.tolist(), vertex.etas.tolist()
    require(
        len(lags) == len(widths) == len(etas) == len(thetas) - 1 >= 1 and min(widths) >= 1 and lags[0] >= 1,
        "the blocks of lags are malformed",
    )
    require(all(m + d == n for m, d, n in zip(lags, widths, lags[1:], strict=False)), "a lag is left out between blocks")
    if lags[0] > 1:
        allowed = kernel.upper and kernel.renewal == 1 and vertex.x >= (lags[0] - 1) * kernel.slots
        require(allowed, "lags before the first block are left out")
    x, last = ball(Fraction(vertex.x)), lags[-1] + widths[-1]
    total = ball(0)
    blocks: list[tuple[Any, ...]] = [*zip(thetas, etas, lags, widths, strict=False), (thetas[-1], last)]
    for block in blocks:
        if block not in known:
            known[block] = kernel.log_psi(*block) if len(block) == 2 else kernel.log_phi(*block)
        theta = ball(Fraction(block[0]))
        total += (known[block] - theta * x - 1).exp() / theta
    return total


def _certify_moment(side: LevelSide, mean_above: Fraction | None) -> float:
    """Theorem M at the given ``b`` and ``λ``: the positive root of ``(1 − q²) Y² + linear · Y = constant``, rounded up."""
    moment: SecondMoment = side.moment
    beta = drift(side.p, side.renewal, side.slots, side.level, side.upper)
    if moment.value == inf:
        return inf
    require(beta == moment.drift and 0 <= Fraction(moment.b) <= beta, "`b` of the second moment is not in [0, β]")
    p, s, r, lam, b = side.p, side.s, side.renewal, moment.weight, Fraction(moment.b)
    q, age = 1 - p, (1 - p) / p
    n = max(0, -((s + 3 - 2 * r - lam) // 2))
    late = ball(q) ** n * (s - 1)
    worst = ball((2 - r) ** 2 + 2 * (2 - r) * age + age * (1 + q) / p - lam * (1 + age))
    worst += late * ball(s + 3 - 2 * r + 2 * n + 2 * age - lam)
    constant = ball(p * q) * (side.slots * worst + ball(lam * side.level)) + ball(b * b)
    own = abs(lam)
    if side.upper:
        require(lam >= 0, "λ of the second moment is negative")
    elif lam > 0:
        require(mean_above is not None, "λ of the second moment is positive and nothing is known of E e⁺")
        constant += ball(p * q * lam * (mean_above or 0))
        own = 0
    linear, square = ball(2 * q * b - p * q * own), ball(1 - q * q)
    proved = above(((linear * linear + 4 * square * constant).sqrt() - linear) / (2 * square))
    check_claim("moment", moment.value, proved)
    return proved


def largest_mean(points: list[Fraction], values: list[Fraction], workers: int) -> tuple[Any, Any]:
    """Balls around bounds of ``E max_g e_g⁺`` and ``E(max_g e_g⁺ − e⁺)`` from a convex minorant."""
    log_peak = ball(workers).log() / -(workers - 1)
    peak = -log_peak.expm1()
    highest = -(workers * log_peak).expm1() - peak  # the largest value of 1 − (1 − u)^G − u
    end = ball(values[-1])
    largest, spread = workers * end, (workers - 1) * end
    for x, y, h, k in zip(points, points[1:], values, values[1:], strict=False):
        width, tail = ball(y - x), ball(min(Fraction(1), (h - k) / (y - x)))
        some = 1 - (1 - tail) ** workers
        largest += width * some
        spread += width * (some - tail if tail <= peak else highest)
    return largest, spread


def _double(value: Fraction) -> float:
    """A fraction rounded up to a double."""
    return above(ball(value))
