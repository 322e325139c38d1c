"""``oracle``: marginal latency at the current requests of a cell, those on their way included: no staleness at all."""

from lbtheory.cells.policies.base import Policy

POLICIES = (
    Policy(name="oracle", mechanism="clairvoyant", cost="gradient", about="least marginal latency, current state known"),
)
