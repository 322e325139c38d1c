"""Exact answers for few admissions, the usual state of a running system, without a solver.

Every assignment is visited, save that the last slot needs only the sizes next to the gap it should fill. At offset 0 only.
"""

from math import comb, prod

import numpy as np

from lbtheory.decode.exact.program import Program

WORK_LIMIT = 300_000
"""Largest number of visits for which enumeration is used (a few milliseconds)."""

KINDS = {"io": 0, "min-max": 1, "spread-lex": 2}


def work(program: Program) -> int:
    """Bound of the number of visits of `enumerate_best`."""
    width, n = len(program.open), len(program.sizes)
    if not program.filled:
        return width * width ** min(program.instance.admissions, 64)
    if program.instance.admissions > 16:
        return WORK_LIMIT + 1
    last = program.slots[-1]
    others = prod(comb(n + c - 1, c) for c in program.slots[:-1])
    return (width + n.bit_length()) * others * comb(n + last - 2, last - 1)


def enumerate_best(
    program: Program, kind: str, tie: np.ndarray | None = None
) -> tuple[tuple[int, int, int], np.ndarray] | None:
    """Best class counts for the policy ``kind`` at offset 0, or None when there are too many assignments.

    Parameters
    ----------
    program : Program
    kind : "io", "min-max" or "spread-lex"
        The key minimised: ``(I)``, ``(M, I)`` or ``(D, N_max, I)``; ``M`` of shifted loads.
    tie : int array (F, n), optional
        Among the best, minimise ``Σ tie · y``; then the lexicographically first.

    Returns
    -------
    (key, y) or None
        The key padded with zeros to three numbers, and class counts (F, n).
    """
    if program.offsets > 1 or work(program) > WORK_LIMIT:
        return None
    from lbtheory.decode.exact._kernel import enumerate_assignments

    full = program.full[:, 0]
    state = [-1, np.iinfo(np.int64).max, 0, 0, 0]
    if len(full):
        state = [int(full.max()), int(full.min()), int((full == full.max()).sum()), int(full.sum()), len(full)]
    key, y = enumerate_assignments(
        KINDS[kind],
        program.filled,
        program.instance.admissions,
        np.array(program.slots, dtype=np.int64),
        np.ascontiguousarray(program.base[:, 0]),
        program.sizes,
        program.counts,
        program.forced,
        np.zeros((len(program.open), len(program.sizes)), dtype=np.int64) if tie is None else tie,
        np.array(state, dtype=np.int64),
    )
    return (int(key[1]), int(key[2]), int(key[3])), y
