"""Exact decisions: IO_H, min-max and SpreadLex, each with what proves it.

Symbols: ``y_{g,t}`` requests of size ``t`` for worker ``g``, ``x_g`` their total size,
``M_h = max_g L_{g,h}``, ``I_h = G M_h − Σ_g L_{g,h}``,
``D = max_g L_g − min_g L_g``, ``N_max`` workers at the maximum, ``F`` workers with free slots, ``n`` distinct waiting sizes.
The solver and the compiled kernel are imported where they are used.
"""

from lbtheory.decode.exact.io import METHODS as METHODS
from lbtheory.decode.exact.io import solve_io as solve_io
from lbtheory.decode.exact.min_max import solve_min_max as solve_min_max
from lbtheory.decode.exact.result import Solution as Solution
from lbtheory.decode.exact.solve import POLICIES as POLICIES
from lbtheory.decode.exact.solve import compare as compare
from lbtheory.decode.exact.solve import solve as solve
from lbtheory.decode.exact.spread_lex import solve_spread_lex as solve_spread_lex
from lbtheory.decode.exact.ties import TIES as TIES
from lbtheory.decode.exact.zero import Decision as Decision
from lbtheory.decode.exact.zero import decide_io as decide_io
