"""The completions of an iteration one by one, from the last followed to the first, in double precision."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lbtheory.theory.levelling import _potential_kernels as kernels
from lbtheory.theory.levelling._coupling import least_charges
from lbtheory.theory.levelling._frame import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Stage ``i`` of step 4 of Theorem P's proof.

    Attributes
    ----------
    rows : float64 array (knots, ages)
        ``m_i(x; a)``.
    heights, charges : float64 arrays (knots,)
        ``W_i = E m_i + D_i`` and ``D_i``.
    excess : float64 array (knots,)
        By how much ``m_i`` may be above its interpolation next to a knot.
    slack : float
        The same for the price term, as a mean.
    value : float64 array (size,)
        ``V_i`` at all positions.
    rise, fall : float
        ``V_i`` goes on with these slopes above and (downwards) below the positions.
    """

    rows: np.ndarray
    heights: np.ndarray
    charges: np.ndarray
    excess: np.ndarray
    slack: float
    value: np.ndarray
    rise: float
    fall: float

    def shapes(self, slots: int) -> np.ndarray:
        """``y_x(a) = (m_i(x; a) − W_i(x) + excess)/B`` at the knots."""
        return (self.rows - (self.heights - self.excess)[:, None]) / slots


def walk(frame: Frame, potential: np.ndarray, prices: np.ndarray, beyond: np.ndarray) -> Iterator[Stage]:
    """Stages ``I − 1, …, 0`` at the given prices; charges are chosen for the probabilities ``beyond`` at the knots."""
    s, slots, size = frame.s, frame.slots, frame.size
    top, bottom = potential[-1] - potential[-2], potential[0] - potential[1]
    value, price = np.zeros(size), np.zeros(size)
    rise = fall = steepest_rise = steepest_fall = 0.0
    for i in range(frame.followed - 1, -1, -1):
        weight = frame.law[i + 1]
        gain = kernels.after_jump(potential, frame.lowest, weight, i, s, frame.start, value)
        below, steepest_rise, steepest_fall = (
            weight * bottom + fall,
            weight * top + steepest_rise,
            weight * bottom + steepest_fall,
        )
        share = (i + 1) / slots
        rows = kernels.worst_rows(gain, below, share * price, frame.knots, prices[i], s, len(frame.weights))
        charges = least_charges(rows, frame.weights, slots, beyond)
        heights = rows @ frame.weights + charges
        dents = concavity(gain, below, frame.spacing)
        excess = frame.spacing / 4 * dents[np.minimum(frame.knots + frame.spacing, size - 1)]
        slack = frame.spacing / 4 * concavity(price, 0.0, frame.spacing)[-1] * share * (s + (1 - frame.p) / frame.p)
        price = frame.between(prices[i])
        mean = (frame.target + frame.start + np.arange(size) - slots) / slots
        value = price * mean + frame.between(heights)
        rise, fall = steepest_rise + prices[i, -1] / slots, steepest_fall - prices[i, 0] / slots
        slopes = np.diff(value)
        steepest_rise, steepest_fall = max(float(slopes.max()), rise), max(float(-slopes.min()), fall)
        yield Stage(
            rows=rows,
            heights=heights,
            charges=charges,
            excess=excess,
            slack=float(slack),
            value=value,
            rise=rise,
            fall=fall,
        )


def concavity(values: np.ndarray, below: float, spacing: int) -> np.ndarray:
    """The largest total of negative second differences at ``spacing − 1`` neighbouring points up to each position.

    Between two points ``spacing`` apart a function is above its chord by at most ``spacing/4`` times that total.
    """
    second = np.diff(np.concatenate([[values[0] + below], values]), 2)
    total = np.concatenate([[0.0], np.cumsum(np.maximum(-second, 0))])
    width = min(spacing - 1, len(second))
    sums = total[width:] - total[: len(total) - width]
    return np.maximum.accumulate(np.concatenate([np.full(width, sums[0]), sums])) if width else np.zeros(len(values))


def one_step(frame: Frame, potential: np.ndarray, reward: np.ndarray, stage: Stage) -> float:
    """``C``: the largest ``f(e) − H(e) + b_0 h_0(e + B) + V_0(e + B)`` over all ``e``, rare completions added."""
    top, bottom, lowest = potential[-1] - potential[-2], potential[0] - potential[1], frame.lowest
    first = frame.start - frame.slots  # from here down everything is linear
    e = np.arange(first, frame.highest + 1)
    inside = np.clip(e, lowest, frame.highest)
    now = potential[inside - lowest] + bottom * (inside - e)
    stays = np.array([kernels.settled(potential, lowest, x + frame.slots, 0) for x in e])
    rare = frame.rare * (now + top * frame.slots) + frame.rare_count * bottom * (frame.target + e) / frame.slots
    total = reward[inside - lowest] - now + frame.law[0] * stays + stage.value[e + frame.slots - frame.start] + rare
    kept = 1 - frame.law[0] - frame.rare
    up = stage.rise - kept * top + frame.rare_count * bottom / frame.slots
    down = stage.fall - kept * bottom
    return float(total.max()) if up <= 0 and down <= 0 else float("inf")
