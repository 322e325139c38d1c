"""Where a bound says something: smallest ``B`` from which ``ε ≤ s``, or a certificate falls below the exact FCFS law, for good.

The frontier of section 6.4.4 (ours). The FCFS law itself is exact in `lbtheory.theory.benchmark_law`; at the sizes where the
theorem bites (``B`` of 1e5 and more) it is bracketed by the normal law with an explicit error (`fcfs_bracket`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from scipy.integrate import quad
from scipy.special import log_ndtr

from lbtheory.core import ParameterError
from lbtheory.theory.excess import computed_excess
from lbtheory.theory.theorem1 import System, constants, sharper
from lbtheory.theory.tilting import tilted_slot

LARGEST_SLOTS = 10**18

Bound = Callable[[System], float]


def normal_maximum(workers: int) -> float:
    """``e_G``, the expected maximum of ``G`` independent standard normals: ``∫ (1{x>0} − Φ(x)^G) dx``."""
    above = quad(lambda x: -math.expm1(workers * float(log_ndtr(x))), 0, 45, limit=200, epsabs=1e-13)[0]
    below = quad(lambda x: math.exp(workers * float(log_ndtr(-x))), 0, 45, limit=200, epsabs=1e-13)[0]
    return float(above - below)


def fcfs_bracket(of: System) -> tuple[float, float]:
    """Interval that holds the exact ``Ī^JSQ``: ``G σ sqrt(B) e_G ± G² E|U−EU|³/σ²``, tokens (ours, proved).

    The Wasserstein distance of a standardised sum of ``B`` i.i.d. variables from the normal law is at most
    ``E|U−EU|³/(σ³ sqrt(B))`` (Goldstein 2010, Annals of Probability 38, "Bounds on the constant in the mean central limit
    theorem"), and ``E max`` of ``G`` independent copies moves by at most ``G`` times the distance of one.
    """
    if of.workers == 1:
        return 0.0, 0.0
    slot = tilted_slot(of.p, of.law, 0.0)
    middle = of.workers * math.sqrt(slot.variance * of.slots) * normal_maximum(of.workers)
    error = of.workers**2 * slot.third / slot.variance
    return middle - error, middle + error


def theorem1_upper(of: System) -> float:
    """``(G−1)(s+ε)/p`` with the paper's constants."""
    return float(constants(of).io_upper)


def sharper_upper(of: System) -> float:
    """``max{G−1, (G−2)/p} s + (G−1) ε/p`` with the smaller ``ε`` of `sharper`."""
    return sharper(of).io_upper


def computed_upper(of: System) -> float:
    """``max{G−1, (G−2)/p} s + (G−1) E(u*−Bp)₊/p`` with the smaller of `computed_excess` and the smaller ``ε``."""
    others, p = of.workers - 1, float(of.p)
    return max(others, (others - 1) / p) * of.s + others * least_excess(of) / p


def spread_upper(of: System) -> float:
    """``(G−1)(s + E(u*−Bp)₊/p)``, SpreadLex (section 6.4.3)."""
    return (of.workers - 1) * (of.s + least_excess(of) / float(of.p))


def least_excess(of: System) -> float:
    """The smaller bound on ``E(u* − Bp)₊``: from the law of ghost ages, or the sharper ``ε``."""
    return min(computed_excess(of), sharper(of).epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """Smallest ``B`` from which each statement holds for good.

    Attributes
    ----------
    epsilon_below_s : int
        ``ε ≤ s`` with the paper's ``ε``.
    theorem1, sharper, computed, spread_lex : int
        The certificate is below the exact FCFS law (its lower bracket): the paper's constants, the sharper ones, the excess
        from the ghost-age law, and SpreadLex's bound.
    """

    epsilon_below_s: int
    theorem1: int
    sharper: int
    computed: int
    spread_lex: int


def frontier(of: System) -> Frontier:
    """The frontier at ``(p, F, G)``; the slots of the system are not used.

    Raises
    ------
    ParameterError
        ``G < 2``: there is no imbalance to bound.
    """
    if of.workers < 2:
        raise ParameterError(f"`workers` of `frontier` must be at least 2; got {of.workers}. One worker has no imbalance.")
    return Frontier(
        epsilon_below_s=slots_for_epsilon(of, float(of.s)),
        theorem1=slots_below_fcfs(of, theorem1_upper),
        sharper=slots_below_fcfs(of, sharper_upper),
        computed=slots_below_fcfs(of, computed_upper),
        spread_lex=slots_below_fcfs(of, spread_upper),
    )


def slots_for_epsilon(of: System, target: float) -> int:
    """Smallest ``B`` from which ``ε ≤ target`` for good.

    ``ε`` grows like ``sqrt(B)`` up to its peak at ``B = max(log(4G), 1)/κ`` and decreases from there on.
    """
    kappa = float(constants(of).kappa)
    peak = math.ceil(max(math.log(4 * of.workers), 1.0) / kappa)
    return _first(lambda slots: constants(replace(of, slots=slots)).epsilon <= target, peak)


def slots_below_fcfs(of: System, bound: Bound, target: float = 1.0) -> int:
    """Smallest ``B`` from which FCFS's exact law is at least ``target`` times ``bound``, for good.

    Found from above: ``bound`` decreases after its peak while the law grows like ``sqrt(B)``, so the last crossing is the only
    one above it. What is used of the law is the lower end of `fcfs_bracket`.
    """
    low, high = fcfs_bracket(replace(of, slots=1))
    root, error = (low + high) / 2, (high - low) / 2

    def below(slots: int) -> bool:
        return root * math.sqrt(slots) - error >= target * bound(replace(of, slots=slots))

    high = 1
    while not all(below(k * high) for k in (1, 4, 16, 64)):
        high *= 4
        if high > LARGEST_SLOTS:
            raise ParameterError(f"no B up to {LARGEST_SLOTS:.0e} brings the bound below the FCFS law / {target}.")
    low = max(1, high // 4)
    return high if high == 1 else _first(below, low, high)


def _first(holds: Callable[[int], bool], low: int, high: int | None = None) -> int:
    """Smallest ``B ≥ low`` with ``holds(B)``, for a statement that stays true."""
    if holds(low):
        return low
    if high is None:
        high = 2 * low
        while not holds(high):
            high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
