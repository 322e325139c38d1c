"""The exact benchmark: the stationary law of a worker's load under size-blind FCFS routing at saturation (section 6.4.1, ours).

A slot holds ``U = S + A_*``, independently of all other slots, whatever the destination rule, as long as it sees no sizes
(section 6.3, "slot law"). So a worker's load is ``L = Σ_{b ≤ B} U_b``, workers are independent, and::

    Ī = G (E max_g L_g − B E U),   E max = c + Σ_{x ≥ c} (1 − P(L ≤ x)^G) − Σ_{x < c} P(L ≤ x)^G

is a number. The paper bounds it from below by ``(Gσ/1024) sqrt(B log G)``; the true factor before ``G σ sqrt(B log G)`` is
about 1 and drifts slowly to ``√2`` as ``B``, then ``G``, grow.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import expm1, isfinite, log, log1p, sqrt

import numpy as np

from lbtheory.core import ParameterError, whole_number
from lbtheory.theory._convolve import UNIT, Atoms, Geometric, Window, law_of_sum
from lbtheory.theory.arithmetic import probability
from lbtheory.theory.law import PromptLaw

ROUNDING = 1e-14
"""Relative error allowed for the evaluation of the sums over the window."""
USELESS = 1e-6
"""A relative error above this is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadLaw:
    """The law of one worker's load ``L``; workers are independent with this law. Made by `benchmark_law` or `blocks.block_law`.

    Attributes
    ----------
    slots : int
        ``B``.
    mean, variance : Fraction or float
        Of ``L``, tokens and tokens².
    window : Window
        Probabilities and their error.
    """

    slots: int
    mean: Fraction | float
    variance: Fraction | float
    window: Window

    @property
    def offset(self) -> int:
        """The load, in tokens, to which ``pmf[0]`` belongs."""
        return self.window.offset

    @property
    def pmf(self) -> np.ndarray:
        """``P(L = offset + i)``."""
        return self.window.pmf

    @property
    def deviation(self) -> float:
        """Standard deviation, ``σ sqrt(B)`` for the benchmark, tokens."""
        return sqrt(self.variance)

    def cdf(self, x: int | np.ndarray) -> np.ndarray:
        """``P(L ≤ x)``; 0 below the window, 1 beyond it."""
        return self._tails(x, upper=False)

    def survival(self, x: int | np.ndarray) -> np.ndarray:
        """``P(L > x)``, with relative precision in the upper tail; 0 beyond the window, 1 below it."""
        return self._tails(x, upper=True)

    def _tails(self, x: int | np.ndarray, *, upper: bool) -> np.ndarray:
        place = np.asarray(x)
        if not np.issubdtype(place.dtype, np.integer):
            raise ParameterError(f"`x` of a load law must be whole numbers of tokens; got {x!r}. Round it down.")
        window = self.window
        known = np.concatenate([[0.0], window.lower, window.upper, [0.0]])
        index = np.clip(place - window.offset, -1, len(window.pmf)) + 1
        below = index <= len(window.lower)
        return np.where(below == upper, 1 - known[index], known[index])

    def quantile(self, prob: float, workers: int = 1) -> int:
        """Smallest ``x`` with ``P(max of G loads ≤ x) ≥ prob``, tokens (its neighbour where they tie within the error).

        Raises
        ------
        ParameterError
            ``prob`` outside (0, 1), or so near to an end that the window does not reach.
        """
        workers = whole_number("workers", "quantile", workers, 1)
        if not (isinstance(prob, int | float | Fraction | np.floating) and 0 < prob < 1):
            raise ParameterError(f"`prob` of `quantile` must be greater than 0 and less than 1; got {prob!r}.")
        window = self.window
        exponent = log(float(prob)) / workers
        beyond, within = -expm1(exponent), float(np.exp(exponent))
        if beyond <= 2 * window.upper_error[1] or within <= 2 * window.lower_error[1]:
            raise ParameterError(
                f"`prob` of `quantile` must be further from 0 and 1; got {prob} at {workers} workers: the window ends before."
            )
        if len(window.lower) and within <= window.lower[-1]:
            return window.offset + int(np.searchsorted(window.lower, within))
        return window.centre + int(np.searchsorted(-window.upper, -beyond))

    def central_moment(self, order: int) -> float:
        """``E (L − E L)^order``, tokens^order, summed over the window; odd orders lose what cancels."""
        order = whole_number("order", "central_moment", order, 0)
        distance = np.arange(self.offset, self.window.last + 1) - float(self.mean)
        return float(np.sum(self.pmf * distance**order))

    def expected_maximum(self, workers: int) -> float:
        """``E max_{g ≤ G} L_g``, tokens."""
        return float(self.mean) + self._excess(whole_number("workers", "expected_maximum", workers, 1))[0]

    def imbalance(self, workers: int) -> tuple[float, float]:
        """``Ī = G (E max L − E L)``, tokens, and a bound of its error.

        Raises
        ------
        ParameterError
            So many workers that the window does not tell the value to a relative 1e-6.
        """
        workers = whole_number("workers", "imbalance", workers, 1)
        excess, error = self._excess(workers)
        return workers * excess, workers * error

    def idle_fraction(self, workers: int) -> float:
        """Mean share of the token work in which workers wait, as a ratio of means: ``Ī / (G E M)``."""
        workers = whole_number("workers", "idle_fraction", workers, 1)
        excess = self._excess(workers)[0]
        return excess / (float(self.mean) + excess)

    def normalised(self, workers: int) -> float:
        """``Ī / (G σ sqrt(B log G))``, ``σ² B`` the variance of ``L``: about 1; ``→ √2`` as ``B → ∞``, then ``G → ∞``.

        Raises
        ------
        ParameterError
            ``G = 1``, where it is 0/0.
        """
        workers = whole_number("workers", "normalised", workers, 1)
        if workers == 1:
            raise ParameterError(
                "`workers` of `normalised` must be at least 2; got 1. One worker has no imbalance and log 1 = 0."
            )
        return self._excess(workers)[0] / (self.deviation * sqrt(log(workers)))

    def _excess(self, workers: int) -> tuple[float, float]:
        """``E max − E L`` and a bound of its error.

        ``1 − (1 − t)^G`` is concave in ``t``, 0 at 0, and of slope at most ``G``; ``F^G`` at ``F ≤ ½`` is of slope at most
        ``G 2^{1−G} ≤ 1``. So errors of the tails carry over term by term; the mass beyond the window adds at most
        ``G E (L − last)⁺ + E (offset − L)⁺``.
        """
        if workers == 1:
            return 0.0, 0.0
        window = self.window
        above = float(np.sum(-np.expm1(workers * np.log1p(-window.upper))))
        below = float(np.sum(window.lower**workers))
        excess = float(window.centre - self.mean) + above - below
        spread = workers * log1p(window.lower_error[0])
        error = (
            window.upper_error[0] * above
            + (expm1(spread) if spread < 700 else np.inf) * below
            + workers * window.upper_error[1] * len(window.upper)
            + 2 * window.lower_error[1] * len(window.lower)
            + (workers + 1) * window.cut_sum
            + ROUNDING * (above + below + self.deviation)
            + 4 * UNIT * float(self.mean)
        )
        if not (isfinite(error) and error <= USELESS * excess):
            raise ParameterError(
                f"`workers` must be so few that the window tells the imbalance; got {workers}: {excess:.6g} ± {error:.1g} "
                "tokens a worker. Take fewer workers or fewer slots."
            )
        return excess, float(error)


