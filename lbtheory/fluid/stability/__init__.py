"""Local stability of flow routing under delay: linearisation, characteristic roots, critical stepsize (ours).

=============  ===========================================================================================================
symbol         meaning (unit), and where it lives
=============  ===========================================================================================================
``A_i``        cells that source ``i`` sends flow to at the equilibrium, `Linearisation.active`
``a_j, b_j``   ``μ_j'(N*_j)`` (per second) and ``f_j'(N*_j)``, `Linearisation.service_slope`, `Linearisation.cost_slope`
``η_i``        stepsize of a source; ``η_c`` critical, ``η_S`` sufficient by condition (S), `Critical`
``χ(s)``       characteristic function; its zeros are the roots, `DelaySystem`, `Roots`
``q``          neutral directions of the routing: roots at 0, `Linearisation.neutral`
``κ``          ``ηΛbτ/a``, dimensionless gain of a symmetric network; critical between ``½`` and ``π/4``
=============  ===========================================================================================================
"""

from lbtheory.fluid.stability.critical import Critical as Critical
from lbtheory.fluid.stability.critical import characteristic_roots as characteristic_roots
from lbtheory.fluid.stability.critical import critical_stepsize as critical_stepsize
from lbtheory.fluid.stability.critical import is_stable as is_stable
from lbtheory.fluid.stability.critical import sharpness as sharpness
from lbtheory.fluid.stability.critical import sufficient_stepsize as sufficient_stepsize
from lbtheory.fluid.stability.critical import symmetric_critical as symmetric_critical
from lbtheory.fluid.stability.delay_system import DelaySystem as DelaySystem
from lbtheory.fluid.stability.delay_system import Roots as Roots
from lbtheory.fluid.stability.delay_system import count_unstable as count_unstable
from lbtheory.fluid.stability.delay_system import rightmost as rightmost
from lbtheory.fluid.stability.linearisation import DegenerateError as DegenerateError
from lbtheory.fluid.stability.linearisation import Linearisation as Linearisation
from lbtheory.fluid.stability.linearisation import linearise as linearise
from lbtheory.fluid.stability.maps import StabilityMap as StabilityMap
from lbtheory.fluid.stability.maps import scaled as scaled
from lbtheory.fluid.stability.maps import stability_map as stability_map
