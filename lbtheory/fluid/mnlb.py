"""MNLB, the centralised balancer that DLB replaces: least network latency subject to capacities (DLB paper, section 6)."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from lbtheory.core import InfeasibleError, ParameterError, readonly

Array = np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights of MNLB with the duals that prove them.

    Attributes
    ----------
    weights : float array (s, n)
        ``w_ij``, rows sum to 1; a source without arrivals is served locally where it may be.
    cost : float
        ``Σ λ_i τ_ij w_ij``, requests in flight on the network (in the unit of ``latency``).
    mean_latency : float
        ``cost/Σ λ_i``.
    capacity_duals : float array (n,)
        ``∂cost/∂capacity``, at most 0.
    source_duals : float array (s,)
        ``∂cost/∂λ_i``.
    duality_gap : float
        ``|primal − dual|`` over the larger.
    """

    weights: Array
    cost: float
    mean_latency: float
    capacity_duals: Array
    source_duals: Array
    duality_gap: float


def mnlb_weights(arrivals: Array, capacities: Array, latency: Array, allowed: Array | None = None) -> Weights:
    """Minimise ``Σ λ_i τ_ij w_ij`` subject to ``Σ_i λ_i w_ij ≤ capacity_j``; ties: lexicographically smallest ``w``.

    Parameters
    ----------
    arrivals : array_like (s,)
        ``λ``, requests per second, ≥ 0.
    capacities : array_like (n,)
        Requests per second, ≥ 0.
    latency : array_like (s, n)
        Finite on admissible arcs, any unit.
    allowed : array_like of bool (s, n), optional
        By default the arcs of finite latency.

    Raises
    ------
    ParameterError
        Shapes, signs, NaN.
    InfeasibleError
        No weights serve all arrivals.
    """
    rate, cap, tau = (np.asarray(values, float) for values in (arrivals, capacities, latency))
    mask = np.isfinite(tau) if allowed is None else np.asarray(allowed, bool)
    if tau.ndim != 2 or rate.shape != tau.shape[:1] or cap.shape != tau.shape[1:] or mask.shape != tau.shape:
        raise ParameterError(
            "`latency` of `mnlb_weights` must have a row a source and a column a cell; "
            f"got shapes {tau.shape}, {rate.shape}, {cap.shape}."
        )
    if not (np.all(rate >= 0) and np.all(cap >= 0) and np.isfinite(rate).all() and np.isfinite(cap).all()):
        raise ParameterError("`arrivals` and `capacities` of `mnlb_weights` must be finite and ≥ 0.")
    if np.isnan(tau).any() or np.isinf(tau[mask]).any():
        raise ParameterError("`latency` of `mnlb_weights` must be finite on admissible arcs, inf elsewhere.")
    s, n = tau.shape
    at, to = np.nonzero(mask & (rate > 0)[:, None])
    if len(set(at.tolist())) < int((rate > 0).sum()):
        raise InfeasibleError("a source with arrivals has no admissible cell. Allow an arc, or set its arrival rate to 0.")
    weights = np.zeros((s, n))
    for i in np.nonzero(rate == 0)[0]:
        choices = np.nonzero(mask[i])[0]
        if len(choices):
            weights[i, choices[np.argmin(tau[i, choices])]] = 1.0
    if not len(at):
        zero = readonly(np.zeros(n)), readonly(np.zeros(s))
        return Weights(
            weights=readonly(weights), cost=0.0, mean_latency=0.0, capacity_duals=zero[0], source_duals=zero[1], duality_gap=0.0
        )
    rows, columns = np.zeros((s, len(at))), np.zeros((n, len(at)))
    rows[at, np.arange(len(at))] = 1
    columns[to, np.arange(len(at))] = 1
    live = rate > 0
    answer = linprog(tau[at, to], A_ub=columns, b_ub=cap, A_eq=rows[live], b_eq=rate[live], bounds=(0, None), method="highs")
    if answer.status == 2:
        raise InfeasibleError(
            f"capacities of {cap.sum():g} requests per second cannot serve arrivals of {rate.sum():g} on the admissible arcs. "
            "Add capacity or arcs, or lower the arrivals."
        )
    flows = _smallest(answer.x, answer.fun, tau[at, to], columns, cap, rows[live], rate[live])
    weights[at, to] = flows / rate[at]
    duals = np.zeros(s)
    duals[live] = answer.eqlin.marginals
    capacity_duals = answer.ineqlin.marginals
    dual = float(rate @ duals + cap @ capacity_duals)
    return Weights(
        weights=readonly(weights),
        cost=float(answer.fun),
        mean_latency=float(answer.fun) / float(rate.sum()),
        capacity_duals=readonly(capacity_duals),
        source_duals=readonly(duals),
        duality_gap=abs(dual - answer.fun) / max(abs(dual), abs(answer.fun), 1e-300),
    )


def _smallest(found: Array, value: float, cost: Array, columns: Array, cap: Array, rows: Array, rate: Array) -> Array:
    """Lexicographically smallest flows among the optimal ones; arcs are by source, then cell."""
    slack = 1e-9 * max(abs(value), 1.0)
    low, high = np.zeros(len(found)), np.full(len(found), np.inf)
    for arc in range(len(found)):
        goal = np.zeros(len(found))
        goal[arc] = 1.0
        answer = linprog(
            goal,
            A_ub=np.vstack([columns, cost]),
            b_ub=np.append(cap, value + slack),
            A_eq=rows,
            b_eq=rate,
            bounds=np.column_stack([low, high]),
            method="highs",
        )
        if answer.status != 0:
            return found
        least = max(float(answer.x[arc]), 0.0)
        low[arc], high[arc] = max(least - 1e-12, 0.0), least + 1e-12
        found = answer.x
    return np.maximum(found, 0.0)
