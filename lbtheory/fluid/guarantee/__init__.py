"""What is guaranteed of flow routing under delay (DLB paper, section 4.1, appendix C.3): constants and measured left sides.

=================  =======================================================================================================
symbol             meaning (unit), and where it lives
=================  =======================================================================================================
``N*, μ*, f*``     workloads, rates and costs at the equilibrium, `Gaps`
``δ_ij``           ``c*_ij − c_i``, reduced cost of an arc, `Gaps.excess`
``D_j``, ``S_i``   workload gap and routing gap, `Gaps.workload_gap`, `Gaps.excess`
``Φ``, ``V``       Lyapunov functions of workloads and of routing, `Gaps.potential`, `Gaps.distance`
``N̄_j, h_j, ρ_j``  thresholds, `Thresholds`
``η_0, G_1, K``    of Theorem 1, `Theorem1`; of Theorem 1b, `Bounded`
``η_2``            of Theorem 2, `Theorem2`: exact convergence
``η_S3``           of Theorem 3, `Theorem3`: all arcs tie
=================  =======================================================================================================

The theorems know no trajectory; `measure` alone takes one, from `lbtheory.fluid.dynamics`.
"""

from lbtheory.fluid.guarantee.gaps import Gaps as Gaps
from lbtheory.fluid.guarantee.gaps import Start as Start
from lbtheory.fluid.guarantee.gaps import gaps as gaps
from lbtheory.fluid.guarantee.gaps import start_at as start_at
from lbtheory.fluid.guarantee.measure import Measured as Measured
from lbtheory.fluid.guarantee.measure import measure as measure
from lbtheory.fluid.guarantee.measure import measure_upto as measure_upto
from lbtheory.fluid.guarantee.regret import regret_margin as regret_margin
from lbtheory.fluid.guarantee.report import Guarantee as Guarantee
from lbtheory.fluid.guarantee.report import failed_assumptions as failed_assumptions
from lbtheory.fluid.guarantee.report import guarantee as guarantee
from lbtheory.fluid.guarantee.schedule import Schedule as Schedule
from lbtheory.fluid.guarantee.schedule import schedule as schedule
from lbtheory.fluid.guarantee.theorems import Bounded as Bounded
from lbtheory.fluid.guarantee.theorems import Theorem1 as Theorem1
from lbtheory.fluid.guarantee.theorems import Theorem2 as Theorem2
from lbtheory.fluid.guarantee.theorems import Theorem3 as Theorem3
from lbtheory.fluid.guarantee.theorems import bounded as bounded
from lbtheory.fluid.guarantee.theorems import largest_workloads as largest_workloads
from lbtheory.fluid.guarantee.theorems import theorem1 as theorem1
from lbtheory.fluid.guarantee.theorems import theorem2 as theorem2
from lbtheory.fluid.guarantee.theorems import theorem3 as theorem3
from lbtheory.fluid.guarantee.thresholds import OURS as OURS
from lbtheory.fluid.guarantee.thresholds import PAPER as PAPER
from lbtheory.fluid.guarantee.thresholds import Thresholds as Thresholds
from lbtheory.fluid.guarantee.thresholds import thresholds as thresholds
