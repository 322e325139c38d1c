"""Servers of a cell: a prefill engine with a bounded queue, a pool of decode slots, and the leaf that chooses among them."""

import math

from lbtheory.cells.kernels.affinity import server_of_session, use_prefix
from lbtheory.cells.kernels.calendar import cancel, schedule
from lbtheory.cells.kernels.layout import (
    BLOCKED,
    CLIENT_RETURN,
    DECODE_END,
    DECODING,
    FAILURE_RETURNING,
    INBOUND,
    INSIDE,
    LEAF_ARRIVAL,
    LN2,
    NO_LEAF,
    OUTBOUND,
    OVERFLOW,
    PREFILL_END,
    PREFILLING,
    SERVER_LOST,
    SUCCESS_RETURNING,
    U_FAILURE,
    U_SERVER,
    UNHEALTHY,
    UPCOMING,
    WAITING,
)
from lbtheory.cells.kernels.uniform import uniform
from lbtheory.core.jit import inlined, kernel


@inlined
def outcome(st, lim, j, failed, now):  # type: ignore[no-untyped-def]
    """Count an outcome at a cell: both sums halve in ``error_half_life``."""
    fade = math.exp(-LN2 * (now - st.cell[j].outcome_time) / lim.error_half_life)
    st.cell[j].errors = st.cell[j].errors * fade + failed
    st.cell[j].outcomes = st.cell[j].outcomes * fade + 1.0
    st.cell[j].outcome_time = now


@kernel
def fail(st, lim, net, r, now):  # type: ignore[no-untyped-def]
    """A request fails at its cell, for a reason that was noted; the root knows after the latency of the arc."""
    j = int(st.request[r].cell)
    outcome(st, lim, j, 1.0, now)
    st.request[r].status = FAILURE_RETURNING
    st.request[r].finished = now
    st.ints[INBOUND] += 1
    schedule(st, lim, r, CLIENT_RETURN, now + net.latency[st.request[r].source, j])


@inlined
def _start_prefill(st, lim, r, q, now):  # type: ignore[no-untyped-def]
    st.server[q].engine = r
    st.request[r].status = PREFILLING
    schedule(st, lim, r, PREFILL_END, now + st.request[r].prefill * st.cell[st.request[r].cell].prefill_time)


@inlined
def _start_decode(st, lim, r, q, now):  # type: ignore[no-untyped-def]
    st.server[q].free -= 1
    st.request[r].status = DECODING
    schedule(st, lim, r, DECODE_END, now + st.request[r].decode * st.cell[st.request[r].cell].decode_time)


@inlined
def _engine_freed(st, lim, q, now):  # type: ignore[no-untyped-def]
    """The prefill engine takes the head of the queue."""
    r = int(st.server[q].head)
    if r < 0:
        st.server[q].engine = -1
        return
    st.server[q].head = st.request[r].next
    if st.server[q].head < 0:
        st.server[q].tail = -1
    st.server[q].waiting -= 1
    _start_prefill(st, lim, r, q, now)


@inlined
def _backlog(st, lim, q):  # type: ignore[no-untyped-def]
    """Prefill tokens queued, and in service (whole) where these count."""
    e = int(st.server[q].engine)
    if lim.count_service or e < 0 or st.request[e].status != PREFILLING:
        return st.server[q].tokens
    return st.server[q].tokens - st.request[e].prefill


@kernel
def _choose_server(st, lim, r, j):  # type: ignore[no-untyped-def]
    """The first pick with the least backlog among ``min(d, R)`` distinct ones, which are drawn one after the other."""
    replicas, first, key = st.cell[j].replicas, st.cell[j].first, st.request[r].key
    best, least = -1, 0
    for c in range(min(lim.choices, replicas)):
        place = int(uniform(key, U_SERVER + c) * (replicas - c))
        for e in range(c):  # picks so far, ascending: skip over them
            if place >= st.pick[e]:
                place += 1
        e = c
        while e > 0 and st.pick[e - 1] > place:
            st.pick[e] = st.pick[e - 1]
            e -= 1
        st.pick[e] = place
        backlog = _backlog(st, lim, first + place)
        if best < 0 or backlog < least:
            best, least = first + place, backlog
    return best


@inlined
def _hand_to_leaf(st, lim, r, j, now):  # type: ignore[no-untyped-def]
    """Leaf whose turn it is, or a living peer. Returns (leaf, when): −1 for none, a time after ``now`` to come back."""
    turn = int(st.cell[j].turn % lim.leaves)
    if st.request[r].leaf < 0:  # not one that comes back after a timeout
        st.cell[j].turn += 1
        if st.leaf[j, turn].alive == 0 and now < st.leaf[j, turn].crashed + lim.leaf_timeout:
            st.request[r].leaf = turn
            return turn, st.leaf[j, turn].crashed + lim.leaf_timeout
    else:
        turn = int(st.request[r].leaf)
    for step in range(lim.leaves):
        peer = (turn + step) % lim.leaves
        if st.leaf[j, peer].alive == 1:
            return peer, now
    return -1, now


