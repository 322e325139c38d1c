"""``flow-rif``, ``flow-lat``, ``flow-grad``: routing probabilities by projected gradient steps (DLB paper, equation (2)).

Every ``δ_u`` seconds ``x_i ← Π(x_i − η_i δ_u ĉ_i)``; see `lbtheory.cells.stepsize` for ``η``.
"""

from lbtheory.cells.policies.base import Policy

POLICIES = (
    Policy(name="flow-rif", mechanism="flow", cost="rif", about="gradual, on RIF per replica"),
    Policy(name="flow-lat", mechanism="flow", cost="latency", about="gradual, on expected latency"),
    Policy(name="flow-grad", mechanism="flow", cost="gradient", about="gradual, on marginal latency"),
)
