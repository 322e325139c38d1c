"""Left sides of the theorems, measured on a trajectory: integrals of the gaps, and the regret with its bounds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.integrate import simpson

from lbtheory.core import ParameterError, readonly
from lbtheory.fluid.dynamics import Trajectory, diagnose
from lbtheory.fluid.guarantee.gaps import Gaps

Array = np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Gaps along a trajectory on ``[0, T]``; see `lbtheory.fluid.dynamics.diagnose`.

    Attributes
    ----------
    horizon : float
        ``T``, seconds.
    workload_gap, routing_gap : float
        ``∫ Σ_j D_j dt`` and ``∫ Σ_i λ_i S_i dt``.
    regret, regret_lower, regret_upper : float
        Over ``[0, T]`` and its bounds with the measured gaps, per second.
    error : float
        Change of ``left`` by Simpson's rule on every second node: an upper estimate of the error of the integrals. What the
        trajectory itself is off, see its ``error_estimate``, is not in it.
    largest : float array (n,)
        ``max_t N_j`` at the nodes.
    last : float array (n,)
        ``N(T)``.
    """

    horizon: float
    workload_gap: float
    routing_gap: float
    regret: float
    regret_lower: float
    regret_upper: float
    error: float
    largest: Array
    last: Array

    @property
    def left(self) -> float:
        """``(1/T)∫(Σ_j D_j + 2Σ_i λ_i S_i) dt``, of Theorem 1."""
        return (self.workload_gap + 2 * self.routing_gap) / self.horizon

    @property
    def left_bounded(self) -> float:
        """``(1/T)∫(Σ_j D_j + Σ_i λ_i S_i) dt``, of Theorem 1b and the corollary."""
        return (self.workload_gap + self.routing_gap) / self.horizon


def measure(of: Gaps, run: Trajectory) -> Measured:
    """Measure a whole trajectory; see `measure_upto`."""
    return measure_upto(of, run, [run.end])[0]


def measure_upto(of: Gaps, run: Trajectory, horizons: Sequence[float]) -> list[Measured]:
    """Measure a trajectory on ``[0, T]`` by Simpson's rule on its steps.

    Parameters
    ----------
    of : Gaps
        Of the network and cost of the trajectory.
    run : Trajectory
    horizons : sequence of float
        Each ``T``, which is rounded down to a node.

    Raises
    ------
    ParameterError
        See `lbtheory.fluid.dynamics.diagnose`; a horizon before the first step's end or after the end.
    """
    shown = diagnose(run, of.equilibrium)
    both = shown.workload_gap + 2 * shown.routing_gap
    made = []
    for wanted in horizons:
        if not run.times[1] <= wanted * (1 + 1e-12) <= run.end * (1 + 1e-9):
            raise ParameterError(
                f"`horizons` of `measure_upto` must be between {run.times[1]:g} and {run.end:g} s; got {wanted!r}."
            )
        k = int(np.searchsorted(run.times, wanted * (1 + 1e-12), side="right")) - 1
        T = float(run.times[k])
        left = float(shown.mean_workload_gap[k] + 2 * shown.mean_routing_gap[k])
        coarse = float(simpson(both[: k + 1], x=run.times[: k + 1])) / T
        made.append(
            Measured(
                horizon=T,
                workload_gap=float(shown.mean_workload_gap[k]) * T,
                routing_gap=float(shown.mean_routing_gap[k]) * T,
                regret=float(shown.regret[k]),
                regret_lower=float(shown.regret_lower[k]),
                regret_upper=float(shown.regret_upper[k]),
                error=abs(left - coarse),
                largest=readonly(run.workloads[: k + 1].max(axis=0)),
                last=readonly(run.workloads[k]),
            )
        )
    return made
