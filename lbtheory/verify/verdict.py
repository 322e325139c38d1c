"""What a check says: holds, violated or inconclusive, with the numbers that decided it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from scipy.stats import binomtest
from scipy.stats import t as student

LEVEL = 0.9999
"""Two-sided level of every interval of the ledger: fifty statistical checks together then err with probability below 0.5 %."""


class Outcome(StrEnum):
    """Of one check."""

    HOLDS = "holds"
    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Outcome of a check of ``lhs ≤ rhs`` (or ``lhs = rhs``, said in ``tried``).

    Attributes
    ----------
    outcome : Outcome
    lhs, rhs : float or None
        The two sides where the margin is smallest.
    margin : float or None
        ``rhs − lhs`` there; for an equality, what is left of the interval or tolerance.
    uncertainty : float or None
        Half the width of the confidence interval at `LEVEL`; None for checks without chance.
    tried : str
        What was checked, and how often.
    reason : str or None
        Why the outcome is not ``holds``: the failed hypothesis, or the smallest violation.
    """

    outcome: Outcome
    lhs: float | None
    rhs: float | None
    margin: float | None
    uncertainty: float | None = None
    tried: str
    reason: str | None = None


def inapplicable(reason: str, tried: str = "nothing") -> Verdict:
    """A hypothesis fails: the claim says nothing here."""
    return Verdict(outcome=Outcome.INCONCLUSIVE, lhs=None, rhs=None, margin=None, tried=tried, reason=reason)


def at_most(lhs: Iterable[float], rhs: Iterable[float] | float, tried: str, slack: float = 0.0) -> Verdict:
    """``lhs ≤ rhs`` at every entry; ``slack`` is what rounding may add, relative to the larger side.

    Raises
    ------
    ValueError
        When there is nothing to compare: a check that tries nothing must say so itself.
    """
    left = np.asarray(lhs if isinstance(lhs, Sequence | np.ndarray) else list(lhs), dtype=object).ravel()
    if len(left) == 0:
        raise ValueError("nothing to compare")
    right = np.broadcast_to(np.asarray(rhs, dtype=object), left.shape)
    gaps = right - left
    worst = int(np.argmin(np.asarray(gaps, float)))
    size = max(abs(float(left[worst])), abs(float(right[worst])))
    bad = not gaps[worst] >= -(slack * size if math.isfinite(size) else 0.0)  # what is not a number is no pass
    return Verdict(
        outcome=Outcome.VIOLATED if bad else Outcome.HOLDS,
        lhs=float(left[worst]),
        rhs=float(right[worst]),
        margin=float(gaps[worst]),
        tried=f"{len(left):,} {tried}",
        reason=f"at entry {worst}: {left[worst]} > {right[worst]}" if bad else None,
    )


def mean_at_most(values: Sequence[float] | np.ndarray, bound: float, tried: str) -> Verdict:
    """``E X ≤ bound`` from independent replications: violated when the interval lies above, inconclusive when it straddles."""
    mean, low, high = interval(values)
    shown = f"{mean:.6g} in [{low:.6g}, {high:.6g}]"
    if low > bound:
        outcome, reason = Outcome.VIOLATED, f"the interval lies above the bound ({shown} > {bound:.6g})"
    elif high <= bound:
        outcome, reason = Outcome.HOLDS, None
    else:
        outcome, reason = (
            Outcome.INCONCLUSIVE,
            f"the interval ({shown}) holds the bound {bound:.6g}: more replications are needed",
        )
    return Verdict(
        outcome=outcome,
        lhs=mean,
        rhs=bound,
        margin=bound - mean,
        uncertainty=(high - low) / 2,
        tried=f"{tried}, {len(values):,} replications at level {LEVEL}",
        reason=reason,
    )


def mean_at_least(values: Sequence[float] | np.ndarray, bound: float, tried: str) -> Verdict:
    """``E X ≥ bound``; the sides are reported as ``bound ≤ mean``."""
    other = mean_at_most(-np.asarray(values, float), -bound, tried)
    mean = float(np.mean(values))
    return replace(
        other,
        lhs=bound,
        rhs=mean,
        reason=None if other.reason is None else f"{mean:.6g} ± {other.uncertainty:.2g} against at least {bound:.6g}",
    )


def mean_equals(values: Sequence[float] | np.ndarray, target: float, tried: str) -> Verdict:
    """``E X = target``: the interval must hold it. The margin is what is left to the nearer end."""
    mean, low, high = interval(values)
    inside = low <= target <= high
    return Verdict(
        outcome=Outcome.HOLDS if inside else Outcome.VIOLATED,
        lhs=mean,
        rhs=target,
        margin=min(high - target, target - low),
        uncertainty=(high - low) / 2,
        tried=f"{tried}, {len(values):,} replications at level {LEVEL}",
        reason=None if inside else f"{target:.6g} is outside [{low:.6g}, {high:.6g}]",
    )


def close(values: Iterable[tuple[float, float]], tolerance: float, tried: str) -> Verdict:
    """Pairs that must agree within a tolerance, relative to the larger side or to 1, whichever is larger."""
    pairs = list(values)
    errors = [abs(a - b) / max(abs(a), abs(b), 1.0) for a, b in pairs]
    worst = int(np.argmax(errors))
    bad = not errors[worst] <= tolerance
    return Verdict(
        outcome=Outcome.VIOLATED if bad else Outcome.HOLDS,
        lhs=float(pairs[worst][0]),
        rhs=float(pairs[worst][1]),
        margin=float(tolerance - errors[worst]),
        tried=f"{len(pairs):,} {tried}, relative tolerance {tolerance:g}",
        reason=f"relative error {errors[worst]:.3g}" if bad else None,
    )


def together(verdicts: Sequence[Verdict], tried: str | None = None) -> Verdict:
    """One verdict of several parts: the worst outcome; among equals the smallest margin relative to the larger side.

    ``tried`` says in short what the parts say at length; a part that does not hold is then named in the reason.
    """
    order = {Outcome.VIOLATED: 0, Outcome.INCONCLUSIVE: 1, Outcome.HOLDS: 2}

    def rank(one: Verdict) -> tuple[int, float]:
        if one.margin is None or one.lhs is None or one.rhs is None:
            return order[one.outcome], -math.inf
        return order[one.outcome], one.margin / max(abs(one.lhs), abs(one.rhs), 1e-300)

    worst = min(verdicts, key=rank)
    return Verdict(
        outcome=worst.outcome,
        lhs=worst.lhs,
        rhs=worst.rhs,
        margin=worst.margin,
        uncertainty=worst.uncertainty,
        tried=tried or "; ".join(one.tried for one in verdicts),
        reason=worst.reason if tried is None or worst.reason is None else f"{worst.tried}: {worst.reason}",
    )


def interval(values: Sequence[float] | np.ndarray) -> tuple[float, float, float]:
    """Mean of independent replications and the ends of its interval at `LEVEL`: Student's; Clopper–Pearson's for frequencies.

    Raises
    ------
    ValueError
        With fewer than 16 replications.
    """
    array = np.asarray(values, float)
    count = len(array)
    if count < 16:
        raise ValueError("an interval needs at least 16 replications")
    mean = float(array.mean())
    if np.isin(array, (0.0, 1.0)).all():
        exact = binomtest(int(array.sum()), count).proportion_ci(LEVEL)
        return mean, float(exact.low), float(exact.high)
    half = float(student.ppf((1 + LEVEL) / 2, count - 1) * array.std(ddof=1) / math.sqrt(count))
    return mean, mean - half, mean + half
