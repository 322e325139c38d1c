"""Ranges, laws and the linear objective of the potential bound."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from scipy import stats

from lbtheory.core import ParameterError, readonly
from lbtheory.theory.levelling.chernoff import LevelBound
from lbtheory.theory.levelling.side import LevelSide, Vertex

CUT = 1e-5
"""Share of the bound that is left to Theorem A beyond the range of the potential."""
RARE = 1e-11
"""Probability of more completions than are followed one by one."""
FOLLOWED = 24
"""Most completions that are followed one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What every step of the potential bound needs.

    Attributes
    ----------
    p : float
    s, slots, target : int
        Of the system with sizes ``1 … s``.
    lowest, highest : int
        Range of deviations ``e`` with a potential of its own.
    start, size : int
        Positions ``start, …, start + size − 1 = highest + B``, so far down that every ``h_c`` is linear before them.
    knots : int64 array
        Indices of equidistant positions, from the first to the last.
    law : float64 array (I + 1,)
        ``b_0 … b_I``, probabilities of so many completions.
    rare, rare_count : float
        ``P(c > I)`` and ``E[c; c > I]``.
    weights : float64 array (A,)
        Probabilities of the ages, the last with all later ones: from there on everything is linear.
    """

    p: float
    s: int
    slots: int
    target: int
    lowest: int
    highest: int
    start: int
    size: int
    knots: np.ndarray
    law: np.ndarray
    rare: float
    rare_count: float
    weights: np.ndarray

    @property
    def followed(self) -> int:
        """``I``."""
        return len(self.law) - 1

    @property
    def spacing(self) -> int:
        """Positions from knot to knot."""
        return int(self.knots[1])

    @property
    def deviations(self) -> np.ndarray:
        """``lowest, …, highest``."""
        return np.arange(self.lowest, self.highest + 1)

    def between(self, values: np.ndarray) -> np.ndarray:
        """Linear interpolation from knots to all positions."""
        return np.interp(np.arange(self.size), self.knots, values)


def make_frame(base: LevelBound, count: int) -> Frame:
    """Ranges from Theorem A's tails, and laws."""
    system = base.system
    p, slots, s = float(system.p), system.slots, system.s
    least = CUT * base.value / system.workers
    highest = _reach(base.above, least / (system.workers - 1))
    lowest = -_reach(base.below, least)
    followed = min(slots, int(stats.binom.isf(RARE, slots, p)) + 1)
    if followed > FOLLOWED:
        raise ParameterError(
            f"`system` of `potential_bound` must have at most {FOLLOWED} completions in an iteration but for a chance of"
            f" {RARE:g}; got {followed} (p = {system.p}, slots = {slots}). Use `chernoff_bound`."
        )
    start = lowest - (s - 1) * followed
    spacing = max(1, ceil((highest + slots - start) / count))
    gaps = ceil((highest + slots - start) / spacing)
    size = spacing * gaps + 1
    counts = np.arange(followed + 1)
    rare = float(stats.binom.sf(followed, slots, p))
    weights = p * (1 - p) ** np.arange(size + 2)
    weights[-1] += (1 - p) ** (size + 2)
    return Frame(
        p=p,
        s=s,
        slots=slots,
        target=system.shifted(base.target),
        lowest=lowest,
        highest=highest,
        start=highest + slots - size + 1,
        size=size,
        knots=readonly(spacing * np.arange(gaps + 1)),
        law=readonly(stats.binom.pmf(counts, slots, p)),
        rare=rare,
        rare_count=slots * p * float(stats.binom.sf(followed - 1, slots - 1, p)) if slots > 1 else rare,
        weights=readonly(weights),
    )


def _reach(side: LevelSide, least: float) -> int:
    """The least whole number at or beyond a vertex with ``E(e − x)⁺ ≤ least`` (the last vertex if there is none)."""
    return max(1, ceil(next((v.x for v in side.vertices if v.value <= least), side.vertices[-1].x)))


def tail_vertex(side: LevelSide, reach: int) -> Vertex:
    """The last vertex at or before ``reach``: its value bounds ``E(e − reach)⁺``."""
    return [v for v in side.vertices if v.x <= reach][-1]


def tails_of(base: LevelBound, frame: Frame) -> float:
    """``(G − 1) E(e − highest)⁺ + E(lowest − e)⁺`` by Theorem A."""
    above, below = tail_vertex(base.above, frame.highest), tail_vertex(base.below, -frame.lowest)
    return (base.system.workers - 1) * above.value + below.value


def objective(reference: np.ndarray, lowest: int, workers: int) -> tuple[np.ndarray, float]:
    """``f`` and ``K``: tangents of ``φ`` at ``v``, ``E max_g e_g − E e ≤ K + E f(e)`` for a law on the range.

    ``φ(u) ≤ φ(v) + φ'(v)(u − v)``; summed over ``x ≥ 0`` with ``u = P(e > x)``, over ``x < 0`` with ``1 − u = P(e ≤ x)``.
    """
    slope = workers * (1 - reference) ** (workers - 1) - 1
    height = 1 - (1 - reference) ** workers - reference
    above, below = slice(-lowest, -1), slice(0, -lowest)
    constant = float(np.sum((height - reference * slope)[above]) + np.sum((height + slope * (1 - reference))[below]))
    reward = np.zeros(len(reference))
    reward[-lowest + 1 :] = np.cumsum(slope[above])
    reward[:-lowest] = -np.cumsum(slope[below][::-1])[::-1]
    return reward, constant
