"""From gaps to latency: the regret against the optimum of program (12) (ours, proved).

The regret of a trajectory over ``[0, T]`` is ``(1/T)∫[Σ_j p_j(μ_j(N_j)) + Σ_ij λ_i g_ij x_ij] dt − Ψ*``; with the gradient
cost it is ``Λ`` times the time-average latency less its optimum. ``p_j`` is convex with slope ``f_j(N)`` at ``μ_j(N)``, so

- corollary: ``p_j(μ_j) − p_j(μ*_j) ≤ f_j(N)(μ_j − μ*_j) = D_j + f*_j(μ_j − μ*_j)``, and the flow balance turns the second
  term into ``Σ_i λ_i (x_ij(t−τ_ij) − x*_ij)`` less the change of the workload; a shift in time costs at most ``τ_ij``: regret
  ``≤ (1/T)∫(Σ_j D_j + Σ_i λ_i S_i) dt + (1/T) Σ_j f*_j (N_j(0) − N_j(T) + Σ_i λ_i τ_ij)``;
- lower bound, of every measurable routing: ``p_j(μ_j) − p_j(μ*_j) ≥ f*_j(μ_j − μ*_j)`` gives
  regret ``≥ −(1/T) Σ_j f*_j (N_j(T) − N_j(0) + Σ_i λ_i τ_ij)``.
"""

import numpy as np

from lbtheory.fluid.guarantee.gaps import Gaps

Array = np.ndarray


def regret_margin(of: Gaps, horizon: float, first: Array, last: Array | None = None) -> float:
    """``(1/T) Σ_j f*_j (N_j(0) − N_j(T) + Σ_i λ_i τ_ij)``, what the corollary adds to a bound of the gaps.

    Without ``last``, ``N(T)`` is taken as 0, which is what is known a priori.
    """
    end = np.zeros(len(of.costs)) if last is None else last
    return float(of.values @ (first - end + of.arrivals @ of.latency)) / horizon


def regret_floor(of: Gaps, horizon: float, first: Array, last: Array) -> float:
    """``−(1/T) Σ_j f*_j (N_j(T) − N_j(0) + Σ_i λ_i τ_ij)``: no routing has a smaller regret."""
    return -float(of.values @ (last - first + of.arrivals @ of.latency)) / horizon
