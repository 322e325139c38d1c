"""Flow routing of one source over one step, compiled: ``x' = Π_{T(x)}(−η ĉ)`` with the observed costs known on the step.

The costs are quadratics of ``θ = (t − t_k)/h ∈ [0, 1]``, so that shares are cubics as long as the active set stays. An event is
a share that falls to zero, or a zero whose cost falls below the mean of the active ones; both are roots of those polynomials.
"""

import math

import numpy as np
from numba import njit

from lbtheory.fluid.dynamics._projection import active_set, project_simplex

Array = np.ndarray

TINY = 1e-15
"""A share below it by rounding is zero."""


@njit(cache=True, error_model="numpy")
def smooth_step(x: Array, c: Array, gain: float, piece: Array) -> bool:
    """One step in which the active set is the support throughout; False, with nothing done, unless that is certain.

    ``x`` (d,) shares, ``c`` (d, 3) costs at ``θ = 0, ½, 1``, ``gain = ηh``; fills ``piece`` (d, 4) with cubics of ``θ``. A
    quadratic is at most 5/4 of its greatest value at those points, and at least its least value there less ``|second
    difference|/8``.
    """
    d = x.size
    first, middle, last, count = 0.0, 0.0, 0.0, 0
    for a in range(d):
        if x[a] > 0:
            first += c[a, 0]
            middle += c[a, 1]
            last += c[a, 2]
            count += 1
    first /= count
    middle /= count
    last /= count
    certain = True
    for a in range(d):
        u, v, w = first - c[a, 0], middle - c[a, 1], last - c[a, 2]
        if x[a] > 0:
            most = max(abs(u), abs(v), abs(w))
            certain &= x[a] > 1.25 * gain * most
            piece[a, 0] = x[a]
            piece[a, 1] = gain * u
            piece[a, 2] = gain * (-1.5 * u + 2 * v - 0.5 * w)
            piece[a, 3] = gain * (2.0 / 3.0) * (u - 2 * v + w)
        else:
            certain &= max(u, v, w) < -abs(u - 2 * v + w) / 8
            piece[a, 0] = 0.0
            piece[a, 1] = 0.0
            piece[a, 2] = 0.0
            piece[a, 3] = 0.0
    return certain


@njit(cache=True, error_model="numpy")
def event_pieces(x: Array, c: Array, gain: float, bounds: Array, pieces: Array) -> tuple[int, bool]:
    """The step with its events; returns how many pieces there are and whether their number ran out.

    ``x`` (d,) is replaced by the shares at the end. Piece ``k`` holds on ``bounds[k] ≤ θ ≤ bounds[k + 1]``; its cubics are
    ``pieces[k]`` (d, 4). Should the room run out, the last piece is the straight line to the projected step.
    """
    d, room = x.size, pieces.shape[0]
    q = np.empty((d, 3))
    for a in range(d):
        q[a, 0] = c[a, 0]
        q[a, 1] = -3 * c[a, 0] + 4 * c[a, 1] - c[a, 2]
        q[a, 2] = 2 * c[a, 0] - 4 * c[a, 1] + 2 * c[a, 2]
    now, active = np.empty(d), np.empty(d, np.bool_)
    bounds[0] = t = 0.0
    entering = -1
    for k in range(room - 1):
        for a in range(d):
            now[a] = q[a, 0] + t * (q[a, 1] + t * q[a, 2])
        active_set(x, now, active)
        if entering >= 0:
            active[entering] = True
        mean0, mean1, mean2 = _mean(q, active)
        end, leaving, entering = 1.0, -1, -1
        for a in range(d):
            u, v, w = mean0 - q[a, 0], mean1 - q[a, 1], mean2 - q[a, 2]
            if active[a]:
                share = x[a]
                if share > gain * (end - t) * (abs(u) + abs(v) + abs(w)):
                    continue
                root = _falls_to_zero(share, gain * u, gain * v / 2, gain * w / 3, t, end)
                if root < end:
                    end, leaving, entering = root, a, -1
            else:
                if u + t * (v + t * w) < -(end - t) * (abs(v) + 2 * abs(w)):
                    continue
                root = _turns_positive(u, v, w, t, end)
                if root < end:
                    end, leaving, entering = root, -1, a
        for a in range(d):
            b1, b2, b3 = gain * (mean0 - q[a, 0]), gain * (mean1 - q[a, 1]) / 2, gain * (mean2 - q[a, 2]) / 3
            if active[a]:
                start = x[a] - t * (b1 + t * (b2 + t * b3))
                x[a] = max(start + end * (b1 + end * (b2 + end * b3)), 0.0)
            else:
                start, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0
                x[a] = 0.0
            pieces[k, a, 0], pieces[k, a, 1], pieces[k, a, 2], pieces[k, a, 3] = start, b1, b2, b3
        if leaving >= 0:
            x[leaving] = 0.0
        t = bounds[k + 1] = end
        if end >= 1.0:
            return k + 1, False
    straight_piece(x, c, gain, t, pieces[room - 1])
    bounds[room] = 1.0
    return room, True


