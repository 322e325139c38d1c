"""Global routing between cells as a fluid (DLB paper, sections 2 and 4).

=====================  =================================================================================================
symbol                 meaning (unit), and where it lives
=====================  =================================================================================================
``C = {0, …, n−1}``    cells, `Network.cells`
``s``                  number of sources: every cell, then `Network.sources`; rows of every source-by-cell matrix
``A``                  admissible arcs, directed, `Network.allowed`, `Network.arcs`; ``C⁺(i)``, ``C⁻(j)`` its neighbours
``λ_i``                arrival rate of source ``i`` (requests per second), `Network.arrivals`; ``Λ = Σ_i λ_i``
``Λ_j``                ``Σ_{i ∈ C⁻(j)} λ_i``, `Network.offered`
``τ_ij``               one-way latency (seconds), `Network.latency`; ``τ̄`` its maximum over ``A``
``N_j``                workload of cell ``j``: requests in flight there
``μ_j(N)``             service rate (requests per second), a `RateFamily`; ``μ̄_j = sup μ_j``
``ℓ_j(N)``             ``N/μ_j(N)``, latency of the cell (seconds)
``k_j``                replicas, `Cell.replicas`; divides the RIF cost only
``x_ij``               share of source ``i`` that is routed to cell ``j``; rows sum to 1 (to 0 where ``λ_i = 0``)
``z_j``                ``Σ_i λ_i x_ij``, inflow of a cell (requests per second); at an equilibrium ``μ_j(N_j)``
``f_j``, ``g_ij``      cost of a cell, `CellCost`, and constant of an arc (0 or ``2τ_ij``), `arc_constants`
``c_ij``               ``f_j(N_j) + g_ij``, cost of an arc
``p_j(z)``             ``∫_0^z f_j(μ_j⁻¹(s)) ds``, potential of a cell
``Ψ(x)``               ``Σ_j p_j(z_j) + Σ_ij λ_i g_ij x_ij``, objective of program (12)
=====================  =================================================================================================
"""

from lbtheory.fluid.assumptions import AssumptionReport as AssumptionReport
from lbtheory.fluid.assumptions import Assumptions as Assumptions
from lbtheory.fluid.assumptions import Feasibility as Feasibility
from lbtheory.fluid.assumptions import check_assumptions as check_assumptions
from lbtheory.fluid.assumptions import check_feasibility as check_feasibility
from lbtheory.fluid.assumptions import check_rate as check_rate
from lbtheory.fluid.assumptions import require_feasible as require_feasible
from lbtheory.fluid.costs import COSTS as COSTS
from lbtheory.fluid.costs import CellCost as CellCost
from lbtheory.fluid.costs import arc_constants as arc_constants
from lbtheory.fluid.costs import cell_cost as cell_cost
from lbtheory.fluid.network import Cell as Cell
from lbtheory.fluid.network import Network as Network
from lbtheory.fluid.network import NetworkError as NetworkError
from lbtheory.fluid.network import Source as Source
from lbtheory.fluid.network_file import Initial as Initial
from lbtheory.fluid.network_file import network_to_toml as network_to_toml
from lbtheory.fluid.network_file import read_initial as read_initial
from lbtheory.fluid.network_file import read_network as read_network
from lbtheory.fluid.rates import RateFamily as RateFamily
from lbtheory.fluid.rates import make_rate as make_rate
from lbtheory.fluid.region_latency import RegionLatency as RegionLatency
from lbtheory.fluid.region_latency import network_from_latency as network_from_latency
from lbtheory.fluid.region_latency import read_region_latency as read_region_latency
