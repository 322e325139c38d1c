"""Cumulative integrals of smooth positive functions: Gauss–Legendre panels, halved until a stated error is met."""

from collections.abc import Callable, Iterable

import numpy as np

from lbtheory.core import readonly

Array = np.ndarray

NODES, WEIGHTS = (readonly(a) for a in np.polynomial.legendre.leggauss(20))
RELATIVE_ERROR = 1e-14
"""A panel is halved until both halves together differ from it by less than this share of the whole integral."""
NARROWEST = 1e-9


class CumulativeIntegral:
    """``x ↦ ∫_{a}^{x} f`` for ``x`` in ``[a, b]``.

    Parameters
    ----------
    function : callable
        ``f ≥ 0``, vectorised, smooth between the edges.
    edges : iterable of float
        ``a < … < b``.

    Attributes
    ----------
    error : float
        Sum over the panels of the change that halving made: far above the error itself, and for each panel below
        `RELATIVE_ERROR` of the integral.
    """

    def __init__(self, function: Callable[[Array], Array], edges: Iterable[float]) -> None:
        self.function = function
        points = np.asarray(list(edges), dtype=float)
        low, high = points[:-1], points[1:]
        parts = self._panel(low, high)
        kept: list[tuple[Array, Array, Array]] = []
        total, span, self.error = parts.sum(), points[-1] - points[0], 0.0
        while low.size:
            middle = low + (high - low) / 2
            left, right = self._panel(low, middle), self._panel(middle, high)
            change = np.abs(left + right - parts)
            done = (change <= RELATIVE_ERROR * total) | (high - low <= NARROWEST * span)
            kept.append((low[done], high[done], parts[done]))
            self.error += float(change[done].sum())
            again = ~done
            low, high = np.r_[low[again], middle[again]], np.r_[middle[again], high[again]]
            parts = np.r_[left[again], right[again]]
        starts, ends, values = (np.concatenate(column) for column in zip(*kept, strict=True))
        order = np.argsort(starts)
        self.edges = readonly(np.r_[starts[order], ends.max()])
        self.sums = readonly(np.r_[0.0, np.cumsum(values[order])])

    def _panel(self, low: Array, high: Array) -> Array:
        half = (high - low) / 2
        values = self.function(low[..., None] + half[..., None] * (1 + NODES))
        return np.asarray(half * (values @ WEIGHTS))

    def __call__(self, x: Array) -> Array:
        """The integral up to ``x``, which is clipped to ``[a, b]``."""
        clipped = np.clip(x, self.edges[0], self.edges[-1])
        at = np.clip(np.searchsorted(self.edges, clipped, side="right") - 1, 0, len(self.edges) - 2)
        return np.asarray(self.sums[at] + self._panel(self.edges[at], clipped))
