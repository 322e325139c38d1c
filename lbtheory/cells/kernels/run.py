"""The run loop: requests' events from the calendar, control loops and disruptions by their periods, arrivals from the stream.

At equal times: prefill ends, decode ends, leaf arrivals, client returns (then by entry), disruptions, exchanges of leaves,
snapshots, the autoscaler, error loops, fits, the loop of MNLB, flow updates, root arrivals.
"""

import numpy as np

from lbtheory.cells.kernels.autoscale import autoscale, observe
from lbtheory.cells.kernels.calendar import head, schedule, take
from lbtheory.cells.kernels.control import disrupt, exchange, plan_weights, start_root, update_aversion, update_flows
from lbtheory.cells.kernels.estimation import fit_models, log_sample
from lbtheory.cells.kernels.layout import (
    ARRIVED,
    CLIENT_RETURN,
    DECODE_END,
    DISRUPTED,
    DONE,
    DONE_COUNT,
    ERROR_ROUNDS,
    ESTIMATED,
    EVENTS,
    FAILED,
    FAILED_COUNT,
    FITS,
    INBOUND,
    INSIDE,
    LEAF_ARRIVAL,
    LOOP,
    NO_ROOT,
    NOW,
    ON_WIRE,
    OUTBOUND,
    PLANS,
    PREFILL_END,
    SCALINGS,
    SHARES,
    SNAPSHOT,
    SUCCESS_RETURNING,
    UPCOMING,
    UPDATES,
    VIOLATIONS,
)
from lbtheory.cells.kernels.routing import route
from lbtheory.cells.kernels.servers import accept, decode_end, leaf_arrival, prefill_end
from lbtheory.cells.kernels.views import snapshot
from lbtheory.core.jit import inlined, kernel


@kernel
def _next_loop(st, lim):  # type: ignore[no-untyped-def]
    """When the next control loop or disruption is due."""
    due = (st.ints[SNAPSHOT] + 1) * lim.probe_period
    if st.ints[DISRUPTED] < len(st.disruption):
        due = min(due, st.disruption[st.ints[DISRUPTED]].time)
    if lim.leaves > 1:
        due = min(due, (st.ints[SHARES] + 1) * lim.share_period)
    if lim.scaling:
        due = min(due, (st.ints[SCALINGS] + 1) * lim.scale_period)
    if lim.aversion:
        due = min(due, (st.ints[ERROR_ROUNDS] + 1) * lim.error_period)
    if lim.models == ESTIMATED:
        due = min(due, (st.ints[FITS] + 1) * lim.fit_period)
    if lim.plans:
        due = min(due, (st.ints[PLANS] + 1) * lim.plan_period)
    if lim.flows:
        due = min(due, (st.ints[UPDATES] + 1) * lim.flow_period)
    return due


@kernel
def _loops(st, lim, net, plan, est, now):  # type: ignore[no-untyped-def]
    """Everything that is due at ``now``, in order."""
    while st.ints[DISRUPTED] < len(st.disruption) and st.disruption[st.ints[DISRUPTED]].time <= now:
        disrupt(st, lim, net, st.ints[DISRUPTED], now)
        st.ints[DISRUPTED] += 1
    if lim.leaves > 1 and (st.ints[SHARES] + 1) * lim.share_period <= now:
        exchange(st, lim)
        st.ints[SHARES] += 1
    if (st.ints[SNAPSHOT] + 1) * lim.probe_period <= now:
        snapshot(st, lim, now)
        if lim.scaling:
            observe(st, lim)
    if lim.scaling and (st.ints[SCALINGS] + 1) * lim.scale_period <= now:
        autoscale(st, lim)
    if lim.aversion and (st.ints[ERROR_ROUNDS] + 1) * lim.error_period <= now:
        update_aversion(st, lim, net, now)
        st.ints[ERROR_ROUNDS] += 1
    if lim.models == ESTIMATED and (st.ints[FITS] + 1) * lim.fit_period <= now:
        fit_models(st, lim, est, now)
        st.ints[FITS] += 1
    if lim.plans and (st.ints[PLANS] + 1) * lim.plan_period <= now:
        plan_weights(st, lim, net, plan)
    if lim.flows and (st.ints[UPDATES] + 1) * lim.flow_period <= now:
        update_flows(st, lim, net, now)
        st.ints[UPDATES] += 1


