"""``rand``: weighted random routing, in proportion to the replicas seen (the DLB paper's baseline)."""

from lbtheory.cells.policies.base import Policy

POLICIES = (Policy(name="rand", mechanism="random", about="random, in proportion to replicas"),)
