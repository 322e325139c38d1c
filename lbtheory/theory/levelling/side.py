"""One side of Theorem A (ours, proved): points ``(x, H)`` with ``E(e − x)⁺ ≤ H``, each with the multipliers that prove it.

``e`` is the deviation above (or minus the deviation below) a level ``t B``, and ``r`` the prompt with which every slot is
renewed while ``e > 0``, at most above, at least below. Let ``k − m`` be the last time with ``e ≤ 0``. For each block of lags
``m`` Chernoff's bound holds with any ``θ > 0`` on ``e(k) > x`` and any ``η ≥ 0`` on ``e(k − m) ≤ 0``; prompts of survivors
may depend on all the past, ages are exogenous, and ``E Π_b F(S_b, X_b) ≤ (E_X max_S F)^B`` with the maximum at ``S = 1`` or
``s`` since ``F`` is convex in ``S``.

Cost of a block of lags ``m … m + d − 1``, a slot of age ``X`` at ``k − m`` (a refinement of ours): above, ``e^{η(X + r −
1)}`` if ``X < d − 1``, else ``e^{η(d−1)}``, since a survivor gains a token an iteration and a renewed slot at most ``r + X −
1``; below, a slot renewed inside the block loses at most ``s − r + X₀ + d − 2 − 2X``, ``X₀`` its independent age at the start
of the block, and others lose nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log
from typing import NamedTuple

import numpy as np

from lbtheory.core import readonly
from lbtheory.theory.levelling import _kernels
from lbtheory.theory.levelling._envelope import convex_minorant
from lbtheory.theory.levelling.moments import SecondMoment, least_moment

THETAS = 24
POINTS = 240
REACH = 3.0  # last lag, in mean lengths


@dataclass(frozen=True, slots=True, kw_only=True)
class Vertex:
    """A proved ``E(e − x)⁺ ≤ value``: a sum over blocks of lags, each with its own ``θ`` and ``η``.

    Attributes
    ----------
    x, value : float
        Tokens.
    lags, widths : int64 arrays (J,)
        Smallest lag and width ``d`` of each block, contiguous; if ``lags[0] = m₁ > 1`` then ``x ≥ (m₁ − 1)B``.
    thetas, etas : float64 arrays (J + 1,), (J,)
        Multipliers; the last ``θ`` is for all lags after the blocks.
    """

    x: float
    value: float
    lags: np.ndarray
    widths: np.ndarray
    thetas: np.ndarray
    etas: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSide:
    """A proved bound of the law of ``e⁺`` (or ``e⁻``) of one worker.

    Attributes
    ----------
    upper : bool
        ``e⁺`` of the deviation above the level, otherwise ``e⁻`` of that below.
    p : Fraction
    s, renewal, slots : int
        Sizes ``1 … s``, the prompt ``r`` of a renewed slot, ``B``.
    level : Fraction
        ``t B``, tokens, in the system with sizes ``1 … s``.
    vertices : tuple of Vertex
        Of the convex minorant, by increasing ``x``.
    moment : SecondMoment
        Theorem M for the mean.
    points, tail, excess : float64 arrays
        Bounds of ``P(e > x)`` and of ``E(e − x)⁺`` on a grid (double precision).
    """

    upper: bool
    p: Fraction
    s: int
    renewal: int
    slots: int
    level: Fraction
    vertices: tuple[Vertex, ...]
    moment: SecondMoment
    points: np.ndarray
    tail: np.ndarray
    excess: np.ndarray

    @property
    def mean(self) -> float:
        """Bound of ``E e⁺`` (``E e⁻``), tokens: the minorant at 0 or Theorem M."""
        return min(self.vertices[0].x + self.vertices[0].value, self.moment.value)

    def minorant(self) -> tuple[np.ndarray, np.ndarray]:
        """Points from 0 on, and bounds of ``E(e − x)⁺`` there: convex, piecewise linear between them."""
        return join(self.mean, [v.x for v in self.vertices], [v.value for v in self.vertices])


def join(start: float, points: Sequence[float], values: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of a minorant behind a bound ``start`` of the mean."""
    x = np.concatenate([[0.0], points])
    h = np.concatenate([[start], np.minimum(values, start)])
    kept = convex_minorant(x, h)
    kept = kept if kept[0] == 0 else [0, *kept]
    return x[kept], h[kept]


