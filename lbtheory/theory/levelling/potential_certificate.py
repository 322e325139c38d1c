"""Theorem P again, from its potential, prices and heights alone: upper ends with every rounding error accounted for.

Arrays are evaluated in doubles by other formulas than the search uses, with margins far above their rounding errors (``ROUND``
times the largest terms); probabilities, the objective, Theorem A and every convolution are evaluated in balls.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, comb
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import maximum_filter1d

from lbtheory.core import ParameterError, whole_number
from lbtheory.theory.arithmetic import ball, balls
from lbtheory.theory.levelling._balls import SideBalls, above, require
from lbtheory.theory.levelling._coupling import grouped, split
from lbtheory.theory.levelling.certificate import check_claim, check_side, excess
from lbtheory.theory.levelling.potential import GRAIN, PotentialBound
from lbtheory.theory.levelling.side import LevelSide

ROUNDING = 1e-6
"""Relative distance by which a claim may be below the certified number: rounding errors of a thousand convolutions."""
ROUND = 2.0**-44
"""512 times the unit roundoff: more than the error of a dozen operations."""
COUNTED = 2.0**-36
"""Relative error allowed for a sum of up to a hundred thousand probabilities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedPotential:
    """``limsup E I ≤ value``, rigorous.

    Attributes
    ----------
    value, constant, drift, tails : float
        As in the bound that was certified, each rounded up.
    coupling : tuple of float
    bound : PotentialBound
    precision : int
        Bits of the balls.
    """

    value: float
    constant: float
    drift: float
    tails: float
    coupling: tuple[float, ...]
    bound: PotentialBound
    precision: int


def certify_potential(bound: PotentialBound, *, precision: int = 64) -> CertifiedPotential:
    """Evaluate Theorem P rigorously at a given potential (see `potential_bound`).

    Decided exactly or in balls: ``H`` convex and least, 0, at 0; prices non-increasing; equidistant knots that reach ``B``
    above the range and below the last kink of every ``h_c``; ``v`` in [0, 1]; no growth beyond the positions; Theorem A at
    the ends.

    Raises
    ------
    CertificateError
        A condition fails, or a claimed value is below what is proved.
    ParameterError
        Something that is no such bound, or a precision below 64 bits.
    """
    precision = whole_number("precision", "certify_potential", precision, 64)
    if not isinstance(bound, PotentialBound):
        raise ParameterError(f"`bound` of `certify_potential` must be a PotentialBound; got {type(bound).__name__}.")
    with balls(precision):
        made = _Check(bound).run(precision)
    check_claim("value", bound.value, made.value, ROUNDING)
    return made


class _After(NamedTuple):
    """``V_i`` and ``λ_i`` at all positions, how they go on, the steepest slopes, and a bound of the error of ``V_i``."""

    value: np.ndarray
    price: np.ndarray
    rise: float
    fall: float
    steep_rise: float
    steep_fall: float
    error: float


