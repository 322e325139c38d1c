"""How the inner loops are compiled."""

from numba import njit

leaf = njit(cache=True, error_model="numpy", _nrt=False)
"""For functions that allocate nothing and hand no array back: without counting references to their arrays, each an atomic
operation, a step of ten cells takes half the time."""
