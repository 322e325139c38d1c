"""The flow equations linearised as they stand, workloads and routing in one first-order system."""

import numpy as np
from scipy.linalg import null_space

from lbtheory.fluid.stability import DelaySystem, Linearisation

Array = np.ndarray


def first_order_system(of: Linearisation, eta: float) -> DelaySystem:
    """``(n, ξ)`` with ``ξ_i`` in an orthonormal basis of the zero-sum vectors on ``A_i``: ``q`` roots at 0."""
    n = len(of.service_slope)
    bases = {int(i): null_space(np.ones((1, int(of.active[i].sum())))) for i in of.splits}
    size = n + sum(basis.shape[1] for basis in bases.values())
    terms: dict[float, Array] = {0.0: np.zeros((size, size))}
    terms[0.0][:n, :n] = -np.diag(of.service_slope)
    at = n
    for i, basis in bases.items():
        end = at + basis.shape[1]
        for row, j in zip(basis, np.nonzero(of.active[i])[0], strict=True):
            matrix = terms.setdefault(float(of.latency[i, j]), np.zeros((size, size)))
            matrix[j, at:end] += of.arrivals[i] * row
            matrix[at:end, j] -= eta * of.cost_slope[j] * row
        at = end
    return DelaySystem(delays=list(terms), matrices=np.array(list(terms.values())), zeros=of.neutral)
