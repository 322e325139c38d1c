"""Conservation of requests along a trajectory, checked on its dense output and not by the sums that made it."""

import numpy as np

from lbtheory.fluid.dynamics.result import Trajectory

Array = np.ndarray

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(4)


def mass_residual(of: Trajectory) -> float:
    """``max_j |N_j(T) − N_j(0) − ∫_0^T Σ_i λ_i x_ij(t−τ_ij) dt + ∫_0^T s_j μ_j(N_j/s_j) dt|``, requests.

    Both integrals by Gauss–Legendre quadrature on every stored step, from the interpolated routing and workloads; 0 up to the
    accuracy of that interpolation.
    """
    source, cell = of.network.arcs
    tau = of.network.latency[source, cell]
    residual = of.workloads[-1] - of.workloads[0]
    for a in range(source.size):
        first, last = -tau[a], of.end - tau[a]
        inner = np.concatenate([of.times, of.routing_history.jumps, of.arrivals.jumps])
        nodes = np.unique(np.r_[first, inner[(inner > first) & (inner < last)], 0.0 if first < 0 < last else last, last])
        t, weights = _quadrature(nodes)
        residual[cell[a]] -= weights @ (of.arrivals(t)[:, source[a]] * of.shares_at(t)[:, a])
    jumps = of.capacity.jumps
    t, weights = _quadrature(np.unique(np.r_[of.times, jumps[(jumps > 0) & (jumps < of.end)]]))
    loads, share = of.workloads_at(t), of.capacity(t)
    for j, one in enumerate(of.network.cells):
        residual[j] += weights @ (share[:, j] * one.rate.rate(loads[:, j] / share[:, j]))
    return float(np.abs(residual).max())


def _quadrature(nodes: Array) -> tuple[Array, Array]:
    """Points and weights on every interval between nodes."""
    half = np.diff(nodes)[:, None] / 2
    return (nodes[:-1, None] + half * (1 + POINTS)).ravel(), (half * WEIGHTS).ravel()
