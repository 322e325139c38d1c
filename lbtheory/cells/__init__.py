"""Cells of disaggregated prefill and decode servers: the discrete-event simulation of global routing (DLB paper, appendix B).

==================  ==========================================================================
symbol              meaning
==================  ==========================================================================
``N_j``             requests in flight (RIF) in the servers of cell ``j``; not on the wire
``R_j``             replicas: servers of cell ``j`` that accept requests
``τ_ij``            one-way latency between root ``i`` and cell ``j``, seconds
``δ_p``, ``δ_u``    period of probes, of flow updates
``x_i``, ``η_i``    routing probabilities of root ``i``, stepsize
``α_ij``, ``e_j``   aversion rate, error rate
``Q``, ``d``        bound of a server's queue, servers a leaf chooses among
``θ_j``             ``(a, b, k, w)``, latency model of one replica
``y``               length scale: token times divided, rates multiplied
==================  ==========================================================================
"""

from lbtheory.cells.demand import Demand as Demand
from lbtheory.cells.engine import ESTIMATE as ESTIMATE
from lbtheory.cells.engine import simulate as simulate
from lbtheory.cells.engine import start_models as start_models
from lbtheory.cells.lengths import TraceLengths as TraceLengths
from lbtheory.cells.parameters import Parameters as Parameters
from lbtheory.cells.policies import ALL_POLICIES as ALL_POLICIES
from lbtheory.cells.policies import PAPER_POLICIES as PAPER_POLICIES
from lbtheory.cells.policies import Policy as Policy
from lbtheory.cells.policies import PolicySchedule as PolicySchedule
from lbtheory.cells.policies import Stage as Stage
from lbtheory.cells.policies import make_policy as make_policy
from lbtheory.cells.policies import make_schedule as make_schedule
from lbtheory.cells.records import CellRun as CellRun
from lbtheory.cells.regions import latency_between as latency_between
from lbtheory.cells.sampler import sample_scenario as sample_scenario
from lbtheory.cells.scenario import CapacityStep as CapacityStep
from lbtheory.cells.scenario import CellSpec as CellSpec
from lbtheory.cells.scenario import Event as Event
from lbtheory.cells.scenario import Scenario as Scenario
from lbtheory.cells.scenario import TokenLaw as TokenLaw
from lbtheory.cells.sessions import Sessions as Sessions
from lbtheory.cells.sessions import with_sessions as with_sessions
from lbtheory.cells.stream import CellStream as CellStream
from lbtheory.cells.stream import cell_stream as cell_stream
from lbtheory.cells.stream import draw_stream as draw_stream
