"""Latency models from what servers report: fitted softplus models of requests in flight (DLB paper, section 3.3).

Symbols: ``ℓ(N) = a + b w log(1 + e^{(N−k)/w})`` seconds at ``N`` requests in flight; ``θ = (a, b, k, w)``; ``δ`` the margin of
``a ≥ (1 + δ) bk``.
"""

from lbtheory.estimate.softplus_fit import LatencyFit as LatencyFit
from lbtheory.estimate.softplus_fit import fit_softplus as fit_softplus
from lbtheory.estimate.softplus_fit import perturb as perturb
from lbtheory.estimate.softplus_fit import project as project
