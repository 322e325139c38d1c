"""The best long-run average imbalance of small systems, exactly, and rules beside it.

Symbols: ``p`` completion probability, ``q = 1 − p``; ``N`` cap of the workload of a slot; ``s`` largest size; ``n = G B``;
``H`` look-ahead at known lives; ``I = G max_g L_g − Σ_g L_g``.
"""

from lbtheory.decode.mdp.model import Model as Model
from lbtheory.decode.mdp.model import build as build
from lbtheory.decode.mdp.rules import Deviation as Deviation
from lbtheory.decode.mdp.rules import deviation as deviation
from lbtheory.decode.mdp.rules import policy_mix as policy_mix
from lbtheory.decode.mdp.rules import worst_gap as worst_gap
from lbtheory.decode.mdp.solve import Average as Average
from lbtheory.decode.mdp.solve import best_ties as best_ties
from lbtheory.decode.mdp.solve import evaluate as evaluate
from lbtheory.decode.mdp.solve import first_come as first_come
from lbtheory.decode.mdp.solve import optimum as optimum
from lbtheory.decode.mdp.solve import worst_ties as worst_ties
from lbtheory.decode.mdp.symbols import System as System
from lbtheory.decode.mdp.symbols import system as system
