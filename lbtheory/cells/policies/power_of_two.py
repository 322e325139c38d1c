"""``p2c``: two different cells drawn in proportion to replicas; the one with less RIF per replica (Mitzenmacher, IEEE TPDS 2001)."""

from lbtheory.cells.policies.base import Policy

POLICIES = (Policy(name="p2c", mechanism="power-of-two", about="the less loaded of two random cells"),)
