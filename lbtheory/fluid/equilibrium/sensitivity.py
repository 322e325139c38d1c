"""How an equilibrium moves with arrival rates and capacities: implicit derivatives of the KKT system (ours)."""

from dataclasses import dataclass

import numpy as np

from lbtheory.core import readonly
from lbtheory.fluid.costs import arc_constants
from lbtheory.fluid.equilibrium.result import Equilibrium
from lbtheory.fluid.network import Network

Array = np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """Derivatives of workloads, multipliers and the total in flight; they hold while the set of arcs with flow stays.

    Attributes
    ----------
    workloads_by_arrival : float array (n, s)
        ``∂N_j/∂λ_i``, seconds.
    workloads_by_capacity : float array (n, n)
        ``∂N_j/∂κ_k``, ``κ_k`` a factor on the rate of cell ``k`` (``μ → κ μ``), requests.
    multipliers_by_arrival, multipliers_by_capacity : float arrays (s, s), (s, n)
        ``∂c_i/∂λ_k``, ``∂c_i/∂κ_k``.
    in_flight_by_arrival, in_flight_by_capacity : float arrays (s,), (n,)
        Of ``Σ N + Σ 2τ y``. For the gradient cost the first is the multiplier itself (envelope theorem).
    """

    workloads_by_arrival: Array
    workloads_by_capacity: Array
    multipliers_by_arrival: Array
    multipliers_by_capacity: Array
    in_flight_by_arrival: Array
    in_flight_by_capacity: Array


def sensitivity(network: Network, found: Equilibrium) -> Sensitivity:
    """Differentiate ``p'_j(z_j) + g_ij = c_i`` on arcs with flow and ``Σ_j y_ij = λ_i`` (least-norm in neutral directions).

    A factor ``κ`` on a rate changes ``p'(z)`` to ``p'(z/κ)/κ`` (latency, gradient) or ``p'(z/κ)`` (RIF), and ``N`` to
    ``μ⁻¹(z/κ)``.
    """
    arrivals, n, sources = network.arrivals, len(network.cells), len(network.arrivals)
    at, to = np.nonzero(found.routing > 0)
    costs = network.costs(found.cost)
    inside = zip(costs, found.inflow, strict=True)
    slope, curve = np.array([(float(c.potential_slope(z)), float(c.potential_curvature(z))) for c, z in inside]).T
    by_factor = -found.inflow * curve - (0.0 if found.cost == "rif" else slope)
    arcs = len(at)
    system = np.zeros((arcs + sources, arcs + sources))
    for place, (i, j) in enumerate(zip(at, to, strict=True)):
        system[place, :arcs] = curve[j] * (to == j)
        system[place, arcs + i] = -1.0
        system[arcs + i, place] = 1.0
    for i in np.nonzero(arrivals == 0)[0]:
        system[arcs + i, arcs + i] = 1.0
    right = np.zeros((arcs + sources, sources + n))
    right[arcs + np.arange(sources), np.arange(sources)] = arrivals > 0
    for place, j in enumerate(to):
        right[place, sources + j] = -by_factor[j]
    answer = np.linalg.lstsq(system, right, rcond=None)[0]
    flows, multipliers = answer[:arcs], answer[arcs:]
    inflow = np.zeros((n, sources + n))
    np.add.at(inflow, to, flows)
    marginal = np.array([float(cell.rate.marginal(w)) for cell, w in zip(network.cells, found.workloads, strict=True)])
    workloads = marginal[:, None] * inflow
    workloads[:, sources:] -= np.diag(marginal * found.inflow)
    travel = arc_constants("latency", network.latency)[at, to]
    in_flight = workloads.sum(axis=0) + travel @ flows
    return Sensitivity(
        workloads_by_arrival=readonly(workloads[:, :sources]),
        workloads_by_capacity=readonly(workloads[:, sources:]),
        multipliers_by_arrival=readonly(multipliers[:, :sources]),
        multipliers_by_capacity=readonly(multipliers[:, sources:]),
        in_flight_by_arrival=readonly(in_flight[:sources]),
        in_flight_by_capacity=readonly(in_flight[sources:]),
    )
