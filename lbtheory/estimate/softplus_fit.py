"""Softplus latency models fitted to latencies by load (DLB paper, section 3.3).

``min_θ Σ_b w_b (log ℓ(n_b; θ) − log y_b)² + pull Σ_p (log θ_p − log θ^prior_p)²`` over ``θ = (a, b, k, w) > 0`` with
``a ≥ (1 + δ) bk``: the free minimum, or where that violates the constraint, the minimum on its boundary. Without the constraint
the fitted ``μ = N/ℓ`` need not increase and the gradient cost need not exist (see `lbtheory.fluid.rates.softplus`). Objective,
weights, prior and ``δ`` are ours; the paper says only that a softplus is fitted to exponentially smoothed averages.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lbtheory.core import ParameterError
from lbtheory.fluid.rates import Softplus

Array = np.ndarray

MARGIN = 0.05
"""``δ`` (ours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyFit:
    """A fitted model.

    Attributes
    ----------
    model : Softplus
        With the constraint.
    unconstrained : Softplus
        Without it.
    relative_error : float
        Root of the weighted mean of ``(ℓ(n_b)/y_b − 1)²`` of ``model``.
    """

    model: Softplus
    unconstrained: Softplus
    relative_error: float

    @property
    def ratio(self) -> float:
        """``a/(bk)`` of the free fit: below 1, its ``μ`` does not increase."""
        free = self.unconstrained
        return free.a / (free.b * free.k)


def project(model: Softplus, margin: float = MARGIN) -> Softplus:
    """``k ← min(k, a/(b(1 + δ)))``, so that ``a ≥ (1 + δ) bk``.

    Raises
    ------
    ParameterError
        Unless ``margin`` is finite and ≥ 0.
    """
    if not 0 <= margin < np.inf:
        raise ParameterError(f"`margin` of `project` must be finite and ≥ 0; got {margin!r}.")
    return Softplus(a=model.a, b=model.b, k=min(model.k, model.a / (model.b * (1 + margin))), w=model.w)


def perturb(model: Softplus, factor: float, *, projected: bool = True, margin: float = MARGIN) -> Softplus:
    """``θ → (1 + εξ) θ`` with ``factor = 1 + εξ > 0`` (DLB paper, section 5.4), then projected again unless told otherwise.

    All four parameters are multiplied, so ``a/(bk)`` is divided by the factor: a model with little margin loses it.
    """
    if not 0 < factor < np.inf:
        raise ParameterError(f"`factor` of `perturb` must be positive and finite; got {factor!r}.")
    noisy = Softplus(a=factor * model.a, b=factor * model.b, k=factor * model.k, w=factor * model.w)
    return project(noisy, margin) if projected else noisy


def fit_softplus(
    loads: Any,
    latencies: Any,
    weights: Any = None,
    *,
    prior: Softplus | None = None,
    pull: float = 0.0,
    start: Softplus | None = None,
    margin: float = MARGIN,
) -> LatencyFit:
    """Fit a model to latencies by load; see the module for the problem.

    Parameters
    ----------
    loads : array_like (m,)
        Requests in flight (of a cell, or a replica), > 0.
    latencies : array_like (m,)
        Seconds, > 0.
    weights : array_like (m,), optional
        > 0; 1 by default.
    prior : Softplus, optional
        Needed when ``pull`` is positive.
    pull : float
        ``1/σ²`` of the prior on the logarithms, in units of one sample of weight 1.
    start : Softplus, optional
        Where to start; otherwise several starts are tried and the best is kept.
    margin : float
        ``δ``.

    Raises
    ------
    ParameterError
        Shapes, signs, values that are not finite; no sample and no prior.
    """
    from lbtheory.estimate import _kernels

    n, y = _positive("loads", loads), _positive("latencies", latencies)
    v = np.ones(len(n)) if weights is None else _positive("weights", weights)
    if not len(n) == len(y) == len(v):
        raise ParameterError(
            f"`loads`, `latencies` and `weights` of `fit_softplus` differ in length: {len(n)}, {len(y)}, {len(v)}."
        )
    if not 0 <= pull < np.inf or (pull > 0 and prior is None):
        raise ParameterError(
            f"`pull` of `fit_softplus` must be finite and ≥ 0, and needs a `prior` when positive; got {pull!r}."
        )
    if len(n) == 0 and pull == 0:
        raise ParameterError("`loads` of `fit_softplus` is empty and there is no prior to fall back on. Give samples.")
    toward = np.zeros(4) if prior is None else logarithms(prior)

    def descend(tie: float) -> Softplus:
        def from_start(theta: Array) -> float:
            return float(_kernels.descend(theta, n, np.log(y), v, len(n), toward, float(pull), tie, np.zeros(_kernels.WORK)))

        return _best(_starts(n, y, start, prior), from_start)

    free = model = descend(np.nan)
    if free.a < (1 + margin) * free.b * free.k:
        model = descend(np.log1p(margin))
    model = project(model, margin)
    error = float(np.sqrt(np.sum(v * (model.latency(n) / y - 1) ** 2) / v.sum())) if len(n) else 0.0
    return LatencyFit(model=model, unconstrained=free, relative_error=error)


def logarithms(model: Softplus) -> Array:
    """``log (a, b, k, w)``."""
    return np.log([model.a, model.b, model.k, model.w])


def _best(starts: list[Softplus], descend: Callable[[Array], float]) -> Softplus:
    """The best of the local minima from several starts."""
    tries = [logarithms(start) for start in starts]
    values = [descend(theta) for theta in tries]
    a, b, k, w = np.exp(tries[int(np.argmin(values))])
    return Softplus(a=float(a), b=float(b), k=float(k), w=float(w))


def _positive(name: str, values: Any) -> Array:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1:
        raise ParameterError(f"`{name}` of `fit_softplus` must be one-dimensional; got shape {array.shape}.")
    bad = ~(np.isfinite(array) & (array > 0))
    if bad.any():
        at = int(np.argmax(bad))
        raise ParameterError(f"`{name}` of `fit_softplus` must be positive and finite; got {float(array[at])!r} at index {at}.")
    return array


def _starts(n: Array, y: Array, start: Softplus | None, prior: Softplus | None) -> list[Softplus]:
    if start is not None:
        return [start]
    found = [] if prior is None else [prior]
    if len(n):
        top = int(np.argmax(n))
        slope = float(y[top] / n[top])
        for knee in np.quantile(n, [0.3, 0.6]):
            for width in (0.1, 0.4):
                found.append(Softplus(a=float(y.min()), b=slope, k=float(knee), w=float(width * n[top])))
    return found