class _Check:
    """The data of a bound, checked, and the arrays that the steps share."""

    def __init__(self, bound: PotentialBound) -> None:
        system = bound.system
        require(bound.base.system == system and bound.base.target == bound.target, "Theorem A is of another system")
        self.bound, self.p, self.slots, self.s = bound, system.p, system.slots, system.s
        self.target, self.potential = system.shifted(bound.target), bound.potential
        self.lowest, self.highest = bound.lowest, bound.lowest + len(bound.potential) - 1
        self.top = float(self.potential[-1] - self.potential[-2])
        self.bottom = float(self.potential[0] - self.potential[1])
        self.knots = bound.knots.astype(np.int64)
        self.spacing, self.start = int(self.knots[1] - self.knots[0]), int(self.knots[0])
        self.stages = len(bound.prices)
        self._check_potential()
        self._check_knots()
        self.z = np.arange(self.start, int(self.knots[-1]) + 1)
        p, q, slots = ball(self.p), ball(1 - self.p), self.slots
        law = [comb(slots, c) * p**c * q ** (slots - c) for c in range(self.stages + 1)]
        self.law = [above(b) for b in law]
        self.rare = max(0.0, above(1 - sum(law)))
        self.rare_count = max(0.0, above(slots * p - sum(c * b for c, b in enumerate(law))))
        ages = len(self.z) + 2
        self.weights = np.array([float((p * q**a).mid()) for a in range(ages)])
        self.weights[-1] += float((q**ages).mid())

    def _check_potential(self) -> None:
        """Exactly: differences of multiples of ``1/GRAIN`` of moderate size have no rounding error."""
        slopes, zero = np.diff(self.potential), -self.lowest
        grains = self.potential * GRAIN
        require(self.lowest < 0 < self.highest, "0 is not inside the range")
        require(bool(np.all(grains == np.round(grains)) and np.abs(grains).max() < 2.0**52), "the potential is not grained")
        require(bool(np.all(np.diff(slopes) >= 0)), "the potential is not convex")
        require(self.potential[zero] == 0 and slopes[zero - 1] <= 0 <= slopes[zero], "the potential is not least at 0")
        v = self.bound.reference
        require(len(v) == len(self.potential) and bool(np.all((v >= 0) & (v <= 1))), "the reference is no probability")

    def _check_knots(self) -> None:
        prices, heights = self.bound.prices, self.bound.heights
        require(self.spacing >= 1 and bool(np.all(np.diff(self.knots) == self.spacing)), "the knots are not equidistant")
        require(int(self.knots[-1]) == self.highest + self.slots, "the knots do not end at the top")
        require(self.start <= self.lowest - (self.s - 1) * self.stages, "the knots do not reach down far enough")
        require(prices.shape == heights.shape == (self.stages, len(self.knots)), "prices or heights do not fit the knots")
        require(bool(np.all(np.diff(prices, axis=1) <= 0)), "the prices increase")
        require(bool(np.all(np.isfinite(prices)) and np.all(np.isfinite(heights))), "a price or height is not finite")
        require(1 <= self.stages <= self.slots, "more completions are followed than there are slots")
        require(len(self.bound.groups) == self.stages and min(self.bound.groups) >= 1, "the groups do not fit the stages")

    def run(self, precision: int) -> CertifiedPotential:
        """All parts, from the last stage to the first."""
        rewards, constant = self._objective()
        nothing = np.zeros(len(self.z))
        after, coupling = _After(nothing, nothing, 0.0, 0.0, 0.0, 0.0, 0.0), []
        for i in range(self.stages - 1, -1, -1):
            cost, after = self._stage(i, after)
            coupling.append(cost)
        drift, tails = self._drift(rewards, after), self._tails()
        total = constant + sum(map(_exact, [drift, tails, *coupling]))
        return CertifiedPotential(
            value=above(self.bound.system.workers * total),
            constant=above(constant),
            drift=drift,
            tails=tails,
            coupling=tuple(coupling[::-1]),
            bound=self.bound,
            precision=precision,
        )

    def _objective(self) -> tuple[np.ndarray, Any]:
        """``f`` rounded up, and a ball around ``K``."""
        workers, constant, rewards = self.bound.system.workers, ball(0), np.zeros(len(self.potential))
        for step in (1, -1):
            reward, e = ball(0), 0
            while self.lowest <= e + step <= self.highest:
                u = _exact(self.bound.reference[min(e, e + step) - self.lowest])
                slope, height = workers * (1 - u) ** (workers - 1) - 1, 1 - (1 - u) ** workers - u
                constant += height - u * slope if step > 0 else height + slope * (1 - u)
                reward += step * slope
                e += step
                rewards[e - self.lowest] = above(reward)
        return rewards, constant

    def _settled(self, v: np.ndarray, room: int) -> np.ndarray:
        """``h_c(v)``, ``room = (s − 1)c``."""
        e = np.where(v > 0, v, np.minimum(v + room, 0))
        inside = np.clip(e, self.lowest, self.highest)
        beyond = self.top * np.maximum(e - inside, 0) + self.bottom * np.maximum(inside - e, 0)
        return self.potential[inside - self.lowest] + beyond

    def _line(self, values: np.ndarray) -> np.ndarray:
        """Linear interpolation from knots to positions."""
        k, j = np.divmod(self.z - self.start, self.spacing)
        return values[k] + np.diff(values, append=values[-1])[k] * (j / self.spacing)

    def _stage(self, i: int, after: _After) -> tuple[float, _After]:
        """Cost of the coupling at stage ``i``, and what the stage before needs."""
        prices, heights, share = self.bound.prices[i], self.bound.heights[i], (i + 1) / self.slots
        settled = self.law[i + 1] * self._settled(self.z, (self.s - 1) * (i + 1))
        gain, extra = settled + after.value, share * after.price
        below = self.law[i + 1] * self.bottom + after.fall
        steepest = abs(below) + float(np.abs(extra).max() + np.abs(prices).max())
        error = after.error + ROUND * float(settled.max() + np.abs(after.value).max() + (len(self.weights) + self.s) * steepest)
        rows = self._rows(gain, below, extra, prices)
        dents = self.spacing / 4 * (_concavity(gain, below, self.spacing) + 8 * self.spacing * error)
        near = dents[np.minimum(self.knots - self.start + self.spacing - 1, len(dents) - 1)]
        bend = _concavity(after.price, 0.0, self.spacing)[-1] + 8 * self.spacing * ROUND * float(np.abs(after.price).max())
        slack = self.spacing / 4 * bend * share * (self.s + float((1 - self.p) / self.p)) * (1 + ROUND)
        levels = grouped(rows - (heights - near)[:, None] + 2 * error, self.bound.groups[i]) / self.slots
        cost = above(_exact(slack) + self._coupling(levels, 2 * steepest / self.slots))
        return cost, self._before(prices, heights, i, after)

    def _before(self, prices: np.ndarray, heights: np.ndarray, i: int, after: _After) -> _After:
        """``V_i = λ_i (T + x − B)/B + W_i``, its slopes beyond the positions, and its error."""
        steep_rise = self.law[i + 1] * self.top + after.steep_rise
        steep_fall = self.law[i + 1] * self.bottom + after.steep_fall
        price, mean = self._line(prices), (self.target + self.z - self.slots) / self.slots
        value = price * mean + self._line(heights)
        error = ROUND * float(np.abs(price).max() * np.abs(mean).max() + np.abs(heights).max())
        rise = steep_rise + prices[-1] / self.slots + ROUND * (abs(steep_rise) + abs(prices[-1]))
        fall = steep_fall - prices[0] / self.slots + ROUND * (abs(steep_fall) + abs(prices[0]))
        slopes = np.diff(value)
        return _After(
            value=value,
            price=price,
            rise=float(rise),
            fall=float(fall),
            steep_rise=max(float(slopes.max()) + 2 * error, float(rise)),
            steep_fall=max(float(-slopes.min()) + 2 * error, float(fall)),
            error=error,
        )

    def _rows(self, gain: np.ndarray, below: float, extra: np.ndarray, prices: np.ndarray) -> np.ndarray:
        """``m(x; a)`` at the knots: the largest of ``s`` neighbouring ``F(x, w)``."""
        ages, w = len(self.weights), np.arange(1, len(self.weights) + self.s)
        rows = np.empty((len(self.knots), ages))
        for k, x in enumerate(self.knots - self.start):
            place = np.maximum(x - w, 0)
            values = gain[place] + below * np.maximum(w - x, 0) + w * (extra[place] - prices[k])
            rows[k] = maximum_filter1d(values, self.s, origin=-(self.s // 2))[:ages]
        return rows

    def _coupling(self, levels: np.ndarray, growth: float) -> Any:
        """``B E y_0 + Σ_l E(Σ_b (y_l − y_{l−1})(X_b))⁺``; ``growth`` bounds slopes of the shapes beyond the last age."""
        late = self.slots * ball(1 - self.p) ** len(self.weights) / ball(self.p)
        first = float(self.weights @ levels[0]) + COUNTED * float(self.weights @ np.abs(levels[0]))
        total = self.slots * _exact(first) + 2 * len(levels) * late * _exact(growth)
        for low, high in pairwise(levels):
            total += self._positive_mean(high - low + 2.0**-50 * (np.abs(high) + np.abs(low)))
        return total

    def _positive_mean(self, values: np.ndarray) -> Any:
        """``E Y⁺ = E Y + E Y⁻`` of a sum ``Y`` on the lattice, probabilities below 0 by a power of a polynomial."""
        from flint import arb_poly

        law, first, spacing, beyond = split(values, self.weights, self.slots, inflate=2.0**-30)
        more, h = 1 + _exact(COUNTED), _exact(spacing)
        start = self.slots * _exact(first)
        mean = start + self.slots * more * (h * _exact(law @ np.arange(len(law))) + _exact(beyond))
        count = ceil(-self.slots * first / spacing) + 1
        if count <= 1:
            return mean
        base, power, left = arb_poly(law[:count].tolist()), arb_poly([1]), self.slots
        while left:
            if left & 1:
                power = (power * base).truncate(count)
            left >>= 1
            base = (base * base).truncate(count)
        less = ball(0)
        for n, chance in enumerate(power.coeffs()):
            less += (-(start + n * h)).max(ball(0)) * chance
        return mean + less * more**self.slots

    def _drift(self, rewards: np.ndarray, after: _After) -> float:
        """``C``, and that nothing grows beyond the positions."""
        e = np.arange(self.start - self.slots, self.highest + 1)
        inside = np.clip(e, self.lowest, self.highest)
        now = self.potential[inside - self.lowest] + self.bottom * (inside - e)
        stays = self._settled(e + self.slots, 0)
        count = self.rare_count * self.bottom / self.slots
        rare = self.rare * (now + self.top * self.slots) + count * (abs(self.target) + np.abs(e))
        total = rewards[inside - self.lowest] - now + self.law[0] * stays + after.value + rare
        kept = 1 - self.law[0] - self.rare
        up, down = after.rise - kept * self.top + count, after.fall - kept * self.bottom + count
        safe = ROUND * (abs(after.rise) + abs(after.fall) + self.top + self.bottom)
        require(up + safe <= 0 and down + safe <= 0, "the drift does not hold beyond the positions")
        terms = float(np.abs(rewards).max() + now.max() + stays.max() + np.abs(after.value).max())
        return float(total.max()) + after.error + 4 * ROUND * terms

    def _tails(self) -> float:
        """``(G − 1) E(e − highest)⁺ + E(lowest − e)⁺`` by Theorem A in balls."""
        base = self.bound.base
        check_side(base.above, base, True)
        check_side(base.below, base, False)
        return above((base.system.workers - 1) * _tail(base.above, self.highest) + _tail(base.below, -self.lowest))


def _tail(side: LevelSide, reach: int) -> Any:
    """``E(e − reach)⁺`` is at most what the last vertex before proves."""
    kernel = SideBalls(p=side.p, s=side.s, renewal=side.renewal, slots=side.slots, level=side.level, upper=side.upper)
    vertices = [vertex for vertex in side.vertices if vertex.x <= reach]
    require(bool(vertices), "Theorem A says nothing at the end of the range")
    return excess(kernel, vertices[-1], {})


def _exact(value: Any) -> Any:
    """A double as a ball without radius."""
    from flint import arb

    return arb(float(value))


def _concavity(values: np.ndarray, below: float, spacing: int) -> np.ndarray:
    """The largest total of negative second differences at ``spacing − 1`` neighbouring points up to each position."""
    if spacing == 1:
        return np.zeros(len(values))
    second = np.diff(np.concatenate([[values[0] + below], values]), 2)
    dents = np.append(np.maximum(-second, 0), 0)
    return np.maximum.accumulate(np.convolve(dents, np.ones(spacing - 1))[: len(dents)])
