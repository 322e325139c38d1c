"""Control loops: flow updates, error aversion, the loop of MNLB, exchanges of leaves, and disruptions."""

from lbtheory.cells.kernels.layout import (
    CRASH_LEAF,
    CRASH_ROOT,
    FLOW,
    LOSE_REPLICAS,
    PLANS,
    RESTART_LEAF,
    RESTART_ROOT,
    SET_DECODE_TIME,
    SET_FAILING,
    SET_PREFILL_TIME,
    SET_REPLICAS,
    SNAPSHOT,
    STAGE,
    START_STAGE,
    UNSERVED,
)
from lbtheory.cells.kernels.servers import lose_servers
from lbtheory.cells.kernels.transport import solve
from lbtheory.cells.kernels.views import seen_cost, seen_error, seen_replicas
from lbtheory.core.jit import kernel


@kernel
def project(x, allowed, z, active):  # type: ignore[no-untyped-def]
    """``x ← Π(z)``, Euclidean, on the simplex of the admissible cells: ``(z − θ)⁺`` (Michelot, 1986).

    ``active`` is scratch. The mean shift ``θ`` is recomputed over the cells that stay positive until none drops out.
    """
    n = len(z)
    for j in range(n):
        active[j] = allowed[j]
    while True:
        total, count = 0.0, 0
        for j in range(n):
            if active[j] == 1:
                total += z[j]
                count += 1
        theta = (total - 1.0) / count
        dropped = False
        for j in range(n):
            if active[j] == 1 and z[j] <= theta:
                active[j] = 0
                dropped = True
        if not dropped:
            break
    for j in range(n):
        x[j] = z[j] - theta if active[j] == 1 else 0.0


@kernel
def update_flows(st, lim, net, now):  # type: ignore[no-untyped-def]
    """``x_i ← Π(x_i − η_i δ_u ĉ_i)`` at every root that is alive (DLB paper, equation (2)), for the stages in effect."""
    latest = st.ints[STAGE]
    for k in range(max(latest - 1, 0), latest + 1):
        over = k < latest and now >= st.stage[latest].start + st.stage[latest].ramp
        if st.stage[k].mechanism == FLOW and not over:
            for root in range(lim.sources * lim.roots):
                if st.root_alive[root] == 1:
                    _step(st, lim, net, k, root, now)


@kernel
def _step(st, lim, net, k, root, now):  # type: ignore[no-untyped-def]
    """One root's step in stage ``k``."""
    i, cost = root // lim.roots, st.stage[k].cost
    step = net.stepsize[k, i] * lim.flow_period
    for j in range(lim.cells):
        st.score[j] = 0.0
        if net.allowed[i, j] == 1:
            st.score[j] = st.x[k, root, j] - step * seen_cost(st, lim, net, cost, i, root, j, now)
    project(st.x[k, root], net.allowed[i], st.score, st.refused)
    if lim.mixing > 0:
        _mix(st, lim, net, k, i, root)


@kernel
def _mix(st, lim, net, k, i, root):  # type: ignore[no-untyped-def]
    """Dithering: each admissible cell keeps at least ``mixing`` over their number."""
    count, spare = 0, 0.0
    for j in range(lim.cells):
        count += net.allowed[i, j]
    floor = lim.mixing / count
    for j in range(lim.cells):
        if net.allowed[i, j] == 1:
            spare += max(st.x[k, root, j] - floor, 0.0)
    for j in range(lim.cells):
        if net.allowed[i, j] == 1:
            st.x[k, root, j] = floor + (1.0 - lim.mixing) * max(st.x[k, root, j] - floor, 0.0) / spare


@kernel
def _start_stage(st, lim, net, k, root, now):  # type: ignore[no-untyped-def]
    """``x`` of a root in stage ``k``, in proportion to the replicas that it sees."""
    i, total = root // lim.roots, 0.0
    for j in range(lim.cells):
        st.x[k, root, j] = seen_replicas(st, lim, net, i, root, j, now) if net.allowed[i, j] == 1 else 0.0
        total += st.x[k, root, j]
    for j in range(lim.cells):
        st.x[k, root, j] /= total


