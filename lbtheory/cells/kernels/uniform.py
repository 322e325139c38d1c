"""Uniform numbers of a request from its key: the ``k``-th is a hash of key and ``k``.

The hash is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). A request thus carries as many numbers as any policy asks for, the
same for every policy, and only keys are drawn, outside.
"""

import numpy as np

from lbtheory.core.jit import inlined

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
THIRTY, TWENTY_SEVEN, THIRTY_ONE, ELEVEN = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@inlined
def uniform(key, k):  # type: ignore[no-untyped-def]
    """The ``k``-th uniform number of a key, in [0, 1) with 53 bits."""
    z = key + np.uint64(k + 1) * GOLDEN
    z = (z ^ (z >> THIRTY)) * FIRST
    z = (z ^ (z >> TWENTY_SEVEN)) * SECOND
    return float((z ^ (z >> THIRTY_ONE)) >> ELEVEN) * (1.0 / 9007199254740992.0)
