"""Wardrop, system-optimal and RIF equilibria with certificates (DLB paper, section 3)."""

from lbtheory.fluid.equilibrium.anarchy import Anarchy as Anarchy
from lbtheory.fluid.equilibrium.anarchy import in_flight_range as in_flight_range
from lbtheory.fluid.equilibrium.anarchy import price_of_anarchy as price_of_anarchy
from lbtheory.fluid.equilibrium.result import Equilibrium as Equilibrium
from lbtheory.fluid.equilibrium.result import measured as measured
from lbtheory.fluid.equilibrium.sensitivity import Sensitivity as Sensitivity
from lbtheory.fluid.equilibrium.sensitivity import sensitivity as sensitivity
from lbtheory.fluid.equilibrium.solve import METHODS as METHODS
from lbtheory.fluid.equilibrium.solve import TOLERANCE as TOLERANCE
from lbtheory.fluid.equilibrium.solve import equilibrium as equilibrium
from lbtheory.fluid.equilibrium.support import reduced_costs as reduced_costs
from lbtheory.fluid.equilibrium.support import without_traces as without_traces
from lbtheory.fluid.equilibrium.uniqueness import Uniqueness as Uniqueness
from lbtheory.fluid.equilibrium.uniqueness import check_uniqueness as check_uniqueness
