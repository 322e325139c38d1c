"""The numbers that formulas are evaluated in: doubles, any number of digits (mpmath), or balls that enclose (Arb).

Every formula of the theorem is written once over an `Arithmetic`. Its inputs are exact fractions.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lbtheory.core import ParameterError, whole_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Arithmetic:
    """A kind of real number and its functions.

    Attributes
    ----------
    name : str
    number : callable
        The number nearest to (or the ball around) a fraction.
    exp, expm1, log, log1p, sqrt : callable
    minimum : callable
        Smaller of two numbers.
    """

    name: str
    number: Callable[[Fraction | int], Any]
    exp: Callable[[Any], Any]
    expm1: Callable[[Any], Any]
    log: Callable[[Any], Any]
    log1p: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    minimum: Callable[[Any, Any], Any]


DOUBLE = Arithmetic(
    name="double",
    number=float,
    exp=math.exp,
    expm1=math.expm1,
    log=math.log,
    log1p=math.log1p,
    sqrt=math.sqrt,
    minimum=min,
)
"""IEEE doubles."""


def digits(count: int) -> Arithmetic:
    """``count`` decimal digits, with a context of its own (the caller's precision is not touched).

    Raises
    ------
    ParameterError
    """
    import mpmath

    context = mpmath.MPContext()
    context.dps = whole_number("count", "digits", count, 5)
    return Arithmetic(
        name=f"{count} digits",
        number=lambda value: context.mpf(Fraction(value).numerator) / Fraction(value).denominator,
        exp=context.exp,
        expm1=context.expm1,
        log=context.log,
        log1p=context.log1p,
        sqrt=context.sqrt,
        minimum=min,
    )


@contextmanager
def balls(bits: int = 128) -> Iterator[Arithmetic]:
    """Arb balls of ``bits`` binary digits: every result encloses the true value. Use it as ``with balls() as arithmetic``.

    Raises
    ------
    ParameterError
    """
    import flint

    before = flint.ctx.prec
    flint.ctx.prec = whole_number("bits", "balls", bits, 24)
    try:
        yield Arithmetic(
            name=f"balls of {bits} bits",
            number=ball,
            exp=flint.arb.exp,
            expm1=flint.arb.expm1,
            log=flint.arb.log,
            log1p=flint.arb.log1p,
            sqrt=flint.arb.sqrt,
            minimum=flint.arb.min,
        )
    finally:
        flint.ctx.prec = before


def ball(value: Fraction | int) -> Any:
    """The Arb ball around a fraction at the current precision."""
    import flint

    exact = Fraction(value)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def probability(p: Fraction | float, function: str) -> Fraction:
    """``p`` as the exact fraction that it is.

    Raises
    ------
    ParameterError
        Unless ``0 < p < 1``.
    """
    try:
        exact = Fraction(p)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"`p` of `{function}` must be a number greater than 0 and less than 1; got {p!r}.") from None
    if not 0 < exact < 1:
        raise ParameterError(f"`p` of `{function}` must be greater than 0 and less than 1; got {p}.")
    return exact