@kernel
def leaf_arrival(st, lim, net, r, now):  # type: ignore[no-untyped-def]
    """A request reaches its cell: it is accepted, fails, or comes back after the timeout of a crashed leaf."""
    j = int(st.request[r].cell)
    leaf, when = _hand_to_leaf(st, lim, r, j, now)
    if when > now:
        schedule(st, lim, r, LEAF_ARRIVAL, when)
        return
    st.ints[OUTBOUND] -= 1
    st.cell[j].wire -= 1
    if leaf < 0:
        st.request[r].reason = NO_LEAF
        fail(st, lim, net, r, now)
        return
    st.request[r].leaf = leaf
    if st.cell[j].failing > 0 and uniform(st.request[r].key, U_FAILURE) < st.cell[j].failing:
        st.request[r].reason = UNHEALTHY
        fail(st, lim, net, r, now)
        return
    accept(st, lim, net, r, now)


@kernel
def accept(st, lim, net, r, now):  # type: ignore[no-untyped-def]
    """The leaf chooses a server, whose queue may overflow."""
    j, leaf = int(st.request[r].cell), int(st.request[r].leaf)
    q = server_of_session(st, lim, r, j)
    if q < 0:
        q = _choose_server(st, lim, r, j)
    busy = st.server[q].engine >= 0
    if busy and lim.queue >= 0 and st.server[q].waiting >= lim.queue:
        st.request[r].reason = OVERFLOW
        fail(st, lim, net, r, now)
        return
    use_prefix(st, r, j, q)
    st.request[r].server = q
    st.request[r].accepted = now
    st.request[r].leaf_epoch = st.leaf[j, leaf].epoch
    st.leaf[j, leaf].count += 1
    st.cell[j].rif += 1
    st.ints[INSIDE] += 1
    st.request[r].load = st.cell[j].rif / st.cell[j].replicas
    st.server[q].tokens += st.request[r].prefill
    if not busy:
        _start_prefill(st, lim, r, q, now)
        return
    st.request[r].status = WAITING
    st.request[r].next = -1
    if st.server[q].tail < 0:
        st.server[q].head = r
    else:
        st.request[st.server[q].tail].next = r
    st.server[q].tail = r
    st.server[q].waiting += 1


@kernel
def prefill_end(st, lim, r, now):  # type: ignore[no-untyped-def]
    """Prefill is done: decode starts, or the request holds its engine until a slot frees."""
    q = int(st.request[r].server)
    st.request[r].prefilled = now
    st.server[q].tokens -= st.request[r].prefill
    if st.server[q].free == 0:
        st.request[r].status = BLOCKED
        return
    _start_decode(st, lim, r, q, now)
    _engine_freed(st, lim, q, now)


@inlined
def _leave(st, r):  # type: ignore[no-untyped-def]
    """A request leaves its cell; a leaf that crashed meanwhile has forgotten it."""
    j, leaf = int(st.request[r].cell), int(st.request[r].leaf)
    st.cell[j].rif -= 1
    st.ints[INSIDE] -= 1
    if st.leaf[j, leaf].epoch == st.request[r].leaf_epoch:
        st.leaf[j, leaf].count -= 1


@kernel
def decode_end(st, lim, net, r, now):  # type: ignore[no-untyped-def]
    """A slot frees: the request that waits for it decodes, and the engine goes on."""
    q, j = int(st.request[r].server), int(st.request[r].cell)
    _leave(st, r)
    st.request[r].finished = now
    st.request[r].status = SUCCESS_RETURNING
    st.ints[INBOUND] += 1
    outcome(st, lim, j, 0.0, now)
    schedule(st, lim, r, CLIENT_RETURN, now + net.latency[st.request[r].source, j])
    st.server[q].free += 1
    e = int(st.server[q].engine)
    if e >= 0 and st.request[e].status == BLOCKED:
        _start_decode(st, lim, e, q, now)
        _engine_freed(st, lim, q, now)


@kernel
def lose_servers(st, lim, net, j, keep, now):  # type: ignore[no-untyped-def]
    """Whatever the servers of a cell beyond the first ``keep`` hold fails at once, in order of arrival."""
    begin, end = st.cell[j].first + keep, st.cell[j].first + st.cell[j].replicas
    for r in range(st.ints[UPCOMING]):
        status = st.request[r].status
        if st.request[r].cell == j and WAITING <= status <= DECODING and begin <= st.request[r].server < end:
            if status in (PREFILLING, DECODING):
                cancel(st, lim, r)
            _leave(st, r)
            st.request[r].reason = SERVER_LOST
            fail(st, lim, net, r, now)
    for q in range(begin, end):
        st.server[q].head = st.server[q].tail = st.server[q].engine = -1
        st.server[q].waiting = st.server[q].tokens = 0
        st.server[q].free = lim.slots