@njit(cache=True, error_model="numpy")
def straight_piece(x: Array, c: Array, gain: float, t: float, piece: Array) -> None:
    """``x ← Π(x − gain (1 − t) c̄)`` with the mean cost of the step, along a straight line on ``[t, 1]``."""
    d = x.size
    y = np.empty(d)
    for a in range(d):
        y[a] = x[a] - gain * (1 - t) * (c[a, 0] + 4 * c[a, 1] + c[a, 2]) / 6
    project_simplex(y)
    for a in range(d):
        slope = (y[a] - x[a]) / (1 - t)
        piece[a, 0], piece[a, 1], piece[a, 2], piece[a, 3] = x[a] - slope * t, slope, 0.0, 0.0
        x[a] = y[a]


@njit(cache=True, error_model="numpy")
def _mean(q: Array, active: Array) -> tuple[float, float, float]:
    """Coefficients of the mean cost of the active arcs."""
    first, second, third, count = 0.0, 0.0, 0.0, 0
    for a in range(active.size):
        if active[a]:
            first += q[a, 0]
            second += q[a, 1]
            third += q[a, 2]
            count += 1
    return first / count, second / count, third / count


@njit(cache=True, error_model="numpy")
def _stationary(b1: float, b2: float, b3: float) -> tuple[float, float]:
    """Roots of ``b1 + 2 b2 θ + 3 b3 θ²`` in increasing order; inf for those that there are not."""
    if b3 == 0:
        return (-b1 / (2 * b2) if b2 != 0 else math.inf), math.inf
    disc = b2 * b2 - 3 * b3 * b1
    if not disc > 0:
        return math.inf, math.inf
    r = -(b2 + math.copysign(math.sqrt(disc), b2))
    one, two = r / (3 * b3), (b1 / r if r != 0 else math.inf)
    return min(one, two), max(one, two)


@njit(cache=True, error_model="numpy")
def _falls_to_zero(share: float, b1: float, b2: float, b3: float, t: float, end: float) -> float:
    """First ``θ`` in ``[t, end)`` from which a share is negative, inf if there is none."""
    start = share - t * (b1 + t * (b2 + t * b3))
    one, two = _stationary(b1, b2, b3)
    low = t
    for turn in (one, two, end):
        high = min(max(turn, low), end)
        if start + high * (b1 + high * (b2 + high * b3)) < -TINY:
            return _root(start, b1, b2, b3, low, high)
        low = high
    return math.inf


@njit(cache=True, error_model="numpy")
def _turns_positive(u: float, v: float, w: float, t: float, end: float) -> float:
    """First ``θ`` in ``[t, end)`` from which ``u + vθ + wθ²`` is positive, inf if there is none."""
    least = 1e-14 * (abs(u) + abs(v) + abs(w))
    turn = -v / (2 * w) if w != 0 else math.inf
    low = t
    for point in (turn, end):
        high = min(max(point, low), end)
        if u + high * (v + high * w) > least:
            return _root(-u, -v, -w, 0.0, low, high)
        low = high
    return math.inf


@njit(cache=True, error_model="numpy")
def _root(b0: float, b1: float, b2: float, b3: float, low: float, high: float) -> float:
    """Where a cubic that decreases on ``[low, high]`` and is negative at ``high`` is zero: Newton's method in a bracket."""
    if b0 + low * (b1 + low * (b2 + low * b3)) <= 0:
        return low
    x = (low + high) / 2
    for _ in range(200):
        value = b0 + x * (b1 + x * (b2 + x * b3))
        if value > 0:
            low = x
        else:
            high = x
        slope = b1 + x * (2 * b2 + 3 * x * b3)
        following = x - value / slope if slope < 0 else (low + high) / 2
        if not low < following < high:
            following = (low + high) / 2
        if following == x or high - low <= 1e-16:
            break
        x = following
    return x
