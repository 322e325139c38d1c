"""Proved bounds of ``limsup E I`` for LEVEL at real ``B`` (ours), and their certificates in ball arithmetic.

Setting: every prompt size of an interval in rich supply, slots always full, outputs ``Geo(p)``, a constant integer target
``T``. Workers are then independent, and a worker's load goes to ``clamp(T, [a + c, a + s c])`` (`LevelSystem` shifts the
interval to ``1 … s``).

====================== ======================================================================================
``e``                  deviation ``L − T`` of one worker; ``w_b = S_b + X_b`` workload and ``X_b`` age of a slot
``T₀, T``              ``B((s + 1)/2 + q/p)``, ``⌊T₀⌋``
``Z_m(w)``             workload of a slot ``m`` iterations later if every new prompt is 1
``φ_m, ψ_M``           Chernoff factors of a slot (Theorem A)
``β₊, β₋``             drifts ``pT − B``, ``B + pB(s − 1) − pT`` (Theorem M)
``μ₃, θ, γ, C_B``      constants of Theorem B
``α, lo, hi, z``       shares and quantiles of Theorem S, ``z = (s − 1)/2``
``H, λ_i, W_i, f, K``   potential, prices, heights, reward and constant of Theorem P
====================== ======================================================================================

`chernoff_bound` (Theorems A and M), `closed_form` (B), `free_of_slots` (C), `second_moment` (M), `supply_bound` (S), and
`potential_bound` (P), the sharpest where few slots complete at once; `certify` and `certify_potential`.
"""

from lbtheory.theory.levelling._balls import CertificateError as CertificateError
from lbtheory.theory.levelling.certificate import CertifiedBound as CertifiedBound
from lbtheory.theory.levelling.certificate import certify as certify
from lbtheory.theory.levelling.chernoff import LevelBound as LevelBound
from lbtheory.theory.levelling.chernoff import chernoff_bound as chernoff_bound
from lbtheory.theory.levelling.closed import ClosedForm as ClosedForm
from lbtheory.theory.levelling.closed import closed_form as closed_form
from lbtheory.theory.levelling.closed import free_of_slots as free_of_slots
from lbtheory.theory.levelling.moments import SecondMoment as SecondMoment
from lbtheory.theory.levelling.moments import second_moment as second_moment
from lbtheory.theory.levelling.potential import PotentialBound as PotentialBound
from lbtheory.theory.levelling.potential import potential_bound as potential_bound
from lbtheory.theory.levelling.potential_certificate import CertifiedPotential as CertifiedPotential
from lbtheory.theory.levelling.potential_certificate import certify_potential as certify_potential
from lbtheory.theory.levelling.search import SmallestSlots as SmallestSlots
from lbtheory.theory.levelling.search import smallest_slots as smallest_slots
from lbtheory.theory.levelling.side import LevelSide as LevelSide
from lbtheory.theory.levelling.supply import SupplyBound as SupplyBound
from lbtheory.theory.levelling.supply import supply_bound as supply_bound
from lbtheory.theory.levelling.system import LevelSystem as LevelSystem
