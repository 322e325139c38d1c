"""``hot-cold``: the cell of least latency among those that are not hot, above a quantile of RIF per replica.

The rule of Prequal (Wydrowski, Kleinberg, Rumble and Archer, NSDI 2024), with the cells seen in place of a pool of probed
servers.
"""

from lbtheory.cells.policies.base import Policy

POLICIES = (Policy(name="hot-cold", mechanism="hot-cold", cost="latency", about="Prequal's hot and cold rule over cells"),)
