"""Systems from what a user writes: the trace package's laws as the theory's exact ones."""

from fractions import Fraction

import numpy as np

from lbtheory.core import ParameterError
from lbtheory.decode.traces.laws import Constant, Empirical, Law, Uniform, parse_law, rational_probability
from lbtheory.theory import PromptLaw, from_probabilities, from_weights, uniform
from lbtheory.theory.theorem1 import System, system

SIZE_LIMIT = 10**6
"""Largest prompt of a system: exact laws are tables."""


def prompt_law(law: Law) -> PromptLaw:
    """A law of the trace package as a `PromptLaw`: uniform and recorded ones exactly, others as the doubles that they are.

    Raises
    ------
    ParameterError
        Prompts above `SIZE_LIMIT`, or a law without a finite table.
    """
    if isinstance(law, Uniform | Constant):
        low, high = (law.low, law.high) if isinstance(law, Uniform) else (law.value, law.value)
        _check_size(high)
        return uniform(high, low)
    if isinstance(law, Empirical):
        values, counts = np.unique(law.sizes, return_counts=True)
        _check_size(int(values[-1]))
        return from_weights(values.tolist(), counts.tolist())
    values, probabilities = law.pmf()
    _check_size(int(values[-1]))
    return from_probabilities({int(t): float(w) for t, w in zip(values, probabilities, strict=True) if w > 0})


def parse_system(p: str | Fraction | float, prompts: str, workers: int, slots: int) -> System:
    """A system from ``p`` (``1/4`` or ``0.25``) and a law such as ``uniform:100``.

    Raises
    ------
    ParameterError, FileFormatError
    """
    return system(rational_probability(p), prompt_law(parse_law(prompts)), workers, slots)


def _check_size(largest: int) -> None:
    if largest > SIZE_LIMIT:
        raise ParameterError(f"prompts of an exact law must be at most {SIZE_LIMIT} tokens; got {largest}. Cap the law.")
