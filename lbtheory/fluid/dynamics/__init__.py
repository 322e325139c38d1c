"""Trajectories of the fluid model under network delay (DLB paper, section 4), and what they show.

=================  =============================================================================================
symbol             meaning (unit)
=================  =============================================================================================
``N_j(t)``         workload of cell ``j``: requests in flight
``x_ij(t)``        share of source ``i`` that is routed to cell ``j``
``τ_ij``, ``τ̄``    one-way latency (seconds), and the longest
``ĉ_ij(t)``        ``f_j(N_j(t−τ_ij)) + g_ij``, cost that source ``i`` observes
``η_i``            stepsize of the routing flow
``δ``              seconds between two updates
``s_j(t)``         share of a cell's capacity in service
``T(x)``           tangent cone of the simplex: ``Σ u = 0``, ``u_j ≥ 0`` where ``x_j = 0``
``D_j``            ``(f_j(N_j) − f*_j)(μ_j(N_j) − μ*_j)``, workload gap
``S_i``            ``Σ_j (c*_ij − c_i) x_ij``, routing gap
``V``, ``Φ``       parts of the Lyapunov function, see `diagnostics`
=================  =============================================================================================
"""

from lbtheory.fluid.dynamics.conservation import mass_residual as mass_residual
from lbtheory.fluid.dynamics.diagnostics import Diagnostics as Diagnostics
from lbtheory.fluid.dynamics.diagnostics import Oscillation as Oscillation
from lbtheory.fluid.dynamics.diagnostics import diagnose as diagnose
from lbtheory.fluid.dynamics.diagnostics import distance as distance
from lbtheory.fluid.dynamics.diagnostics import oscillation as oscillation
from lbtheory.fluid.dynamics.general import DelaySolution as DelaySolution
from lbtheory.fluid.dynamics.general import solve_dde as solve_dde
from lbtheory.fluid.dynamics.lyapunov import Lyapunov as Lyapunov
from lbtheory.fluid.dynamics.lyapunov import lyapunov as lyapunov
from lbtheory.fluid.dynamics.projection import simplex_projection as simplex_projection
from lbtheory.fluid.dynamics.projection import tangent_projection as tangent_projection
from lbtheory.fluid.dynamics.result import ROUTINGS as ROUTINGS
from lbtheory.fluid.dynamics.result import Trajectory as Trajectory
from lbtheory.fluid.dynamics.setting import burst as burst
from lbtheory.fluid.dynamics.setting import daily_arrivals as daily_arrivals
from lbtheory.fluid.dynamics.setting import outage as outage
from lbtheory.fluid.dynamics.signals import Signal as Signal
from lbtheory.fluid.dynamics.simulate import simulate as simulate
