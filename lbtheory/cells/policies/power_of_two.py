"""``p2c``: the one with less RIF per replica of two different cells, drawn in proportion to replicas.

The power of two choices (Mitzenmacher, IEEE TPDS 2001) over cells.
"""

from lbtheory.cells.policies.base import Policy

POLICIES = (Policy(name="p2c", mechanism="power-of-two", about="the less loaded of two random cells"),)
