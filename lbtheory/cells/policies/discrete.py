"""``disc-rif``, ``disc-lat``, ``disc-grad``: each request goes to the cell of least cost seen (DLB paper, equation (1))."""

from lbtheory.cells.policies.base import Policy

POLICIES = (
    Policy(name="disc-rif", mechanism="discrete", cost="rif", about="least RIF per replica"),
    Policy(name="disc-lat", mechanism="discrete", cost="latency", about="least expected latency"),
    Policy(name="disc-grad", mechanism="discrete", cost="gradient", about="least marginal latency"),
)
