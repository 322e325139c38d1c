"""The decode theorem and what goes beyond it: constants, bounds, exact laws. Nothing here knows a simulator.

Symbols (decode paper, section 6; ours where it says so):

====================== ======================================================================================
``G, B, n``            workers, slots a worker, all slots ``n = G B``
``S ~ F, s``           prompt size, its law, its largest value
``O ~ Geo(p), q``      output length on ``{1, 2, …}``, ``q = 1 − p``
``A_*``                age ``Geo(p) − 1``: ``P(A_* = a) = p q^a``
``U = S + A_*``        workload of a slot under size-blind routing; ``σ²`` its variance
``L_g, M``             load of worker ``g`` after admissions, their maximum
``I, D``               imbalance ``G M − Σ_g L_g``, range ``M − min_g L_g``
``w_gb, ξ_gb``         workload of a slot, its completion coin
``a_g, c_g, C``        load of the survivors, free slots, ``C = Σ_g c_g``
``E_g(t)``             ``Σ_b (ξ_gb − p)(t − w_gb − 1)``; ``u* = max_{g, t ∈ {0, s+1}} E − min E``
``ρ``                  ``1 − max_t P(S = t)``
``θ₀, V, τ, κ, ε``     constants of the upper bound (`lbtheory.theory.theorem1`)
``λ₀, R_BE, B₀``       constants of the lower bound (`lbtheory.theory.tilting`)
``T, e_g``             levelling target (an integer), ``e_g = L_g − T`` (ours)
``μ₃``                 ``(s + 2/p + q/p)² + q/p²`` (ours, `lbtheory.theory.levelling`)
====================== ======================================================================================
"""

from lbtheory.theory.law import PromptLaw as PromptLaw
from lbtheory.theory.law import from_probabilities as from_probabilities
from lbtheory.theory.law import from_weights as from_weights
from lbtheory.theory.law import uniform as uniform
