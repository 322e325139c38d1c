"""Theorem A in ball arithmetic: upper ends of ``E(e − x)⁺`` at given multipliers, every condition decided in balls.

All functions must be called inside `lbtheory.theory.arithmetic.balls`. Written again from the formulas, not from the compiled
kernels.
"""

from fractions import Fraction
from math import inf, isfinite, nextafter
from typing import Any, NamedTuple

from lbtheory.core import LBTheoryError
from lbtheory.theory.arithmetic import ball

LATE = 1 << 40
"""An age that stands for "never"."""
TRIES = 64


class CertificateError(LBTheoryError):
    """A bound is not proved by the multipliers that it came with."""


class Piece(NamedTuple):
    """``Σ_{low ≤ x < high} weight · e^{slope x} p q^x …``; ``high`` is None for a sum without end."""

    low: int
    high: int | None
    weight: Any
    slope: Any


def above(value: Any) -> float:
    """The smallest double that is certainly at least a ball; infinity where the ball is not finite."""
    from flint import arb

    if not value.is_finite():
        return inf
    number = float(value.upper())
    while isfinite(number) and not arb(number) >= value:
        number = nextafter(number, inf)
    return number


def require(condition: bool, what: str) -> None:
    """Raise `CertificateError` unless a comparison of balls is certainly true."""
    if not condition:
        raise CertificateError(f"the certificate fails: {what}. Raise the precision, or compute the bound again.")


def geometric(t: Any, low: int, high: int | None) -> Any:
    """``Σ_{low ≤ x < high} e^{t x}``, closed exactly; without end it needs ``t < 0``, which is required in balls."""
    from flint import arb

    if high is None:
        require(t < 0, "a geometric series does not certainly converge")
        return (t * low).exp() / -t.expm1()
    if high <= low:
        return arb(0)
    if t.contains(0):
        return (high - low) * (t * low).exp().union((t * (high - 1)).exp())
    return (t * low).exp() * (t * (high - low)).expm1() / t.expm1()


class SideBalls:
    """``B log φ`` and ``B log ψ`` of one side, in balls; the worse branch where a comparison is undecided."""

    def __init__(self, *, p: Fraction, s: int, renewal: int, slots: int, level: Fraction, upper: bool) -> None:
        self.p, self.log_q = ball(p), ball(1 - p).log()
        self.s, self.renewal, self.slots, self.upper = s, renewal, slots, upper
        self.sign = 1 if upper else -1
        self.level = ball(level / slots)

    def log_phi(self, theta: float, eta: float, lag: int, width: int) -> Any:
        """``B log φ`` for the block of lags ``lag … lag + width − 1``."""
        require(theta > 0 and 0 <= eta < inf, "a multiplier is not positive")
        t, h = ball(Fraction(theta)), ball(Fraction(eta))
        late = self.log_q + self.sign * t
        kept = (lag * late).exp()
        renewed = self.p * (self.sign * t * self.renewal).exp() * geometric(late, 0, lag)
        parts = ((kept, self.sign * (t - h)), (renewed, -self.sign * h))
        low, high = self._switch(parts)
        pieces = self._pieces(h, width)
        total = self._sum(parts, pieces, 1, 0, low) + self._sum(parts, pieces, self.s, high, None)
        for x in range(low, high):  # undecided: both ends, which is at least the larger
            total += self._sum(parts, pieces, 1, x, x + 1) + self._sum(parts, pieces, self.s, x, x + 1)
        return self.slots * (total.log() + self.sign * (h - t) * self.level)

    def log_psi(self, theta: float, last: int) -> Any:
        """``B log ψ_M``, ``M = last``."""
        require(theta > 0, "a multiplier is not positive")
        t = self.sign * ball(Fraction(theta))
        old = self.s if self.upper else 1
        young = (t * self.renewal).exp() * geometric(self.log_q + t, 0, last)
        total = self.p * (young + (t * old).exp() * geometric(self.log_q + t, last, None))
        return self.slots * (total.log() - t * self.level)

    def _gain(self, parts: tuple[tuple[Any, Any], ...], x: int) -> Any:
        """``F(s + x) − F(1 + x)``: changes its sign at most once in ``x``, from minus to plus."""
        return sum(a * (g * (1 + x)).exp() * (g * (self.s - 1)).expm1() for a, g in parts)

    def _switch(self, parts: tuple[tuple[Any, Any], ...]) -> tuple[int, int]:
        """``(low, high)``: ``S = 1`` is certainly worst before age ``low``, ``s`` from age ``high`` on.

        The gain is a rising exponential against a falling one, ``C₁ e^{αx} − C₂ e^{−βx}``, ``C₂ ≥ 0`` and ``C₁ > 0``, or of
        one sign.
        """
        (a1, g1), (a2, g2) = parts
        (a, g), (b, f) = ((a1, g1), (a2, g2)) if self.upper else ((a2, g2), (a1, g1))
        if g <= 0 and f <= 0:
            return LATE, LATE
        require(g > 0 and f <= 0, "the sign of a multiplier is undecided")
        if f >= 0:
            return 0, 0
        ratio = (b * -(f * (self.s - 1)).expm1()) / (a * (g * (self.s - 1)).expm1())
        edge = ratio.log() / (g - f) - 1
        require(edge.is_finite(), "the worst prompt is undecided at every age")
        guess = max(0, min(LATE, int(float(edge.mid()))))
        high = guess
        while not self._gain(parts, high) >= 0:
            high += 1
            require(high - guess < TRIES, "the worst prompt is undecided at too many ages")
        low = high
        while low > 0 and not self._gain(parts, low - 1) <= 0:
            low -= 1
            require(high - low < TRIES, "the worst prompt is undecided at too many ages")
        return low, high

    def _pieces(self, h: Any, width: int) -> list[Piece]:
        """The cost ``Λ`` of a block: a sum of exponentials on intervals of ages."""
        zero = ball(0)
        if width == 1:
            return [Piece(0, None, ball(1), zero)]
        if self.upper:
            return [
                Piece(0, width - 1, (h * (self.renewal - 1)).exp(), h),
                Piece(width - 1, None, (h * (width - 1)).exp(), zero),
            ]
        require(self.log_q + h < 0, "q e^η < 1 is undecided")
        mean = self.p / -(self.log_q + h).expm1()
        top = self.s - self.renewal + width - 2
        cut = min(width - 1, top // 2 + 1)
        return [
            Piece(0, cut, mean * (h * top).exp(), -2 * h),
            Piece(cut, None, ball(1), zero),
            Piece(cut, width - 1, (mean - 1) * (-self.log_q * top).exp(), 2 * self.log_q),
        ]

    def _sum(self, parts: tuple[tuple[Any, Any], ...], pieces: list[Piece], size: int, low: int, high: int | None) -> Any:
        """``Σ_{low ≤ x < high} Λ(x) p q^x F(size + x)``."""
        total = ball(0)
        for piece in pieces:
            start = max(low, piece.low)
            ends = [end for end in (high, piece.high) if end is not None]
            end = min(ends) if ends else None
            if end is not None and end <= start:
                continue
            for a, g in parts:
                total += piece.weight * self.p * a * (g * size).exp() * geometric(self.log_q + piece.slope + g, start, end)
        return total
