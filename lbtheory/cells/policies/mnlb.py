"""``mnlb``: the centralised balancer that DLB replaces (DLB paper, section 1.1).

Every 10 s: ``min Σ λ̂_i 2τ_ij w_ij + M Σ s_j`` subject to ``Σ_j w_ij = 1`` and ``Σ_i λ̂_i w_ij ≤ u_max rate_j + s_j``, ``λ̂`` the
arrivals of the last loop; random in the first loop. The slack with its price ``M``, and no error aversion, are ours.
"""

from lbtheory.cells.policies.base import Policy

POLICIES = (Policy(name="mnlb", mechanism="mnlb", averse=False, about="least network latency within capacities, every 10 s"),)
