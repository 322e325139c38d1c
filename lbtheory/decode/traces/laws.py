"""Laws of prompt sizes and output lengths on the positive integers.

A prompt law is written ``uniform:LO:HI`` (or ``uniform:HI``), ``constant:N``, ``lognormal:MEAN:SIGMA:MAX``, ``pmf:FILE`` or
``empirical:FILE``; `parse_law` reads it. Outputs of the theory are `Geometric`. Means and variances are those of what is
sampled, after rounding and clipping.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Protocol

import numpy as np

from lbtheory.core import InputError, ParameterError, readonly
from lbtheory.decode.traces._pmf import read_pmf
from lbtheory.decode.traces.base import SIZE_LIMIT

FORMS = "uniform:LO:HI, uniform:HI, constant:N, lognormal:MEAN:SIGMA:MAX, pmf:FILE, empirical:FILE"
"""The legal forms of a law, for messages."""

SUPPORT_LIMIT = 10**7
"""Largest support that is written out as a table."""

Pmf = tuple[np.ndarray, np.ndarray]
"""Values, int64 array (k,) increasing, and their probabilities, float64 array (k,), sum 1."""


class Law(Protocol):
    """A law on the positive integers."""

    @property
    def mean(self) -> float:
        """Mean, tokens."""

    @property
    def variance(self) -> float:
        """Variance, tokens²."""

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` independent draws, int64 array (n,)."""

    def pmf(self) -> Pmf:
        """Values and probabilities; raises `ParameterError` where the support is not finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniform:
    """Uniform on ``{low, …, high}``."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high < SIZE_LIMIT:
            raise ParameterError(f"`uniform` must have 1 ≤ LO ≤ HI < {SIZE_LIMIT}; got {self.low} and {self.high}.")

    @property
    def mean(self) -> float:
        """``(low + high) / 2``."""
        return (self.low + self.high) / 2

    @property
    def variance(self) -> float:
        """``(k² − 1) / 12`` with ``k`` values."""
        return ((self.high - self.low + 1) ** 2 - 1) / 12

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` independent draws."""
        return rng.integers(self.low, self.high, size=n, endpoint=True, dtype=np.int64)

    def pmf(self) -> Pmf:
        """Equal probabilities."""
        size = self.high - self.low + 1
        if size > SUPPORT_LIMIT:
            raise ParameterError(
                f"`uniform` has {size} values, more than a table holds ({SUPPORT_LIMIT}). Use a smaller range."
            )
        return np.arange(self.low, self.high + 1, dtype=np.int64), np.full(size, 1 / size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """Always ``value``."""

    value: int

    def __post_init__(self) -> None:
        if not 1 <= self.value < SIZE_LIMIT:
            raise ParameterError(f"`constant` must have 1 ≤ N < {SIZE_LIMIT}; got {self.value}.")

    @property
    def mean(self) -> float:
        """``value``."""
        return float(self.value)

    @property
    def variance(self) -> float:
        """0."""
        return 0.0

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` equal values."""
        return np.full(n, self.value, dtype=np.int64)

    def pmf(self) -> Pmf:
        """One value."""
        return np.array([self.value], dtype=np.int64), np.ones(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lognormal:
    """Lognormal, rounded to whole tokens and clipped into ``{1, …, maximum}``.

    Attributes
    ----------
    unclipped_mean : float
        Mean of the lognormal before rounding and clipping (the MEAN of the specification); `mean` is the mean after.
    sigma : float
        Standard deviation of the logarithm, > 0.
    maximum : int
        What is above becomes ``maximum`` (clipping, not truncation: no draw is repeated).
    """

    unclipped_mean: float
    sigma: float
    maximum: int

    def __post_init__(self) -> None:
        if not (
            math.isfinite(self.unclipped_mean) and self.unclipped_mean > 0 and math.isfinite(self.sigma) and self.sigma > 0
        ):
            raise ParameterError(
                f"`lognormal` must have positive finite MEAN and SIGMA; got {self.unclipped_mean} and {self.sigma}. "
                "SIGMA is the standard deviation of the logarithm; use constant:N for no spread."
            )
        if not 1 <= self.maximum <= SUPPORT_LIMIT:
            raise ParameterError(f"`lognormal` must have 1 ≤ MAX ≤ {SUPPORT_LIMIT}; got {self.maximum}.")

    @property
    def mu(self) -> float:
        """Mean of the logarithm, ``log MEAN − SIGMA² / 2``."""
        return math.log(self.unclipped_mean) - self.sigma**2 / 2

    @property
    def mean(self) -> float:
        """Mean of the rounded, clipped law."""
        return _moments(self.pmf())[0]

    @property
    def variance(self) -> float:
        """Variance of the rounded, clipped law."""
        return _moments(self.pmf())[1]

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` independent draws."""
        with np.errstate(over="ignore"):
            draws = np.exp(self.mu + self.sigma * rng.standard_normal(n))
        return np.clip(np.rint(draws), 1, self.maximum).astype(np.int64)

    def pmf(self) -> Pmf:
        """Probabilities of the intervals that round to each value; the ends take what is clipped."""
        from scipy.special import ndtr

        edges = np.arange(1, self.maximum, dtype=np.float64) + 0.5
        below = ndtr((np.log(edges) - self.mu) / self.sigma)
        return np.arange(1, self.maximum + 1, dtype=np.int64), np.diff(below, prepend=0.0, append=1.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """A finite law given by its probabilities (``pmf:FILE``).

    Attributes
    ----------
    values : int64 array (k,), increasing, each ≥ 1
    probabilities : float64 array (k,), sum 1
    """

    values: np.ndarray
    probabilities: np.ndarray

    @property
    def mean(self) -> float:
        """Mean."""
        return _moments(self.pmf())[0]

    @property
    def variance(self) -> float:
        """Variance."""
        return _moments(self.pmf())[1]

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` independent draws."""
        return rng.choice(self.values, size=n, p=self.probabilities)

    def pmf(self) -> Pmf:
        """The table."""
        return self.values, self.probabilities


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Empirical:
    """Draws with replacement from recorded sizes (``empirical:FILE``: the prompt sizes of a trace file).

    Attributes
    ----------
    sizes : int64 array (m,)
    """

    sizes: np.ndarray

    @property
    def mean(self) -> float:
        """Mean of the sizes."""
        return float(self.sizes.mean())

    @property
    def variance(self) -> float:
        """Variance of the sizes (divided by m)."""
        return float(self.sizes.var())

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` independent draws."""
        return np.asarray(self.sizes[rng.integers(0, len(self.sizes), size=n)])

    def pmf(self) -> Pmf:
        """Relative frequencies."""
        values, counts = np.unique(self.sizes, return_counts=True)
        return values, counts / len(self.sizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometric:
    """Geometric on ``{1, 2, …}``: ``P(O = k) = p (1 − p)^(k−1)`` (decode paper, the outputs of its theorem).

    Attributes
    ----------
    p : Fraction or float
        Probability of completion in a step, in (0, 1); a fraction is kept exactly.
    """

    p: Fraction | float

    def __post_init__(self) -> None:
        if not 0 < self.p < 1:
            raise ParameterError(f"`p` of `Geometric` must be in (0, 1); got {self.p}.")

    @property
    def mean(self) -> float:
        """``1 / p``."""
        return float(1 / self.p)

    @property
    def variance(self) -> float:
        """``(1 − p) / p²``."""
        return float((1 - self.p) / self.p**2)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` independent draws."""
        return rng.geometric(float(self.p), size=n).astype(np.int64)

    def pmf(self) -> Pmf:
        """Not finite: raises `ParameterError`."""
        raise ParameterError("`pmf` of `Geometric` is not a finite table. Use `p`, `mean` and `variance`.")


def rational_probability(text: str | Fraction | float) -> Fraction:
    """A probability in (0, 1) as an exact fraction: ``"1/4"``, ``"0.25"`` and ``0.25`` are all 1/4.

    Raises
    ------
    ParameterError
    """
    try:
        value = text if isinstance(text, Fraction) else Fraction(_short(str(text)))
    except (ValueError, ZeroDivisionError):
        raise ParameterError(f"`p` must be a number or a fraction such as 1/4 or 0.25; got {str(text)[:40]!r}.") from None
    if not 0 < value < 1:
        raise ParameterError(f"`p` must be greater than 0 and less than 1; got {text}.")
    return value


def probability(text: str | Fraction | float) -> float:
    """`rational_probability` as the nearest double."""
    value = float(rational_probability(text))
    if not 0 < value < 1:
        raise ParameterError(f"`p` must differ from 0 and 1 as a double too; got {text}.")
    return value


def parse_law(spec: str) -> Law:
    """Read a law from its specification.

    Raises
    ------
    ParameterError
        When there is no law of that name, or an argument is missing, superfluous or out of range; names the legal forms.
    FileFormatError
        When a file cannot be read.
    """
    name, _, rest = spec.strip().partition(":")
    name = name.strip().lower()
    try:
        if name not in _READERS:
            near = get_close_matches(name, _READERS, n=1, cutoff=0.4)
            raise ValueError(f"there is no law {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        return _READERS[name](rest.strip())
    except ParameterError as error:
        raise ParameterError(f"{error} In the law {spec!r}; legal forms: {FORMS}.") from None
    except InputError:
        raise
    except (ValueError, OverflowError) as error:
        raise ParameterError(f"a law must have one of the forms {FORMS}; got {spec!r} ({error}).") from None


def _uniform(rest: str) -> Law:
    ends = [_integer(part) for part in rest.split(":")]
    if len(ends) > 2:
        raise ValueError("uniform takes one or two numbers")
    return Uniform(low=ends[0] if len(ends) == 2 else 1, high=ends[-1])


def _constant(rest: str) -> Law:
    return Constant(value=_integer(rest))


def _lognormal(rest: str) -> Law:
    parts = rest.split(":")
    if len(parts) != 3:
        raise ValueError("lognormal takes three numbers")
    return Lognormal(unclipped_mean=float(parts[0]), sigma=float(parts[1]), maximum=_integer(parts[2]))


def _pmf(rest: str) -> Law:
    values, probabilities = read_pmf(_file(rest))
    return Table(values=readonly(values), probabilities=readonly(probabilities))


def _empirical(rest: str) -> Law:
    from lbtheory.decode.traces.detect import read_trace

    return Empirical(sizes=read_trace(_file(rest), zero_outputs="drop").prompts)


_READERS: dict[str, Callable[[str], Law]] = {
    "uniform": _uniform,
    "constant": _constant,
    "lognormal": _lognormal,
    "pmf": _pmf,
    "empirical": _empirical,
}


def _integer(text: str) -> int:
    if not re.fullmatch(r"\s*\d{1,20}\s*", text, re.ASCII):
        raise ValueError(f"{text[:40]!r} is not a whole number ≥ 1")
    return int(text)


def _short(text: str) -> str:
    """The text of a number, unless its exponent is so long that an exact fraction would fill the memory."""
    if len(text) > 60 or re.search(r"[eE][+-]?\d{4}", text):
        raise ValueError("too long")
    return text.strip()


def _file(rest: str) -> Path:
    if not rest:
        raise ValueError("the file is missing")
    return Path(rest)


def _moments(pmf: Pmf) -> tuple[float, float]:
    """Mean and variance of a table."""
    values, probabilities = pmf
    mean = float(values @ probabilities)
    return mean, float((values - mean) ** 2 @ probabilities)