@kernel
def start_root(st, lim, net, root, now):  # type: ignore[no-untyped-def]
    """A root that knows only what it is shown: ``x`` in proportion to the replicas, no aversion, no open requests."""
    for k in range(len(st.stage)):
        _start_stage(st, lim, net, k, root, now)
    for j in range(lim.cells):
        st.alpha[root, j] = 0.0
        st.open[root, j] = 0
    for s in range(st.kept.shape[1]):
        st.kept[root, s] = -1
    st.averse[root] = 0
    st.root_alive[root] = 1


@kernel
def update_aversion(st, lim, net, now):  # type: ignore[no-untyped-def]
    """``α_ij`` grows with the errors of a cell above the least among cells, and falls where there is no such gap."""
    for root in range(lim.sources * lim.roots):
        i = root // lim.roots
        least = 1.0
        for j in range(lim.cells):
            if net.allowed[i, j] == 1:
                st.score[j] = seen_error(st, lim, net, i, root, j, now)
                least = min(least, st.score[j])
        st.averse[root] = 0
        for j in range(lim.cells):
            if net.allowed[i, j] == 0:
                continue
            gap = st.score[j] - least - lim.aversion_margin
            if gap > 0:
                st.alpha[root, j] = min(lim.aversion_cap, st.alpha[root, j] + lim.aversion_gain * gap)
            else:
                st.alpha[root, j] = max(0.0, lim.aversion_decay * st.alpha[root, j] - lim.aversion_step)
            if st.alpha[root, j] > 0:
                st.averse[root] = 1


@kernel
def plan_weights(st, lim, net, plan):  # type: ignore[no-untyped-def]
    """The loop of MNLB: weights for the next period from the arrivals of the last one and the latest snapshot."""
    row = st.ints[SNAPSHOT] & (st.snap.shape[0] - 1)
    for i in range(lim.sources):
        plan.supply[i] = max(st.counts[i], 1) / lim.plan_period
        st.counts[i] = 0
        for j in range(lim.cells):
            plan.price[i, j] = 2.0 * net.latency[i, j] if net.allowed[i, j] == 1 else 0.0
    for j in range(lim.cells):
        plan.capacity[j] = lim.plan_capacity * st.snap[row, j].replicas * st.cell[j].rate
    exceeded = solve(plan, net.allowed, lim.overflow_price)
    if exceeded > 1e-9:
        st.ints[UNSERVED] += 1
    for i in range(lim.sources):
        total = 0.0
        for j in range(lim.cells):
            total += plan.flow[i, j]
        for j in range(lim.cells):
            st.weights[i, j] = plan.flow[i, j] / total
    st.ints[PLANS] += 1


@kernel
def exchange(st, lim):  # type: ignore[no-untyped-def]
    """Leaves of a cell tell each other their counts."""
    for j in range(lim.cells):
        total = 0
        for leaf in range(lim.leaves):
            if st.leaf[j, leaf].alive == 1:
                total += st.leaf[j, leaf].count
        st.cell[j].shared = total


@kernel
def disrupt(st, lim, net, d, now):  # type: ignore[no-untyped-def]
    """One disruption. Lost servers are those of the highest indices; gracefully, they finish what they hold."""
    kind, j, index = st.disruption[d].kind, st.disruption[d].cell, st.disruption[d].index
    if kind == SET_REPLICAS:
        st.cell[j].replicas = int(st.disruption[d].value)
    elif kind == LOSE_REPLICAS:
        keep = int(st.disruption[d].value)
        lose_servers(st, lim, net, j, keep, now)
        st.cell[j].replicas = keep
    elif kind == SET_FAILING:
        st.cell[j].failing = st.disruption[d].value
    elif kind == CRASH_LEAF:
        st.leaf[j, index].alive = 0
        st.leaf[j, index].count = 0
        st.leaf[j, index].epoch += 1
        st.leaf[j, index].crashed = now
    elif kind == RESTART_LEAF:
        st.leaf[j, index].alive = 1
    elif kind == CRASH_ROOT:
        st.root_alive[j * lim.roots + index] = 0
        st.root_epoch[j * lim.roots + index] += 1
    elif kind == RESTART_ROOT:
        start_root(st, lim, net, j * lim.roots + index, now)
    elif kind == SET_PREFILL_TIME:
        st.cell[j].prefill_time = st.disruption[d].value
    elif kind == SET_DECODE_TIME:
        st.cell[j].decode_time = st.disruption[d].value
    elif kind == START_STAGE:
        st.ints[STAGE] = index
        for root in range(lim.sources * lim.roots):
            if st.root_alive[root] == 1:
                _start_stage(st, lim, net, index, root, now)
