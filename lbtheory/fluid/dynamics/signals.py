"""Prescribed functions of time: histories, arrival rates, shares of capacity; piecewise cubic, with jumps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from lbtheory.core import ParameterError, readonly

Array = np.ndarray

NODES = 0.5 - 0.5 * np.cos(np.pi * (2 * np.arange(4) + 1) / 8)
"""Chebyshev points of ``[0, 1]``; none is an end point, where a function may jump."""
TO_POWERS = np.linalg.inv(np.vander(NODES, 4, increasing=True))
"""Values at `NODES` to coefficients of powers of ``θ``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A vector function of time, cubic on each piece and continuous from the right; make it by a class method.

    Attributes
    ----------
    breaks : float array (p + 1,)
        Ends of the pieces, seconds, increasing; the first may be −inf and the last inf. ``start`` and ``end`` are these two.
    anchors : float array (p,)
        Where the powers of each piece begin.
    coefficients : float array (p, 4, m)
        ``Σ_k c_k (t − anchor)^k``.
    """

    breaks: Array
    anchors: Array
    coefficients: Array

    def __post_init__(self) -> None:
        for name in ("breaks", "anchors", "coefficients"):
            object.__setattr__(self, name, readonly(getattr(self, name), dtype=float))

    @property
    def size(self) -> int:
        """``m``."""
        return int(self.coefficients.shape[2])

    @property
    def start(self) -> float:
        """Where it begins to be defined."""
        return float(self.breaks[0])

    @property
    def end(self) -> float:
        """Where it ceases to be defined."""
        return float(self.breaks[-1])

    @property
    def jumps(self) -> Array:
        """Inner breaks: times at which it may jump or bend."""
        return self.breaks[1:-1]

    @property
    def is_constant(self) -> bool:
        """One piece without slope."""
        return len(self.anchors) == 1 and not self.coefficients[:, 1:].any()

    def __call__(self, t: Array | float, *, left: bool = False) -> Array:
        """Values, float array (…, m); with ``left``, limits from the left.

        Raises
        ------
        ParameterError
            At a time that is NaN or outside ``[start, end]``.
        """
        times = np.asarray(t, dtype=float)
        if not np.all((times >= self.start) & (times <= self.end)):
            raise ParameterError(f"`t` of `Signal` must be within [{self.start:g}, {self.end:g}] s; got {t!r}.")
        inner = np.searchsorted(self.breaks, times, side="left" if left else "right") - 1
        piece = np.clip(inner, 0, len(self.anchors) - 1)
        u = (times - self.anchors[piece])[..., None]
        c = self.coefficients[piece]
        return c[..., 0, :] + u * (c[..., 1, :] + u * (c[..., 2, :] + u * c[..., 3, :]))

    def cubics(self, nodes: Array) -> Array:
        """Coefficients of powers of ``θ ∈ [0, 1]`` on each interval between nodes, float array (len(nodes) − 1, m, 4).

        Exact where no break lies inside an interval; else the cubic through four inner points.
        """
        low, width = nodes[:-1], np.diff(nodes)
        values = self(low[:, None] + width[:, None] * NODES)
        return np.einsum("pq,kqm->kmp", TO_POWERS, values)

    def held(self) -> "Signal":
        """The same, defined for ever: constant before the start and after the end."""
        breaks, anchors, c = self.breaks, self.anchors, self.coefficients
        if self.start > -inf:
            first = np.zeros((1, 4, self.size))
            first[0, 0] = self(self.start)
            breaks, anchors, c = np.r_[-inf, breaks], np.r_[self.start, anchors], np.concatenate([first, c])
        if self.end < inf:
            last = np.zeros((1, 4, self.size))
            last[0, 0] = self(self.end, left=True)
            breaks, anchors, c = np.r_[breaks, inf], np.r_[anchors, self.end], np.concatenate([c, last])
        return Signal(breaks=breaks, anchors=anchors, coefficients=c)

    @classmethod
    def constant(cls, values: Any) -> "Signal":
        """``values`` (m,) for ever."""
        row = _rows("constant", "values", [values])
        c = np.zeros((1, 4, row.shape[1]))
        c[0, 0] = row[0]
        return cls(breaks=np.array([-inf, inf]), anchors=np.zeros(1), coefficients=c)

    @classmethod
    def steps(cls, times: Any, values: Any) -> "Signal":
        """``values[k]`` (m,) from ``times[k]`` on, the last for ever; undefined before ``times[0]``."""
        at, rows = _times("steps", times, 1), _rows("steps", "values", values)
        _same_length("steps", at, rows)
        c = np.zeros((len(at), 4, rows.shape[1]))
        c[:, 0] = rows
        return cls(breaks=np.r_[at, inf], anchors=at, coefficients=c)

    @classmethod
    def linear(cls, times: Any, values: Any) -> "Signal":
        """Linear between ``(times[k], values[k])``; equal neighbouring times make a jump."""
        at, rows = _times("linear", times, 2, repeats=True), _rows("linear", "values", values)
        _same_length("linear", at, rows)
        width = np.diff(at)
        keep = width > 0
        c = np.zeros((int(keep.sum()), 4, rows.shape[1]))
        c[:, 0] = rows[:-1][keep]
        c[:, 1] = (np.diff(rows, axis=0)[keep]) / width[keep, None]
        return cls(breaks=np.r_[at[:-1][keep], at[-1]], anchors=at[:-1][keep], coefficients=c)

    @classmethod
    def sampled(
        cls,
        function: Callable[[float], Any],
        start: float,
        end: float,
        *,
        pieces: int = 256,
        jumps: Sequence[float] = (),
    ) -> "Signal":
        """A function on ``[start, end]`` through four Chebyshev points of each piece; error ``O(width⁴)``.

        Parameters
        ----------
        function : callable
            Of one time, returns (m,) values; never called at ``start``, ``end`` or a jump.
        pieces : int
            Of equal width, then cut at every jump.
        jumps : sequence of float
            Where it jumps or bends.
        """
        ends = _times("sampled", [start, end], 2)
        cuts = np.array([t for t in jumps if start < t < end], dtype=float)
        breaks = np.unique(np.r_[np.linspace(ends[0], ends[1], pieces + 1), cuts])
        low, width = breaks[:-1], np.diff(breaks)
        at = (low[:, None] + width[:, None] * NODES).ravel()
        rows = _rows("sampled", "function", [np.atleast_1d(function(float(t))) for t in at])
        c = np.einsum("pq,kqm->kpm", TO_POWERS, rows.reshape(len(low), 4, -1))
        return cls(breaks=breaks, anchors=low, coefficients=c / width[:, None, None] ** np.arange(4)[:, None])

    @classmethod
    def daily(cls, mean: Any, swing: Any, *, period: float, peak: Any = 0.0, days: float = 1.0) -> "Signal":
        """``mean (1 + swing cos(2π(t − peak)/period))`` on ``[0, days·period]``, each of them (m,) or a number.

        Relative error below 1e-9 (256 pieces a period).
        """
        level, size, at = np.broadcast_arrays(*(np.atleast_1d(np.asarray(v, dtype=float)) for v in (mean, swing, peak)))
        if not (period > 0 and days > 0 and np.isfinite([period, days]).all()):
            raise ParameterError(f"`period` and `days` of `Signal.daily` must be positive; got {period!r} and {days!r}.")
        if not np.all(np.abs(size) <= 1):
            raise ParameterError(f"`swing` of `Signal.daily` must be between −1 and 1, else a rate is negative; got {swing!r}.")

        def value(t: float) -> Array:
            return np.asarray(level * (1 + size * np.cos(2 * np.pi * (t - at) / period)))

        return cls.sampled(value, 0.0, days * period, pieces=int(np.ceil(256 * days)))


def as_signal(value: Any, name: str, function: str, size: int) -> Signal:
    """A `Signal` of ``size`` from one, or from (``size``,) constants; raises `ParameterError`."""
    if not isinstance(value, Signal):
        rows = np.asarray(value, dtype=float)
        if rows.shape != (size,):
            raise ParameterError(f"`{name}` of `{function}` must be a Signal or {size} numbers; got shape {rows.shape}.")
        bad = np.nonzero(~np.isfinite(rows))[0]
        if bad.size:
            raise ParameterError(f"`{name}` of `{function}` must be finite; got {rows[bad[0]]} at index {bad[0]}.")
        return Signal.constant(rows)
    if value.size != size:
        raise ParameterError(f"`{name}` of `{function}` must have {size} components; got {value.size}.")
    return value


def _rows(function: str, name: str, values: Any) -> Array:
    """(k, m) finite floats."""
    try:
        rows = np.array([np.atleast_1d(np.asarray(row, dtype=float)) for row in values], dtype=float)
    except (TypeError, ValueError):
        raise ParameterError(f"`{name}` of `Signal.{function}` must be rows of equally many numbers; got {values!r}.") from None
    if rows.ndim != 2 or not rows.size:
        raise ParameterError(f"`{name}` of `Signal.{function}` must be rows of numbers; got shape {rows.shape}.")
    bad = np.argwhere(~np.isfinite(rows))
    if bad.size:
        raise ParameterError(f"`{name}` of `Signal.{function}` must be finite; got {rows[tuple(bad[0])]} at index {bad[0][0]}.")
    return rows


def _times(function: str, times: Any, least: int, *, repeats: bool = False) -> Array:
    """Finite increasing floats; two equal neighbours are a jump, where they are allowed."""
    at = np.asarray(times, dtype=float)
    if at.ndim != 1 or len(at) < least or not np.isfinite(at).all():
        raise ParameterError(f"`times` of `Signal.{function}` must be at least {least} finite seconds; got {times!r}.")
    width = np.diff(at)
    if (width < 0).any() or (not repeats and (width == 0).any()):
        k = int(np.argmax((width < 0) | ((width == 0) & (not repeats))))
        raise ParameterError(
            f"`times` of `Signal.{function}` must increase; got {at[k + 1]:g} after {at[k]:g} at index {k + 1}."
        )
    if len(at) > 1 and at[0] == at[-1]:
        raise ParameterError(f"`times` of `Signal.{function}` must span a time; got {times!r}.")
    return at


def _same_length(function: str, at: Array, rows: Array) -> None:
    if len(at) != len(rows):
        raise ParameterError(f"`values` of `Signal.{function}` must have a row a time, {len(at)}; got {len(rows)}.")
