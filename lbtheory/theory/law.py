"""Bounded prompt laws, exactly: integer weights on positive sizes, so that moments and probabilities are rational."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, readonly, whole_number

SUM_TOLERANCE = 1e-9
"""How far from one given probabilities may sum; within it they are divided by their sum."""


@dataclass(frozen=True, kw_only=True)
class PromptLaw:
    """The law ``F`` of a prompt size ``S`` on ``{1, …, s}`` (decode paper, section 6), ``P(S = sizes[i]) = weights[i]/total``.

    Made by `uniform`, `from_weights` or `from_probabilities`.

    Attributes
    ----------
    sizes : tuple of int, increasing, each ≥ 1
        Tokens.
    weights : tuple of int, each ≥ 1
        Relative frequencies.
    """

    sizes: tuple[int, ...]
    weights: tuple[int, ...]

    @cached_property
    def total(self) -> int:
        """Sum of the weights."""
        return sum(self.weights)

    @property
    def smallest(self) -> int:
        """Smallest size."""
        return self.sizes[0]

    @property
    def s(self) -> int:
        """Largest size, the paper's ``s``."""
        return self.sizes[-1]

    @cached_property
    def mean(self) -> Fraction:
        """``E S``, tokens."""
        return Fraction(sum(t * w for t, w in zip(self.sizes, self.weights, strict=True)), self.total)

    @cached_property
    def variance(self) -> Fraction:
        """``Var S``, tokens²."""
        square = Fraction(sum(t * t * w for t, w in zip(self.sizes, self.weights, strict=True)), self.total)
        return square - self.mean**2

    @cached_property
    def commonest(self) -> Fraction:
        """``max_t P(S = t)``."""
        return Fraction(max(self.weights), self.total)

    @cached_property
    def rarest(self) -> Fraction:
        """``min_t P(S = t)`` over ``t`` in ``{1, …, s}``: 0 where a size has no weight."""
        return Fraction(min(self.weights), self.total) if len(self.sizes) == self.s else Fraction(0)

    @property
    def constant(self) -> bool:
        """Whether one size has all the weight: then the paper's ``ρ`` is 0 and its theorem says nothing."""
        return len(self.sizes) == 1

    @cached_property
    def pmf(self) -> np.ndarray:
        """Probabilities of ``0, 1, …, s``, float64 array (s + 1,)."""
        values = np.zeros(self.s + 1)
        values[list(self.sizes)] = [w / self.total for w in self.weights]
        return readonly(values)

    @property
    def is_uniform(self) -> bool:
        """Whether every size of ``{1, …, s}`` has the same weight."""
        return len(self.sizes) == self.s and len(set(self.weights)) == 1


def uniform(high: int, low: int = 1) -> PromptLaw:
    """``U{low, …, high}``."""
    high = whole_number("high", "uniform", high, 1)
    low = whole_number("low", "uniform", low, 1)
    if low > high:
        raise ParameterError(f"`low` of `uniform` must be at most `high`; got {low} and {high}.")
    return PromptLaw(sizes=tuple(range(low, high + 1)), weights=(1,) * (high - low + 1))


def from_weights(sizes: Sequence[int] | np.ndarray, weights: Sequence[int] | np.ndarray) -> PromptLaw:
    """A law from whole-number weights (counts); sizes without weight are left out.

    Raises
    ------
    ParameterError
        Sizes that repeat or are below 1, negative weights, no weight at all, lengths that differ.
    """
    if len(sizes) != len(weights):
        raise ParameterError(f"`sizes` and `weights` of a law must have one length; got {len(sizes)} and {len(weights)}.")
    table: dict[int, int] = {}
    for i, (size, weight) in enumerate(zip(sizes, weights, strict=True)):
        size = whole_number(f"sizes[{i}]", "from_weights", size, 1)
        weight = whole_number(f"weights[{i}]", "from_weights", weight, 0)
        if size in table:
            raise ParameterError(f"`sizes` of a law must differ; got {size} again at index {i}. Add their weights.")
        table[size] = weight
    kept = sorted((size, weight) for size, weight in table.items() if weight)
    if not kept:
        raise ParameterError("a law must have a size with positive weight.")
    return PromptLaw(sizes=tuple(size for size, _ in kept), weights=tuple(weight for _, weight in kept))


def from_probabilities(table: Mapping[int, Any]) -> PromptLaw:
    """A law from probabilities: fractions exactly; doubles as the fractions that they are, divided by their sum.

    Raises
    ------
    ParameterError
        Probabilities that are negative, not finite, or do not sum to one within 1e-9.
    """
    exact: dict[int, Fraction] = {}
    for size, value in table.items():
        try:
            exact[size] = value if isinstance(value, Fraction) else Fraction(value)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(f"the probability of size {size} must be a finite number ≥ 0; got {value!r}.") from None
        if not isinstance(value, Real) or exact[size] < 0:
            raise ParameterError(f"the probability of size {size} must be a finite number ≥ 0; got {value!r}.")
    total = sum(exact.values())
    if abs(float(total) - 1) > SUM_TOLERANCE:
        raise ParameterError(f"the probabilities of a law must sum to 1; they sum to {float(total):.12g}.")
    denominator = math.lcm(*(value.denominator for value in exact.values()))
    return from_weights(list(exact), [int(value * denominator) for value in exact.values()])
