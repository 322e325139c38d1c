"""The calendar of requests' events: buckets of equal width in a ring, each a list in exact order of time, kind, and entry.

An operation costs O(1) while about one event falls into a bucket and most of them within one turn of the ring; whatever the
width, the order is exact. Every entry lies in a bucket at or after ``CURSOR``.
"""

from lbtheory.cells.kernels.layout import CURSOR, PENDING
from lbtheory.core.jit import inlined, kernel


@inlined
def _before(st, kind, time, other):  # type: ignore[no-untyped-def]
    later = st.request[other].time
    return time < later or (time == later and kind < st.request[other].kind)


@inlined
def schedule(st, lim, r, kind, time):  # type: ignore[no-untyped-def]
    """Enter the next event of request ``r``, after all entries of its time and kind."""
    at = int(time * lim.per_second)
    if at < st.ints[CURSOR]:
        st.ints[CURSOR] = at
    st.request[r].time = time
    st.request[r].kind = kind
    slot = at & lim.mask
    i = st.bucket[slot]
    if i < 0 or _before(st, kind, time, i):
        st.request[r].next = i
        st.bucket[slot] = r
    else:
        after = st.request[i].next
        while after >= 0 and not _before(st, kind, time, after):
            i = after
            after = st.request[i].next
        st.request[r].next = after
        st.request[i].next = r
    st.ints[PENDING] += 1


@inlined
def head(st, lim):  # type: ignore[no-untyped-def]
    """Request of the earliest event, −1 for none."""
    if st.ints[PENDING] == 0:
        return -1
    at = st.ints[CURSOR]
    while True:
        r = st.bucket[at & lim.mask]
        if r >= 0 and int(st.request[r].time * lim.per_second) == at:
            st.ints[CURSOR] = at
            return r
        at += 1


@inlined
def take(st, lim, r):  # type: ignore[no-untyped-def]
    """Remove the earliest event, that of ``r = head(…)``."""
    st.bucket[st.ints[CURSOR] & lim.mask] = st.request[r].next
    st.ints[PENDING] -= 1


@kernel
def cancel(st, lim, r):  # type: ignore[no-untyped-def]
    """Remove the event of request ``r``, which must have one."""
    slot = int(st.request[r].time * lim.per_second) & lim.mask
    i = st.bucket[slot]
    if i == r:
        st.bucket[slot] = st.request[r].next
    else:
        while st.request[i].next != r:
            i = st.request[i].next
        st.request[i].next = st.request[r].next
    st.ints[PENDING] -= 1
