"""Price of anarchy of the three costs, and the bound that no routing beats (DLB paper, section 3.3)."""

from collections.abc import Mapping
from dataclasses import dataclass

from lbtheory.core import ParameterError
from lbtheory.fluid.equilibrium.result import Equilibrium
from lbtheory.fluid.equilibrium.solve import equilibrium
from lbtheory.fluid.network import Network
from lbtheory.fluid.rates import COSTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Anarchy:
    """Equilibria of all costs and how much each wastes.

    Attributes
    ----------
    equilibria : mapping of str to Equilibrium
    price : mapping of str to float
        ``C(x^cost)/C(x^gradient)``, requests in flight over the least possible; 1 without arrivals.
    """

    equilibria: Mapping[str, Equilibrium]
    price: Mapping[str, float]


def price_of_anarchy(network: Network, *, method: str = "fast", tolerance: float | None = None) -> Anarchy:
    """All three equilibria and their prices of anarchy.

    Raises
    ------
    ParameterError
        Some cell's gradient cost does not increase: its equilibrium need not be the optimum.
    InfeasibleError
    """
    for cell in network.cells:
        shape = cell.rate.cost_shape("gradient")
        if not shape.increasing:
            raise ParameterError(
                f"cell {cell.name!r} must have an increasing marginal cost for a price of anarchy; {shape.why} "
                "Use another rate family, or fit one with a > b k."
            )
    found = {cost: equilibrium(network, cost, method=method, tolerance=tolerance) for cost in COSTS}
    best = found["gradient"].in_flight
    return Anarchy(equilibria=found, price={cost: one.in_flight / best if best > 0 else 1.0 for cost, one in found.items()})