@inlined
def _root_arrival(st, lim, net, r, now):  # type: ignore[no-untyped-def]
    """A request reaches its root, or a living peer, and is sent on at once."""
    st.ints[ARRIVED] += 1
    i, root = int(st.request[r].source), int(st.request[r].root)
    target = int(st.request[r].target)
    if target < 0:
        st.counts[i] += 1
    first = i * lim.roots
    step = 0
    while step < lim.roots and st.root_alive[root] == 0:
        root = first + (root - first + 1) % lim.roots
        step += 1
    st.request[r].root = root
    if st.root_alive[root] == 0:
        st.request[r].status = FAILED
        st.request[r].reason = NO_ROOT
        st.request[r].finished = st.request[r].returned = now
        st.ints[FAILED_COUNT] += 1
        return
    j = route(st, lim, net, r, root, now) if target < 0 else target
    st.request[r].cell = j
    if st.request[r].session >= 0:
        st.kept[root, st.request[r].session] = j
    st.request[r].status = ON_WIRE
    st.request[r].root_epoch = st.root_epoch[root]
    st.open[root, j] += 1
    st.cell[j].wire += 1
    st.ints[OUTBOUND] += 1
    schedule(st, lim, r, LEAF_ARRIVAL, now + net.latency[i, j])


@inlined
def _client_return(st, r, now):  # type: ignore[no-untyped-def]
    root, j = int(st.request[r].root), int(st.request[r].cell)
    st.request[r].returned = now
    st.ints[INBOUND] -= 1
    if st.root_epoch[root] == st.request[r].root_epoch:
        st.open[root, j] -= 1
    if st.request[r].status == SUCCESS_RETURNING:
        st.request[r].status = DONE
        if st.request[r].session >= 0:
            st.kept[root, st.request[r].session] = j
        st.ints[DONE_COUNT] += 1
    else:
        st.request[r].status = FAILED
        st.ints[FAILED_COUNT] += 1


@kernel
def _inject(st, lim, net, now):  # type: ignore[no-untyped-def]
    """Closed loop: the next request of the stream takes the place of the one that finished."""
    r = st.ints[UPCOMING]
    if r >= len(st.request):
        return
    st.ints[UPCOMING] += 1
    st.ints[ARRIVED] += 1
    st.request[r].arrival = now
    st.request[r].cell = 0
    st.request[r].leaf = 0
    st.open[st.request[r].root, 0] += 1
    accept(st, lim, net, r, now)


@inlined
def _event(st, lim, net, est, r, now):  # type: ignore[no-untyped-def]
    kind = st.request[r].kind
    if kind == LEAF_ARRIVAL:
        leaf_arrival(st, lim, net, r, now)
    elif kind == PREFILL_END:
        prefill_end(st, lim, r, now)
    elif kind == DECODE_END:
        decode_end(st, lim, net, r, now)
        if lim.models == ESTIMATED:
            log_sample(st, est, int(st.request[r].cell), st.request[r].load, now - st.request[r].accepted, now)
        if lim.closed:
            _inject(st, lim, net, now)
    elif kind == CLIENT_RETURN:
        _client_return(st, r, now)


@kernel
def begin(st, lim, net):  # type: ignore[no-untyped-def]
    """The initial state is the first snapshot; roots start from it."""
    st.ints[SNAPSHOT] = -1
    snapshot(st, lim, st.floats[NOW])
    for root in range(lim.sources * lim.roots):
        start_root(st, lim, net, root, st.floats[NOW])
    st.floats[LOOP] = _next_loop(st, lim)


@kernel
def run(st, lim, net, plan, est, most):  # type: ignore[no-untyped-def]
    """At most ``most`` events more. Returns whether there is something left to do before ``lim.end``."""
    for _ in range(most):
        r = head(st, lim)
        calendar = st.request[r].time if r >= 0 else np.inf
        arrival = st.request[st.ints[UPCOMING]].arrival if st.ints[UPCOMING] < len(st.request) else np.inf
        loop = st.floats[LOOP]
        request = min(calendar, arrival)
        if request == np.inf or min(request, loop) > lim.end:
            return False
        st.ints[EVENTS] += 1
        if calendar <= loop and calendar <= arrival:
            st.floats[NOW] = calendar
            take(st, lim, r)
            _event(st, lim, net, est, r, calendar)
        elif loop <= arrival:
            st.floats[NOW] = loop
            _loops(st, lim, net, plan, est, loop)
            st.floats[LOOP] = _next_loop(st, lim)
        else:
            st.floats[NOW] = arrival
            st.ints[UPCOMING] += 1
            _root_arrival(st, lim, net, st.ints[UPCOMING] - 1, arrival)
        in_flight = st.ints[OUTBOUND] + st.ints[INSIDE] + st.ints[INBOUND]
        if st.ints[ARRIVED] != st.ints[DONE_COUNT] + st.ints[FAILED_COUNT] + in_flight:
            st.ints[VIOLATIONS] += 1
    return True
