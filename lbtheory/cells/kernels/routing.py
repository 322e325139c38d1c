"""Choice of a cell by a root, and error aversion: a request to cell ``j`` is diverted with probability ``α_ij``."""

from lbtheory.cells.kernels.affinity import cell_of_session
from lbtheory.cells.kernels.layout import (
    CLAIRVOYANT,
    DISCRETE,
    FLOW,
    HOT_COLD,
    LEAST_CONNECTIONS,
    MNLB,
    PLANS,
    POWER_OF_TWO,
    STAGE,
    U_DIVERSION,
    U_EXPLORE,
    U_ROUTE,
    U_SECOND,
    U_STAGE,
)
from lbtheory.cells.kernels.uniform import uniform
from lbtheory.cells.kernels.views import cell_cost, seen_cost, seen_replicas, seen_rif
from lbtheory.core.jit import inlined, kernel


@inlined
def _stage(st, key, now):  # type: ignore[no-untyped-def]
    """Stage of the policy schedule that a request goes by: the latest, with the share that its ramp has reached."""
    k = st.ints[STAGE]
    if k > 0:
        gone, ramp = now - st.stage[k].start, st.stage[k].ramp
        if gone < ramp and uniform(key, U_STAGE) * ramp >= gone:
            k -= 1
    return k


@kernel
def _by_weight(st, lim, u):  # type: ignore[no-untyped-def]
    """Cell with probability ∝ ``score`` among those not refused; −1 where no weight is left."""
    total = 0.0
    for j in range(lim.cells):
        if st.refused[j] == 0:
            total += st.score[j]
    goal, last = u * total, -1
    for j in range(lim.cells):
        if st.refused[j] == 0 and st.score[j] > 0:
            last = j
            goal -= st.score[j]
            if goal < 0:
                return j
    return last


@kernel
def _least(st, lim, net, i, u):  # type: ignore[no-untyped-def]
    """Admissible cell of least ``score`` not refused; ties: the lowest index, or uniform by ``u``. −1 for none."""
    best, ties = -1, 0
    for j in range(lim.cells):
        if net.allowed[i, j] == 1 and st.refused[j] == 0:
            if best < 0 or st.score[j] < st.score[best]:
                best, ties = j, 1
            elif st.score[j] == st.score[best]:
                ties += 1
    if ties < 2 or not lim.random_ties:
        return best
    skip = int(u * ties)
    for j in range(best, lim.cells):
        if net.allowed[i, j] == 1 and st.refused[j] == 0 and st.score[j] == st.score[best]:
            if skip == 0:
                return j
            skip -= 1
    return best


@kernel
def _score(st, lim, net, stage, i, root, now):  # type: ignore[no-untyped-def]
    """Weights or costs of the cells, as the mechanism sees them. Weights of cells that are not admissible are 0."""
    mechanism, cost = st.stage[stage].mechanism, st.stage[stage].cost
    for j in range(lim.cells):
        if net.allowed[i, j] == 0:
            st.score[j] = 0.0
        elif mechanism == FLOW:
            st.score[j] = st.x[stage, root, j]
        elif mechanism == MNLB and st.ints[PLANS] > 0:
            st.score[j] = st.weights[i, j]
        elif mechanism == DISCRETE:
            st.score[j] = seen_cost(st, lim, net, cost, i, root, j, now)
        elif mechanism == LEAST_CONNECTIONS:
            st.score[j] = st.open[root, j] / seen_replicas(st, lim, net, i, root, j, now)
        elif mechanism == CLAIRVOYANT:
            n = float(st.cell[j].rif + st.cell[j].wire)
            st.score[j] = cell_cost(st, cost, j, n, float(st.cell[j].replicas)) + 2.0 * net.latency[i, j]
        else:  # in proportion to the replicas seen: random, the samples of the power of two, MNLB before its first program
            st.score[j] = seen_replicas(st, lim, net, i, root, j, now)
    if mechanism == HOT_COLD:
        _hot_cold(st, lim, net, cost, i, root, now)


@kernel
def _hot_cold(st, lim, net, cost, i, root, now):  # type: ignore[no-untyped-def]
    """A cell is hot when its RIF per replica exceeds the ``quantile`` of the cells seen; cold cells go by latency, hot last.

    Prequal's rule (Wydrowski, Kleinberg, Rumble and Archer, NSDI 2024) over cells instead of servers.
    """
    count = 0
    for j in range(lim.cells):
        if net.allowed[i, j] == 1:
            st.other[j] = seen_rif(st, lim, net, i, root, j, now) / seen_replicas(st, lim, net, i, root, j, now)
            count += 1
    rank = lim.quantile * count
    for j in range(lim.cells):
        if net.allowed[i, j] == 1:
            below = 0
            for k in range(lim.cells):
                if net.allowed[i, k] == 1 and st.other[k] < st.other[j]:
                    below += 1
            hot = below >= rank
            st.score[j] = 1e6 + st.other[j] if hot else seen_cost(st, lim, net, cost, i, root, j, now)


@kernel
def _pick(st, lim, net, mechanism, i, root, now, u, second):  # type: ignore[no-untyped-def]
    """A cell not refused, from the scores; −1 for none."""
    if mechanism in (DISCRETE, LEAST_CONNECTIONS, HOT_COLD, CLAIRVOYANT):
        return _least(st, lim, net, i, u)
    first = _by_weight(st, lim, u)
    if mechanism != POWER_OF_TWO or first < 0:
        return first
    st.refused[first] += 1
    other = _by_weight(st, lim, second)
    st.refused[first] -= 1
    if other < 0:
        return first
    mine = seen_rif(st, lim, net, i, root, first, now) / st.score[first]
    return other if seen_rif(st, lim, net, i, root, other, now) / st.score[other] < mine else first


@kernel
def route(st, lim, net, r, root, now):  # type: ignore[no-untyped-def]
    """Cell of request ``r``, which is at ``root``; without aversion, the first choice."""
    i, key = int(st.request[r].source), st.request[r].key
    stage = _stage(st, key, now)
    mechanism = st.stage[stage].mechanism
    _score(st, lim, net, stage, i, root, now)
    explores = lim.mixing > 0 and mechanism == DISCRETE and uniform(key, U_EXPLORE) < lim.mixing
    for j in range(lim.cells):
        st.refused[j] = 0
        if explores:  # dithering: all admissible cells tie
            st.score[j] = 0.0
    first = cell_of_session(st, lim, net, r, root, now)
    if first < 0:
        first = _pick(st, lim, net, mechanism, i, root, now, uniform(key, U_ROUTE), uniform(key, U_SECOND))
    if st.averse[root] == 0 or st.stage[stage].averse == 0:
        return first
    at = first
    for attempt in range(lim.cells):
        draw = U_DIVERSION + 3 * attempt
        if uniform(key, draw) >= st.alpha[root, at]:
            st.request[r].diverted = at != first
            return at
        st.refused[at] = 1
        at = _pick(st, lim, net, mechanism, i, root, now, uniform(key, draw + 1), uniform(key, draw + 2))
        if at < 0:
            break
    return first
