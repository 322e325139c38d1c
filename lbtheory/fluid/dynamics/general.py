"""Delay differential equations ``y'(t) = f(t, y(t), y(t−τ_1), …, y(t−τ_d))`` with constant delays, for a handful of unknowns.

The classical Runge–Kutta method on the mesh of `make_mesh`, through cubic Hermite interpolation of what is known already: order
4 on commensurate delays, and where the mesh holds the breakpoints (three generations).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit
from numba.core.dispatcher import Dispatcher

from lbtheory.core import ParameterError, UnknownNameError, readonly
from lbtheory.fluid.dynamics.mesh import KINDS, SAME, make_mesh
from lbtheory.fluid.dynamics.setting import positive
from lbtheory.fluid.dynamics.signals import Signal, as_signal

Array = np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DelaySolution:
    """``y`` on ``[0, t_end]``.

    Attributes
    ----------
    times : float array (m + 1,)
    values : float array (m + 1, k)
    cubics : float array (m, k, 4)
        Coefficients of powers of ``θ ∈ [0, 1]`` on each step.
    history : Signal
    step : float
        Greatest width of a step.
    mesh : str
        ``even`` or ``breakpoints``.
    error_estimate : float
        Greatest difference from the run with steps twice as long, relative to ``max(1, |y|)``; NaN unless asked for.
    """

    times: Array
    values: Array
    cubics: Array
    history: Signal
    step: float
    mesh: str
    error_estimate: float

    def __call__(self, t: Array | float) -> Array:
        """``y(t)``, float array (…, k); the history before 0.

        Raises
        ------
        ParameterError
            After the end, or before the history begins.
        """
        at = np.asarray(t, dtype=float)
        if not np.all(at <= self.times[-1] * (1 + 1e-12)):
            raise ParameterError(f"`t` of `DelaySolution` must be at most {self.times[-1]:g}; got {t!r}.")
        k = np.clip(np.searchsorted(self.times, at, side="right") - 1, 0, len(self.cubics) - 1)
        u = np.clip((at - self.times[k]) / (self.times[k + 1] - self.times[k]), 0.0, 1.0)[..., None]
        c = self.cubics[k]
        made = c[..., 0] + u * (c[..., 1] + u * (c[..., 2] + u * c[..., 3]))
        past = at < 0
        if np.any(past):
            made = np.where(past[..., None], self.history(np.where(past, at, 0.0)), made)
        return np.asarray(made)


def solve_dde(
    f: Callable[[float, Array, Array], Any],
    history: Any,
    delays: Sequence[float],
    *,
    t_end: float,
    step: float,
    initial: Any = None,
    estimate_error: bool = False,
    mesh: str = "auto",
) -> DelaySolution:
    """Integrate ``y' = f(t, y, delayed)`` from 0.

    Parameters
    ----------
    f : callable
        Of ``t``, ``y`` (k,) and ``delayed`` (d, k), whose row ``r`` is ``y(t − delays[r])``; returns (k,). A function compiled
        by ``numba.njit`` makes the whole loop compiled.
    history : Signal, callable or array_like (k,)
        ``y`` on ``[−max delay, 0]``; a callable of one time, or constant. Only a Signal may jump.
    delays : sequence of float
        ≥ 0.
    t_end, step : float
        > 0; the step is at most the smallest positive delay.
    initial : array_like (k,), optional
        ``y(0)``, by default the history's value there.
    estimate_error : bool
        Run with half the step too, and return that run.
    mesh : str
        As of `simulate`.

    Raises
    ------
    UnknownNameError, ParameterError
        Every argument by name; ``f`` that returns another shape or is not finite.
    """
    tau = np.asarray(delays, dtype=float)
    for r in np.nonzero(~((tau >= 0) & np.isfinite(tau)))[0] if tau.ndim == 1 else ():
        raise ParameterError(f"`delays` of `solve_dde` must be finite and ≥ 0; got {tau[r]} at index {r}.")
    if tau.ndim != 1 or not tau.size:
        raise ParameterError(f"`delays` of `solve_dde` must be a sequence of at least one delay; got {delays!r}.")
    t_end, step = positive("t_end", t_end, "solve_dde"), positive("step", step, "solve_dde")
    if mesh not in KINDS:
        raise UnknownNameError("mesh", str(mesh), KINDS)
    least = float(tau[tau > 0].min()) if (tau > 0).any() else np.inf
    if step > least * (1 + 1e-12):
        raise ParameterError(f"`step` of `solve_dde` must be at most the smallest positive delay, {least:g}; got {step:g}.")
    past = _history(history, float(tau.max()), step)
    y0 = past(0.0, left=True) if initial is None else as_signal(initial, "initial", "solve_dde", past.size)(0.0)
    jumps = past.jumps if isinstance(history, Signal) else np.empty(0)
    nodes = make_mesh(tau, t_end, step, breaks=np.empty(0), history_jumps=jumps[jumps < 0], period=None, kind=mesh)
    made = _run(f, past, y0, tau, nodes)
    if not estimate_error:
        return made
    from dataclasses import replace

    fine = _run(f, past, y0, tau, nodes.refined())
    off = np.abs(fine(made.times) - made.values) / np.maximum(1.0, np.abs(made.values))
    return replace(fine, error_estimate=float(off.max()))


def _history(history: Any, longest: float, step: float) -> Signal:
    if callable(history) and not isinstance(history, Signal):
        if longest == 0:
            return Signal.constant(np.atleast_1d(history(0.0)))
        return Signal.sampled(history, -longest, 0.0, pieces=max(1, int(np.ceil(longest / step - SAME))))
    if not isinstance(history, Signal):
        return Signal.constant(np.atleast_1d(history))
    if history.start > -longest or history.end < 0:
        raise ParameterError(
            f"`history` of `solve_dde` must cover the largest delay, [{-longest:g}, 0]; got "
            f"[{history.start:g}, {history.end:g}]."
        )
    return history


def _run(f: Any, past: Signal, y0: Array, tau: Array, mesh: Any) -> DelaySolution:
    base, times = mesh.base, np.array(mesh.times)
    cubics = np.zeros((len(times) - 1, y0.size, 4))
    if base:
        cubics[:base] = past.held().cubics(times[: base + 1])
    values = np.empty((mesh.steps + 1, y0.size))
    values[0] = y0
    first = np.asarray(f(0.0, y0.copy(), np.repeat(y0[None], tau.size, axis=0)), dtype=float)
    if first.shape != y0.shape:
        raise ParameterError(
            f"`f` of `solve_dde` must return {y0.size} derivatives, as the history has; got shape {first.shape}."
        )
    march = _compiled() if isinstance(f, Dispatcher) else _march
    bad = march(f, times, base, tau, cubics, values)
    if bad >= 0:
        raise ParameterError(f"`f` of `solve_dde` must be finite along the solution; it is not near t = {times[bad]:g}.")
    return DelaySolution(
        times=readonly(times[base:]),
        values=readonly(values),
        cubics=readonly(cubics[base:]),
        history=past,
        step=mesh.step,
        mesh=mesh.kind,
        error_estimate=np.nan,
    )


@lru_cache(maxsize=1)
def _compiled() -> Any:
    return njit(_march)


def _march(f, times, base, tau, cubics, values):  # type: ignore[no-untyped-def]
    """Fill cubics and values step by step; returns the step at which they are not finite, or −1.

    Compiled for a compiled ``f``.
    """
    d, m = tau.size, values.shape[1]
    seen = np.zeros(d, dtype=np.int64)
    delayed = np.empty((3, d, m))
    y = values[0].copy()
    for k in range(base, len(times) - 1):
        t, h = times[k], times[k + 1] - times[k]
        near = 1e-9 * h
        for r in range(d):
            if tau[r] == 0:
                continue
            p = seen[r]
            while p < k and times[p + 1] <= t - tau[r] + near:
                p += 1
            seen[r] = p
            for stage in range(3):
                moment = t + 0.5 * stage * h - tau[r]
                # the end of a step looks back from the left, its start and middle from the right
                limit = moment - near if stage == 2 else moment + near
                while p < k and times[p + 1] <= limit:
                    p += 1
                u = min(max((moment - times[p]) / (times[p + 1] - times[p]), 0.0), 1.0)
                for q in range(m):
                    c = cubics[p, q]
                    delayed[stage, r, q] = c[0] + u * (c[1] + u * (c[2] + u * c[3]))
        _now(delayed[0], tau, y)
        k1 = f(t, y, delayed[0])
        z = y + 0.5 * h * k1
        _now(delayed[1], tau, z)
        k2 = f(t + 0.5 * h, z, delayed[1])
        z = y + 0.5 * h * k2
        _now(delayed[1], tau, z)
        k3 = f(t + 0.5 * h, z, delayed[1])
        z = y + h * k3
        _now(delayed[2], tau, z)
        k4 = f(t + h, z, delayed[2])
        after = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        _now(delayed[2], tau, after)
        slope = f(t + h, after, delayed[2])
        for q in range(m):
            if not abs(after[q] + h * slope[q]) < np.inf:
                return k
            rise, h0, h1 = after[q] - y[q], h * k1[q], h * slope[q]
            cubics[k, q, 0] = y[q]
            cubics[k, q, 1] = h0
            cubics[k, q, 2] = 3 * rise - 2 * h0 - h1
            cubics[k, q, 3] = h0 + h1 - 2 * rise
        y = after
        values[k + 1 - base] = y
    return -1


@njit(cache=True)
def _now(delayed: Array, tau: Array, y: Array) -> None:
    """Rows of zero delay are the present."""
    for r in range(tau.size):
        if tau[r] == 0:
            delayed[r] = y