def benchmark_law(p: Fraction | float, law: PromptLaw, slots: int) -> LoadLaw:
    """Stationary load of a worker of ``B`` slots under any size-blind FCFS rule at saturation (ours; exact).

    Parameters
    ----------
    p : Fraction or float
        ``O ~ Geo(p)``.
    law : PromptLaw
        Law of the prompt size ``S``.
    slots : int
        ``B``.

    Returns
    -------
    LoadLaw
        Law of ``Σ_{b ≤ B} (S_b + A_b)``, ``P(A = a) = p q^a``, with bounds of its error.

    Raises
    ------
    ParameterError
        Parameters out of range, or so extreme that the law needs more than 2^27 points.
    """
    exact = probability(p, "benchmark_law")
    slots = whole_number("slots", "benchmark_law", slots, 1)
    q = 1 - exact
    return LoadLaw(
        slots=slots,
        mean=slots * (law.mean + q / exact),
        variance=slots * (law.variance + q / exact**2),
        window=law_of_sum([(atoms_of(law), slots), (geometric(exact, "benchmark_law"), slots)]),
    )


def atoms_of(law: PromptLaw) -> Atoms:
    """A prompt size as a summand."""
    return Atoms(np.array(law.sizes), np.array([float(Fraction(w, law.total)) for w in law.weights]))


def geometric(p: Fraction, function: str) -> Geometric:
    """An age ``A_*`` as a summand; raises `ParameterError` where doubles cannot tell ``p`` from 0 or 1."""
    value = float(p)
    if value < 1e-12 or value == 1:
        raise ParameterError(f"`p` of `{function}` must be at least 1e-12 and below 1 in doubles; got {value!r}.")
    return Geometric(value)
