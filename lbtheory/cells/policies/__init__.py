"""Routing policies of the roots, one family a file."""

from lbtheory.cells.policies import clairvoyant, discrete, flow, hot_cold, least_connections, mnlb, power_of_two, random
from lbtheory.cells.policies.base import Policy as Policy
from lbtheory.cells.policies.schedule import PolicySchedule as PolicySchedule
from lbtheory.cells.policies.schedule import Stage as Stage
from lbtheory.cells.policies.schedule import parse_schedule
from lbtheory.core import ParameterError, UnknownNameError

_FAMILIES = (random, mnlb, discrete, flow, least_connections, power_of_two, hot_cold, clairvoyant)
ALL_POLICIES: dict[str, Policy] = {policy.name: policy for family in _FAMILIES for policy in family.POLICIES}
"""Every policy by name."""

PAPER_POLICIES = ("rand", "mnlb", "disc-rif", "disc-lat", "disc-grad", "flow-rif", "flow-lat", "flow-grad")
"""Those that the DLB paper compares."""


def make_policy(name: str) -> Policy:
    """A policy by its name.

    Raises
    ------
    UnknownNameError
        With the nearest name.
    ParameterError
        Not a text.
    """
    if not isinstance(name, str):
        raise ParameterError(f"`name` of `make_policy` must be a text; got {name!r}.")
    if name not in ALL_POLICIES:
        raise UnknownNameError("policy", name, ALL_POLICIES)
    return ALL_POLICIES[name]


def make_schedule(policy: str | Policy | PolicySchedule) -> PolicySchedule:
    """A schedule of policies from what users give: a name, ``mnlb,flow-grad@180+60``, a policy, or a schedule.

    Raises
    ------
    UnknownNameError, ParameterError
    """
    if isinstance(policy, PolicySchedule):
        return policy
    if isinstance(policy, Policy):
        return PolicySchedule(stages=(Stage(policy=policy),))
    return parse_schedule(policy, ALL_POLICIES)
