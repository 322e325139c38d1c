"""Flow routing linearised at an equilibrium (ours; local, so that clipping at the faces of the simplex does not act).

With strict complementarity let ``A_i = {j: x*_ij > 0}``, ``a_j = μ_j'(N*_j)``, ``b_j = f_j'(N*_j)``. Deviations obey ``n_j' =
−a_j n_j + Σ_i λ_i ξ_ij(t−τ_ij)`` and ``ξ_i' = −η_i P_i (b_j n_j(t−τ_ij))_j``, ``P_i = I − 11ᵀ/|A_i|`` on ``A_i``; arcs
outside stay at 0. A derivative of the first with the second in it leaves the workloads alone,

    ``n_j'' = −a_j n_j' − Σ_i λ_i η_i Σ_{k∈A_i} (P_i)_jk b_k n_k(t − τ_ij − τ_ik)``,

whose characteristic function is ``χ(s) = det[diag(s(s+a_j)) + Σ_i λ_i η_i E_i P_i E_i diag(b)]``, ``E_i = diag(e^{−sτ_ij})``.
At ``s = 0`` it has a zero of order ``n − rank B``, the number of components of the graph of arcs with flow; the flow
equations themselves have ``q = dim{ξ: Σ_j ξ_ij = 0, Σ_i λ_i ξ_ij = 0}`` zeros there, the neutral directions in which routing
moves and no workload does.
"""

from dataclasses import dataclass

import numpy as np

from lbtheory.core import ParameterError, readonly
from lbtheory.fluid.equilibrium import Equilibrium, check_uniqueness, reduced_costs, without_traces
from lbtheory.fluid.network import Network
from lbtheory.fluid.stability.delay_system import DelaySystem

Array = np.ndarray

TRACE = 1e-6
"""Share of a tied arc below which the equilibrium is too near to a face: what is linear there is smaller still."""


class DegenerateError(ParameterError):
    """An arc with next to no flow ties: the flow equations have no linearisation there."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linearisation:
    """What the characteristic equation needs.

    Attributes
    ----------
    service_slope, cost_slope : float arrays (n,)
        ``a_j`` (per second), ``b_j``.
    arrivals : float array (s,)
        ``λ_i``.
    latency : float array (s, n)
        ``τ_ij``, seconds; 0 off the active arcs.
    active : bool array (s, n)
        ``A_i``: arcs with flow.
    neutral : int
        ``q``.
    components : int
        Components of the graph of active arcs: order of the zero of ``χ`` at 0.
    """

    service_slope: Array
    cost_slope: Array
    arrivals: Array
    latency: Array
    active: Array
    neutral: int
    components: int

    @property
    def splits(self) -> Array:
        """Sources with ``|A_i| ≥ 2``, the only ones that adapt; int array."""
        return readonly(np.nonzero(self.active.sum(axis=1) >= 2)[0])

    def system(self, eta: Array | float) -> DelaySystem:
        """The delay system of ``(n, n'/σ)`` over cells with flow at stepsizes ``η_i``, ``σ² = ‖Σ_i λ_i η_i P_i diag(b)‖``.

        Cells without flow relax by themselves and are left out.
        """
        steps = stepsizes("eta", "Linearisation.system", eta, len(self.arrivals))
        loaded = np.nonzero(self.active.any(axis=0))[0]
        n = len(loaded)
        terms: dict[float, Array] = {}
        for i in self.splits:
            places = np.nonzero(self.active[i, loaded])[0]
            cells = loaded[places]
            gain = -self.arrivals[i] * steps[i] * (np.eye(len(cells)) - 1 / len(cells)) * self.cost_slope[cells]
            delays = self.latency[i, cells][:, None] + self.latency[i, cells]
            for row, column in np.ndindex(gain.shape):
                matrix = terms.setdefault(float(delays[row, column]), np.zeros((n, n)))
                matrix[places[row], places[column]] += gain[row, column]
        size = float(np.linalg.norm(sum(terms.values(), np.zeros((n, n)))))
        unit = np.sqrt(size) if size > 0 else 1.0
        now = np.zeros((2 * n, 2 * n))
        now[:n, n:] = unit * np.eye(n)
        now[n:, n:] = -np.diag(self.service_slope[loaded])
        matrices = [now]
        for matrix in terms.values():
            lifted = np.zeros((2 * n, 2 * n))
            lifted[n:, :n] = matrix / unit
            matrices.append(lifted)
        return DelaySystem(delays=np.array([0.0, *terms]), matrices=np.array(matrices), zeros=self.components)


def linearise(network: Network, found: Equilibrium) -> Linearisation:
    """Linearise flow routing at an equilibrium.

    Raises
    ------
    DegenerateError
        A tied arc carries less than `TRACE`.
    ParameterError
        A slope is 0, negative or infinite there (a rate or cost that is not strictly increasing).
    """
    found = without_traces(network, found)
    costs = network.costs(found.cost)
    active = found.routing > 0
    tied = reduced_costs(network, found)[1] & (found.routing < TRACE)
    for i, j in np.argwhere(tied):
        raise DegenerateError(
            f"`found` of `linearise` must be an equilibrium with strict complementarity; the arc from "
            f"{network.source_names[i]!r} to {network.cell_names[j]!r} carries next to no flow and ties. "
            "Move an arrival rate or a latency a little."
        )
    a = np.array([float(cell.rate.slope(n)) for cell, n in zip(network.cells, found.workloads, strict=True)])
    b = np.array([float(one.slope(n)) for one, n in zip(costs, found.workloads, strict=True)])
    loaded = active.any(axis=0)
    for j in np.nonzero(loaded & ~((a > 0) & (b > 0) & np.isfinite(a) & np.isfinite(b)))[0]:
        raise ParameterError(
            f"slopes of cell {network.cell_names[j]!r} must be positive and finite at the equilibrium; got μ' = {a[j]:g}, "
            f"f' = {b[j]:g} at N = {found.workloads[j]:g}. Use a strictly increasing rate and cost."
        )
    b = np.where(loaded, b, 0.0)
    neutral = check_uniqueness(network, found).neutral_dimension
    splits = int(np.maximum(active.sum(axis=1) - 1, 0).sum())
    return Linearisation(
        service_slope=readonly(a),
        cost_slope=readonly(b),
        arrivals=network.arrivals,
        latency=readonly(np.where(active, network.latency, 0.0)),
        active=readonly(active),
        neutral=neutral,
        components=int(loaded.sum()) - (splits - neutral),
    )


def stepsizes(name: str, function: str, value: Array | float, sources: int) -> Array:
    """``η_i`` of every source; raises `ParameterError` unless positive and finite, one or one a source."""
    try:
        steps = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ParameterError(f"`{name}` of `{function}` must be a positive number, or one a source; got {value!r}.") from None
    if steps.shape not in ((), (sources,)) or not (np.isfinite(steps).all() and (steps > 0).all()):
        raise ParameterError(f"`{name}` of `{function}` must be positive and finite, one or {sources} of them; got {value!r}.")
    return np.broadcast_to(steps, (sources,))
