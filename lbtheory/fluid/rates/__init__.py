"""Service-rate families, one a file, and their registry; `base` is the contract."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.fluid.rates.base import COSTS as COSTS
from lbtheory.fluid.rates.base import CostShape as CostShape
from lbtheory.fluid.rates.base import RateFamily as RateFamily
from lbtheory.fluid.rates.base import RateShape as RateShape
from lbtheory.fluid.rates.base import check_cost as check_cost
from lbtheory.fluid.rates.capped_linear import CappedLinear as CappedLinear
from lbtheory.fluid.rates.exponential import Exponential as Exponential
from lbtheory.fluid.rates.hill import Hill as Hill
from lbtheory.fluid.rates.mm1 import MM1 as MM1
from lbtheory.fluid.rates.mmc import MMC as MMC
from lbtheory.fluid.rates.smooth_min import SmoothMin as SmoothMin
from lbtheory.fluid.rates.softplus import Softplus as Softplus
from lbtheory.fluid.rates.table import Table as Table

FAMILIES: dict[str, type[RateFamily]] = {
    made.family: made for made in (MM1, SmoothMin, Exponential, Hill, MMC, Softplus, CappedLinear, Table)
}
"""By the names that files use."""


def make_rate(parameters: Mapping[str, Any]) -> RateFamily:
    """A rate from ``{"family": name, …}``; `RateFamily.parameters` is its inverse.

    Raises
    ------
    UnknownNameError
        For a family or a parameter that does not exist, with the nearest that does.
    ParameterError
        For a parameter that is missing or out of its range.
    """
    if not isinstance(parameters, Mapping) or "family" not in parameters:
        raise ParameterError(
            f'`parameters` of `make_rate` must be a table with the key "family"; got {parameters!r}. '
            f"Families: {', '.join(sorted(FAMILIES))}."
        )
    family = parameters["family"]
    if not isinstance(family, str) or family not in FAMILIES:
        raise UnknownNameError("rate family", str(family), FAMILIES)
    given = {name: value for name, value in parameters.items() if name != "family"}
    known = [field.name for field in fields(FAMILIES[family])]  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            raise UnknownNameError(f"parameter of the rate family {family!r}", str(name), known)
    needed = [field.name for field in fields(FAMILIES[family]) if field.default is MISSING]  # type: ignore[arg-type]
    if missing := [name for name in needed if name not in given]:
        raise ParameterError(
            f"`parameters` of the rate family {family!r} must have {', '.join(needed)}; missing: {', '.join(missing)}."
        )
    return FAMILIES[family](**given)