def side_bound(
    *, p: Fraction, s: int, renewal: int, slots: int, level: Fraction, upper: bool, above: float | None = None
) -> LevelSide:
    """The best minorant over a small set of block widths, by optimised multipliers (double precision)."""
    q = float(1 - p)
    scale = ((s + 1) ** 2 / 3 + (s + 1) / float(p) + 2 / float(p) ** 2) / (s - 1)
    top = min(15.0, -0.98 * log(q) * scale)
    thetas = np.geomspace(min(0.08, top / 4), top, THETAS) / scale
    points = 60 * scale * np.linspace(0, 1, POINTS) ** 2
    tail, excess = np.ones(POINTS), np.full(POINTS, inf)
    tables: list[_Table] = []
    source = np.zeros(POINTS, np.int64)
    arguments = (upper, q, float(s), float(renewal), float(level / slots))
    for first, ratio in _shapes(p, renewal, scale / slots, upper):
        lags, widths, last = block_lags(first, ratio, REACH / float(p))
        logs, etas = _kernels.tables(thetas, lags, widths, last, *arguments, float(slots))
        chance, means, chosen = _kernels.sums(logs, thetas, points)
        usable = points >= (first - 1) * slots
        better = usable & (means < excess)
        tail, excess = np.where(usable, np.minimum(tail, chance), tail), np.where(better, means, excess)
        source[better] = len(tables)
        tables.append(_Table(lags=lags, widths=widths, thetas=thetas, etas=etas, chosen=chosen))
    vertices = [tables[source[k]].vertex(float(points[k]), float(excess[k]), k) for k in convex_minorant(points, excess)]
    moment = least_moment(p=p, s=s, renewal=renewal, slots=slots, level=level, upper=upper, above=above)
    return LevelSide(
        upper=upper,
        p=p,
        s=s,
        renewal=renewal,
        slots=slots,
        level=level,
        vertices=tuple(vertices),
        moment=moment,
        points=readonly(points),
        tail=readonly(np.minimum.accumulate(tail)),
        excess=readonly(excess),
    )


class _Table(NamedTuple):
    """What one block shape gives at every point."""

    lags: np.ndarray
    widths: np.ndarray
    thetas: np.ndarray
    etas: np.ndarray  # (blocks + 1, thetas)
    chosen: np.ndarray  # (points, blocks + 1)

    def vertex(self, x: float, value: float, point: int) -> Vertex:
        """The proof of ``E(e − x)⁺ ≤ value``."""
        blocks, chosen = len(self.lags), self.chosen[point]
        return Vertex(
            x=x,
            value=value,
            lags=readonly(self.lags, np.int64),
            widths=readonly(self.widths, np.int64),
            thetas=readonly(self.thetas[chosen]),
            etas=readonly(self.etas[np.arange(blocks), chosen[:blocks]]),
        )


def block_lags(first: int, ratio: float, reach: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Lags, widths ``max(1, ⌊ratio · lag⌋)`` and the first lag after the blocks, which is at least ``reach``."""
    lags: list[int] = []
    widths: list[int] = []
    m = first
    while m < reach or not lags:
        width = max(1, int(ratio * m))
        lags.append(m)
        widths.append(width)
        m += width
    return np.array(lags, float), np.array(widths, float), float(m)


def _shapes(p: Fraction, renewal: int, unit: float, upper: bool) -> list[tuple[int, float]]:
    """Block shapes (first lag, ratio) that are tried; ``unit`` is the natural scale of ``e`` in iterations of pure growth."""
    long = p < Fraction(1, 300)
    if not upper:
        return [(1, ratio) for ratio in ((0.1, 0.3, 0.5) if long else (0.0, 0.1, 0.2))]
    if renewal > 1:
        return [(1, ratio) for ratio in ((0.02, 0.05, 0.1, 0.2) if long else (0.0, 0.05, 0.1))]
    late = max(1, round(2.5 * unit))
    return [(1, 0.1), (1, 0.2), (late, 0.1), (late, 0.2)] if long else [(1, 0.0), (1, 0.1), (1, 0.2), (late, 0.1)]
