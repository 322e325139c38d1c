"""Affinity of sessions (DLB paper, section 3.5): which cell and which server a session goes back to.

A root keeps a map from session to cell; the servers of a cell know which of them holds the prefix of a session, and every leaf
is told. The conditional rule keeps the cell ``j_s`` iff ``ĉ_{ij_s} − r E[P] s^p_{j_s} < min_{j ≠ j_s} ĉ_ij``, with ``ĉ`` the
latency cost whatever the policy; beside it, consistent (rendezvous) hashing and a map that is never left.
"""

import math

import numpy as np

from lbtheory.cells.kernels.layout import CONDITIONAL, HASHED, NO_AFFINITY, U_HASHED_CELL, U_HASHED_SERVER
from lbtheory.cells.kernels.uniform import uniform
from lbtheory.cells.kernels.views import seen_latency, seen_replicas
from lbtheory.core.jit import kernel


@kernel
def cell_of_session(st, lim, net, r, root, now):  # type: ignore[no-untyped-def]
    """Cell that affinity sends a request to; −1 where it is routed as usual."""
    s, i = int(st.request[r].session), int(st.request[r].source)
    if s < 0 or lim.affinity == NO_AFFINITY:
        return -1
    if lim.affinity == HASHED:
        return _hashed_cell(st, lim, net, s, i, root, now)
    home = int(st.kept[root, s])
    if home < 0 or lim.affinity != CONDITIONAL:
        return home
    best, least = -1, np.inf
    for j in range(lim.cells):
        if net.allowed[i, j] == 1 and j != home:
            cost = seen_latency(st, lim, net, i, root, j, now)
            if cost < least:
                best, least = j, cost
    stay = seen_latency(st, lim, net, i, root, home, now) - lim.mean_saving * st.cell[home].prefill_time
    return home if best < 0 or stay < least else best


@kernel
def _hashed_cell(st, lim, net, s, i, root, now):  # type: ignore[no-untyped-def]
    """Rendezvous hashing: the cell with the least ``−log(u_sj)/R_j``; it moves only sessions of the cells that change."""
    best, least = -1, np.inf
    for j in range(lim.cells):
        if net.allowed[i, j] == 1:
            draw = uniform(np.uint64(s), U_HASHED_CELL + j)
            value = -math.log(1.0 - draw) / seen_replicas(st, lim, net, i, root, j, now)
            if value < least:
                best, least = j, value
    return best


@kernel
def server_of_session(st, lim, r, j):  # type: ignore[no-untyped-def]
    """Server that the leaf sends a request of a session to, for its prefix; −1 where the leaf chooses as usual."""
    s = int(st.request[r].session)
    if s < 0 or lim.affinity == NO_AFFINITY:
        return -1
    first, replicas = st.cell[j].first, st.cell[j].replicas
    if lim.affinity == HASHED:
        return first + int(uniform(np.uint64(s), U_HASHED_SERVER) * replicas)
    q = int(st.holder[j, s])
    if q < 0 or q >= first + replicas or (lim.queue >= 0 and st.server[q].engine >= 0 and st.server[q].waiting >= lim.queue):
        return -1
    return q


@kernel
def use_prefix(st, r, j, q):  # type: ignore[no-untyped-def]
    """An accepted request saves prefill at the server that holds its prefix, which from now on is this one."""
    s = int(st.request[r].session)
    if s < 0:
        return
    if st.holder[j, s] == q:
        st.request[r].hit = 1
        st.request[r].prefill = max(1, math.ceil(st.request[r].prefill * (1.0 - st.request[r].saving)))
    st.holder[j, s] = q
