"""Stepsize of flow routing: ``η = κ s/Σ_k λ_k max(τ_k^max, floor)`` (ours).

The paper has "inversely proportional to the mean network latency". ``s = min_j μ_j'/f_j'`` at 80 % of capacity (a parameter)
turns the cost into a rate. With this ``η`` the sufficient condition for local stability,
``max_j 2(f_j'/μ_j') Σ_i λ_i η_i τ_i^max < 1``, holds for every ``κ < ½`` at those slopes, whatever the number of cells.
"""

from collections.abc import Sequence

import numpy as np

from lbtheory.cells.parameters import Parameters
from lbtheory.cells.scenario import Scenario
from lbtheory.fluid.rates import Softplus


def slope_ratio(model: Softplus, replicas: int, rate: float, cost: str, load: float = 0.8) -> float:
    """``μ'/f'`` of a cell of ``replicas`` with this model of one replica, where ``μ = load · rate``."""
    target = min(load * rate, 0.99 * model.capacity_limit)
    n = float(model.inverse(target))
    slope = float(model.slope(n))
    if cost == "rif":
        return slope * replicas
    return slope * replicas / float(model.latency_slope(n) if cost == "latency" else model.marginal_slope(n))


def stepsizes(scenario: Scenario, models: Sequence[Softplus], cost: str, parameters: Parameters) -> np.ndarray:
    """``η_i`` of every source, float array (n,); all equal.

    Parameters
    ----------
    scenario : Scenario
    models : sequence of Softplus
        Of one replica of every cell.
    cost : "rif", "latency" or "gradient"
    parameters : Parameters
        ``stepsize_gain`` is ``κ``, ``latency_floor`` the floor, ``stepsize_load`` the share of capacity.
    """
    s = min(
        slope_ratio(model, cell.servers, rate, cost, parameters.stepsize_load)
        for model, cell, rate in zip(models, scenario.cells, scenario.server_rates, strict=True)
    )
    longest = np.where(scenario.allowed, scenario.latency, 0.0).max(axis=1)
    weight = float((scenario.arrivals * np.maximum(longest, parameters.latency_floor)).sum())
    return np.full(len(scenario.cells), parameters.stepsize_gain * s / weight if weight > 0 else 0.0)
