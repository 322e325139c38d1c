"""Values with shares, ``VALUE:SHARE,…``: tenants by weight, and outputs whose completion probability differs by class."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np

from lbtheory.core import ParameterError
from lbtheory.decode.traces.laws import Geometric, probability, rational_probability

Value = TypeVar("Value")
WEIGHT_LIMIT = 10**6


def parse_shares(text: str, name: str, read: Callable[[str], Value]) -> tuple[tuple[Value, ...], tuple[Fraction, ...]]:
    """Values and their shares from ``VALUE:SHARE,VALUE:SHARE``; without shares all are equal.

    Raises
    ------
    ParameterError
        Some have a share and others none, a share is not positive, or they do not sum to 1.
    """
    parts = [part.partition(":") for part in text.split(",")]
    values = tuple(read(value.strip()) for value, _, _ in parts)
    given = [share.strip() for _, colon, share in parts if colon]
    if not given:
        return values, (Fraction(1, len(parts)),) * len(parts)
    try:
        shares = tuple(Fraction(share) for share in given)
    except (ValueError, ZeroDivisionError):
        shares = ()
    if len(shares) != len(parts) or min(shares) <= 0 or sum(shares) != 1:
        raise ParameterError(
            f"`{name}` must be VALUE:SHARE,… with positive shares that sum to 1, or values alone for equal shares; "
            f"got {text!r}."
        )
    return values, shares


def draw_classes(shares: tuple[Fraction, ...], n: int, rng: np.random.Generator) -> np.ndarray:
    """The class of each of ``n`` requests, independent with these shares; int64 array (n,)."""
    return rng.choice(len(shares), size=n, p=[float(s) for s in shares]).astype(np.int64)


def parse_tenants(text: str) -> tuple[tuple[int, ...], tuple[Fraction, ...]]:
    """Weights (whole numbers from 1) and shares of tenants, for example ``1:0.8,4:0.2``."""

    def weight(value: str) -> int:
        if not (value.isascii() and value.isdecimal() and 1 <= int(value) <= WEIGHT_LIMIT):
            raise ParameterError(f"a weight of `tenants` must be a whole number from 1 to {WEIGHT_LIMIT}; got {value!r}.")
        return int(value)

    return parse_shares(text, "tenants", weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricMixture:
    """Outputs of classes with different completion hazards: ``P(O = k) = Σ_j w_j p_j (1 − p_j)^(k−1)``.

    The hazard of a request that is still running falls with its age, since those of high hazard leave first; the decode paper's
    theorem needs it constant (one class).

    Attributes
    ----------
    hazards : tuple of Fraction
        ``p_j`` in (0, 1).
    shares : tuple of Fraction
        ``w_j``, sum 1.
    """

    hazards: tuple[Fraction, ...]
    shares: tuple[Fraction, ...]

    @property
    def mean(self) -> float:
        """``Σ w_j / p_j``."""
        return float(sum(w / p for w, p in zip(self.shares, self.hazards, strict=True)))

    @property
    def variance(self) -> float:
        """``Σ w_j (2 − p_j) / p_j² − mean²``."""
        return self.second_moment - self.mean**2

    @property
    def second_moment(self) -> float:
        """``E O² = Σ w_j (2 − p_j) / p_j²``."""
        return float(sum(w * (2 - p) / p**2 for w, p in zip(self.shares, self.hazards, strict=True)))

    def completions(self, steps: int, slots: int) -> int:
        """A number that the completions of ``slots`` full slots in ``steps`` iterations stay below but for chance of 1e-20.

        Renewals of a slot number at most ``steps/μ + E O²/μ²`` in the mean (Lorden's inequality) with variance about
        ``steps σ²/μ³``; ten standard deviations are added.
        """
        mean, square = self.mean, self.second_moment
        spread = slots * (steps * max(self.variance, mean) / mean**3 + square / mean**2)
        return int(np.ceil(slots * (steps / mean + square / mean**2) + 10 * np.sqrt(spread) + 10))

    def sample(self, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Outputs of requests of these classes, independent, int64 array of the same length."""
        return rng.geometric(np.array([float(p) for p in self.hazards])[classes]).astype(np.int64)


def parse_hazards(text: str) -> Geometric | GeometricMixture:
    """``P`` for geometric outputs, or ``P:SHARE,P:SHARE,…`` for a mixture of classes."""

    def hazard(value: str) -> Fraction:
        probability(value)  # must differ from 0 and 1 as a double too
        return rational_probability(value)

    if "," not in text and ":" not in text:
        return Geometric(p=hazard(text))
    hazards, shares = parse_shares(text, "p", hazard)
    return GeometricMixture(hazards=hazards, shares=shares)
