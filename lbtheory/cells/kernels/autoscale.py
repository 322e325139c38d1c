"""Replicas that follow demand: a loop that sizes every cell so that a target share of its decode slots is in use (ours)."""

import math

from lbtheory.cells.kernels.layout import SCALINGS, SNAPSHOT
from lbtheory.core.jit import kernel


@kernel
def observe(st, lim):  # type: ignore[no-untyped-def]
    """Add the RIF of the snapshot just taken to the sums since the last round."""
    row = st.ints[SNAPSHOT] & (st.snap.shape[0] - 1)
    for j in range(lim.cells):
        st.cell[j].held += st.snap[row, j].rif
        st.cell[j].seen += 1


@kernel
def autoscale(st, lim):  # type: ignore[no-untyped-def]
    """One round: servers that have started join; ``⌈mean RIF/(target · slots)⌉`` within ``[1, most]`` is wanted.

    What is missing, beyond the servers that are starting, begins to start; a surplus first cancels those, latest first, then
    retires servers of the highest indices, which accept nothing new and finish what they hold.
    """
    st.ints[SCALINGS] += 1
    lag = st.starting.shape[1]
    for j in range(lim.cells):
        slot = st.ints[SCALINGS] % lag if lag > 0 else 0
        coming = 0
        if lag > 0:
            st.cell[j].replicas += st.starting[j, slot]
            st.starting[j, slot] = 0
            for s in range(lag):
                coming += st.starting[j, s]
        mean = st.cell[j].held / st.cell[j].seen if st.cell[j].seen > 0 else 0.0
        st.cell[j].held = 0.0
        st.cell[j].seen = 0
        wanted = min(max(math.ceil(mean / (lim.scale_target * lim.slots)), 1), st.cell[j].most)
        missing = wanted - st.cell[j].replicas - coming
        if lag == 0:
            st.cell[j].replicas = wanted
        elif missing > 0:
            st.starting[j, slot] = missing
        else:
            surplus = -missing
            for back in range(1, lag):
                s = (st.ints[SCALINGS] - back) % lag
                cancelled = min(surplus, st.starting[j, s])
                st.starting[j, s] -= cancelled
                surplus -= cancelled
            st.cell[j].replicas -= surplus
        if st.ints[SCALINGS] < st.sizes.shape[0]:
            st.sizes[st.ints[SCALINGS], j] = st.cell[j].replicas
