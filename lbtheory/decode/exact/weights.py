"""Integer weights for the discounts ``γ^h``, exact where 64 bits allow it and rounded down otherwise.

``I_h ≥ 0``, so weights ``w_h`` with ``w_h / scale ≤ γ^h`` give ``min Σ w_h I_h / scale ≤ min Σ γ^h I_h``: rounding down
lowers the bound by at least the rounding error and keeps it valid. The true objective is a multiple of ``1/denominator^H``,
so a bound may be raised to the next such multiple. Which of several assignments is best is settled exactly all the same: in a
compiled search by `rounding`, after CP-SAT by `lbtheory.decode.exact.near`.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from lbtheory.core import SizeOverflowError
from lbtheory.decode.exact.program import Program

MODEL_LIMIT = 2**60
"""Largest sum of |coefficient · value| in a model; CP-SAT works in signed 64 bits and needs room to add two of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights ``w_h ≈ scale γ^h``, never above it; ``exact`` when equal for every offset."""

    values: tuple[int, ...]
    scale: int
    exact: bool
    gamma: Fraction

    def value(self, imbalances: list[int]) -> int:
        """``Σ_h w_h I_h``."""
        return sum(w * i for w, i in zip(self.values, imbalances, strict=True))

    def true_value(self, imbalances: list[int]) -> Fraction:
        """``Σ_h γ^h I_h``, exact."""
        return sum((self.gamma**h * i for h, i in enumerate(imbalances)), Fraction(0))

    def true_bound(self, bound: int) -> Fraction:
        """Bound of ``Σ_h γ^h I_h`` from a bound of ``Σ_h w_h I_h``, raised to the grid of possible values."""
        step = self.gamma.denominator ** (len(self.values) - 1)
        return Fraction(ceil(Fraction(bound, self.scale) * step), step)


def magnitude(program: Program, h: int) -> int:
    """Bound of the sum of ``|coefficient · variable|`` that weight 1 on offset ``h`` puts in the objective.

    The objective holds ``G M_h − Σ_f x_f``, with ``M_h`` counted from its lower bound.
    """
    peaks = program.instance.workers * (program.most_peak(h) - program.least_peak(h))
    return 1 + peaks + sum(program.largest(slots) for slots in program.slots)


def integer_weights(program: Program, *, function: str) -> Weights:
    """Weights of the offsets ``0 … H``.

    Raises
    ------
    SizeOverflowError
        When not even weights of one unit fit 64 bits.
    """
    sums = [magnitude(program, h) for h in range(program.offsets)]
    return scaled_weights(program.instance.gamma, sums, function=function)


def scaled_weights(gamma: Fraction, sums: list[int], *, function: str) -> Weights:
    """Weights for offsets on which weight 1 puts at most ``sums`` in the objective.

    Raises
    ------
    SizeOverflowError
        When not even weights of one unit fit 64 bits.
    """
    horizon = len(sums) - 1
    scale = gamma.denominator**horizon
    values = tuple(gamma.numerator**h * gamma.denominator ** (horizon - h) for h in range(horizon + 1))
    if sum(v * m for v, m in zip(values, sums, strict=True)) <= MODEL_LIMIT:
        return Weights(values=values, scale=scale, exact=True, gamma=gamma)
    scale = floor(MODEL_LIMIT / sum((gamma**h * m for h, m in enumerate(sums)), Fraction(0)))
    if scale < 1:
        raise SizeOverflowError(
            f"`instance` of `{function}` must have an objective below {MODEL_LIMIT}; "
            f"the loads of {horizon + 1} offsets could sum to {sum(sums)}. Shorten the horizon or scale the sizes down."
        )
    values = tuple(floor(scale * gamma**h) for h in range(horizon + 1))
    return Weights(values=values, scale=scale, exact=False, gamma=gamma)


def kernel_weights(gamma: Fraction, sums: list[int]) -> Weights | None:
    """`scaled_weights` for a compiled search, None where not even weights of one unit fit."""
    try:
        return scaled_weights(gamma, sums, function="solve_io")
    except SizeOverflowError:
        return None


def rounding(weights: Weights, tops: list[int]) -> tuple[np.ndarray, int, int] | None:
    """What `lbtheory.decode.exact._limbs.no_less` needs to compare sums of ``0 ≤ x_h ≤ tops_h`` exactly; None past 64 bits."""
    offsets = len(weights.values)
    if weights.exact:
        return np.zeros((0, offsets), np.int64), 1, 0
    bits = 62 - (2 * sum(tops) + 1).bit_length()
    if bits < 1:
        return None
    above, below, horizon = weights.gamma.numerator, weights.gamma.denominator, offsets - 1
    exact = [above**h * below ** (horizon - h) for h in range(offsets)]
    many = -(-max(exact).bit_length() // bits)
    digits = [[(v >> (bits * k)) % 2**bits for v in exact] for k in range(many - 1, -1, -1)]
    lost = sum(((weights.scale * weights.gamma**h - w) * t for h, (w, t) in enumerate(zip(weights.values, tops, strict=True))))
    return np.array(digits, np.int64), bits, floor(lost) + 1
