"""What a service-rate family is: the rate of a whole cell as a function of the requests in flight there (DLB paper, section 2).

``μ: [0, ∞) → [0, ∞)``, ``μ(0) = 0``, ``μ̄ = sup μ`` requests per second. With ``N`` requests in flight: latency
``ℓ(N) = N/μ(N)``, marginal cost ``1/μ'(N)``. Everything is vectorised over ``N`` (or ``z``, an inflow below ``μ̄``) and
stays exact to rounding at extremes: near ``z = μ̄`` and for ``N`` from 1e-300 to 1e300. A value beyond the range of doubles is
rounded as IEEE arithmetic does it, to infinity or 0. Near ``μ̄`` a formula uses ``μ̄ − z``, which is exact, so ``μ̄`` is the
double `capacity_limit`.

A cost is ``f`` with ``f(N) = N/k`` (RIF), ``ℓ(N)`` (latency) or ``1/μ'(N)`` (gradient); its potential is
``p(z) = ∫_0^z f(μ⁻¹(s)) ds`` (program 12), so that ``p' = f ∘ μ⁻¹``; for the gradient cost ``p = μ⁻¹``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from math import inf, isfinite
from typing import Any, ClassVar

import numpy as np

from lbtheory.core import ParameterError, UnknownNameError

Array = np.ndarray

COSTS = ("rif", "latency", "gradient")
"""The three costs of the paper, as files and commands name them."""


def check_cost(cost: str) -> str:
    """``cost`` itself; raises `UnknownNameError` unless it is one of `COSTS`."""
    if cost not in COSTS:
        raise UnknownNameError("cost", str(cost), COSTS)
    return cost


def of_requests(method: Callable[[Any, Array], Array]) -> Callable[[Any, Array | float], Array]:
    """Let a method of ``N`` take anything array-like; raises `ParameterError` unless every ``N`` is finite and ≥ 0."""

    @wraps(method)
    def checked(self: Any, n: Array | float) -> Array:
        values = np.asarray(n, dtype=float)
        if not np.all((values >= 0) & (values < inf)):
            raise ParameterError(f"`n` of `{self.family}.{method.__name__}` must be finite and ≥ 0, requests; got {n!r}.")
        with np.errstate(all="ignore"):
            return np.asarray(method(self, values))

    return checked


def of_inflow(method: Callable[[Any, Array], Array]) -> Callable[[Any, Array | float], Array]:
    """Let a method of ``z`` take anything array-like, with the value infinity above ``μ̄``.

    The method itself sees only ``0 ≤ z ≤ μ̄``. Raises `ParameterError` unless every ``z`` is ≥ 0.
    """

    @wraps(method)
    def checked(self: Any, z: Array | float) -> Array:
        values = np.asarray(z, dtype=float)
        if not np.all(values >= 0):
            raise ParameterError(f"`z` of `{self.family}.{method.__name__}` must be ≥ 0, requests per second; got {z!r}.")
        inside = values <= self.capacity_limit
        with np.errstate(all="ignore"):
            return np.where(inside, method(self, np.where(inside, values, 0.0)), inf)

    return checked


@dataclass(frozen=True, slots=True, kw_only=True)
class RateShape:
    """Whether a rate meets Assumption 1: continuous, ``μ(0) = 0``, strictly increasing, bounded.

    Attributes
    ----------
    holds : bool
    why : str
    witness : (float, float) or None
        ``(N, Δ)`` with ``μ(N + Δ) ≤ μ(N)``, ``Δ > 0``, where it fails.
    """

    holds: bool
    why: str
    witness: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostShape:
    """What Assumption 3 and the thresholds of Theorem 1 need to know of a cost function ``f`` of a rate.

    Attributes
    ----------
    increasing : bool
        ``f`` is finite, continuous and strictly increasing on ``[0, ∞)``.
    unbounded : bool
        ``f(N) → ∞`` (first tail fact).
    growth : float
        ``lim f'(N)/f(N)`` (second tail fact): ``f(N + Δ)/f(N) → exp(growth Δ)``, so ``f`` varies slowly iff it is 0; NaN where
        ``f`` is not positive and finite in the tail.
    log_concave_from : float or None
        Least ``N`` known such that ``log f`` is concave on ``[N, ∞)``; None where no closed form is known.
    why : str
    witness : (float, float) or None
        ``(N, Δ)``, ``Δ > 0``: with ``f(N + Δ) ≤ f(N)`` where ``f`` is not increasing; else, where growth is positive, a place
        where ``f(N + Δ)/f(N)`` is near its limit.
    """

    increasing: bool
    unbounded: bool
    growth: float
    log_concave_from: float | None
    why: str
    witness: tuple[float, float] | None = None

    @property
    def holds(self) -> bool:
        """Whether ``f`` meets Assumption 3."""
        return self.increasing and self.unbounded and self.growth == 0


class RateFamily(ABC):
    """A service rate. Subclasses are frozen dataclasses whose fields are the parameters; they check themselves.

    Methods take and return float arrays of one shape (or floats, as arrays of shape ``()``).
    """

    __slots__ = ()

    family: ClassVar[str]
    """Name in files, for example ``mm1``."""

    def __post_init__(self) -> None:
        """Check a family whose parameters are all positive numbers; the others have their own."""
        self._check_positive()
        if not 0 < self.capacity_limit < inf:
            raise ParameterError(
                f"the parameters of `{self.family}` must give a capacity that a double can hold; got {self.parameters()}. "
                "Change the unit of time."
            )

    @property
    @abstractmethod
    def capacity_limit(self) -> float:
        """``μ̄ = sup μ``, requests per second."""

    @abstractmethod
    def rate(self, n: Array | float) -> Array:
        """``μ(N)``, requests per second."""

    @abstractmethod
    def inverse(self, z: Array | float) -> Array:
        """``μ⁻¹(z)``: least ``N ≥ 0`` with ``μ(N) = z``; infinite where there is none, in general at ``z = μ̄``."""

    @abstractmethod
    def slope(self, n: Array | float) -> Array:
        """``μ'(N)``."""

    @abstractmethod
    def latency(self, n: Array | float) -> Array:
        """``ℓ(N) = N/μ(N)``, seconds, with its limit at 0."""

    @abstractmethod
    def latency_slope(self, n: Array | float) -> Array:
        """``ℓ'(N)``."""

    @abstractmethod
    def marginal(self, n: Array | float) -> Array:
        """``1/μ'(N)``, seconds."""

    @abstractmethod
    def marginal_slope(self, n: Array | float) -> Array:
        """``(1/μ')'(N)``."""

    def latency_curvature(self, n: Array | float) -> Array:
        """``dℓ/dz = ℓ'(N)/μ'(N)`` at ``z = μ(N)``: ``p''`` of the latency cost."""
        with np.errstate(all="ignore"):
            return np.asarray(self.latency_slope(n) * self.marginal(n))

    def marginal_curvature(self, n: Array | float) -> Array:
        """``d²N/dz² = (1/μ')'(N)/μ'(N)`` at ``z = μ(N)``: ``p''`` of the gradient cost."""
        with np.errstate(all="ignore"):
            return np.asarray(self.marginal_slope(n) * self.marginal(n))

    @abstractmethod
    def integral_of_inverse(self, z: Array | float) -> Array:
        """``∫_0^z μ⁻¹(s) ds``: the RIF potential times ``k``; infinite above ``μ̄``."""

    @abstractmethod
    def integral_of_latency(self, z: Array | float) -> Array:
        """``∫_0^z ℓ(μ⁻¹(s)) ds = ∫_0^z μ⁻¹(s)/s ds``: Beckmann's potential; infinite above ``μ̄``."""

    def conic(self, cost: str, z: Any) -> Any:
        """The potential of a cost (RIF: times ``k``) as a convex CVXPY expression of the expression ``z``, on ``0 ≤ z ≤ μ̄``.

        None where no conic form is known: use the tangents ``p(s) + f(μ⁻¹(s)) (z − s)`` as cuts.
        """
        check_cost(cost)
        return None

    @abstractmethod
    def rate_shape(self) -> RateShape:
        """Assumption 1 for this rate."""

    def cost_shape(self, cost: str) -> CostShape:
        """Facts of a cost of this rate; see `CostShape`."""
        if check_cost(cost) == "rif":
            return CostShape(
                increasing=True, unbounded=True, growth=0.0, log_concave_from=0.0, why="f(N) = N/k is linear and log N concave."
            )
        return self._latency_shape() if cost == "latency" else self._marginal_shape()

    @abstractmethod
    def _latency_shape(self) -> CostShape:
        """Facts of ``ℓ``."""

    @abstractmethod
    def _marginal_shape(self) -> CostShape:
        """Facts of ``1/μ'``."""

    def parameters(self) -> dict[str, Any]:
        """Fields as a file gives them, with ``family``; those that are None are left out."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"family": self.family, **{name: value for name, value in values.items() if value is not None}}

    def _check_positive(self) -> None:
        """Make every field a float; raises `ParameterError` unless each is positive and finite."""
        for field in fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, field.name, positive(self.family, field.name, getattr(self, field.name)))


def positive(family: str, name: str, value: Any) -> float:
    """``value`` as a float; raises `ParameterError` unless it is a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ParameterError(f"`{name}` of `{family}` must be a positive number; got {value!r}.")
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if not (isfinite(number) and number > 0):
        raise ParameterError(f"`{name}` of `{family}` must be positive and finite; got {value!r}.")
    return number
