"""What the roots see: snapshots of every cell at the probe times, read with the latency of the arc.

Root ``i`` sees cell ``j`` as of ``δ_p ⌊(t − τ_ij)/δ_p⌋``; before that time is 0 it sees the initial state. A snapshot holds the
costs ``f_j`` that the run's policies go by, computed once, since they are functions of what the probe carries.
"""

import math

from lbtheory.cells.kernels.layout import GRADIENT, LATENCY, LN2, RIF, SNAPSHOT
from lbtheory.core.jit import inlined, kernel

DEAREST = 1e9
"""Costs are capped here: an unprojected model may have none."""


@kernel
def model_cost(a, b, k, w, n, cost):  # type: ignore[no-untyped-def]
    """``ℓ`` or ``1/μ' = ℓ²/G`` of a softplus model at ``n`` requests a replica (see `lbtheory.fluid.rates.softplus`)."""
    u = (n - k) / w
    small = math.exp(-abs(u))
    log = math.log1p(small)
    latency = a + b * w * (max(u, 0.0) + log)
    if cost == LATENCY:
        return latency
    share = small / (1.0 + small) if u >= 0 else 1.0 / (1.0 + small)  # σ(−u)
    fall = (a - b * k) + b * (w * (max(-u, 0.0) + log) + n * share)
    if fall == 0.0:
        return DEAREST
    return min(max(latency * latency / fall, -DEAREST), DEAREST)


@inlined
def cell_cost(st, cost, j, rif, replicas):  # type: ignore[no-untyped-def]
    """``f_j``."""
    if cost == RIF:
        return rif / replicas
    return model_cost(st.cell[j].a, st.cell[j].b, st.cell[j].k, st.cell[j].w, rif / replicas, cost)


@inlined
def reported(st, lim, j):  # type: ignore[no-untyped-def]
    """RIF that a leaf answers a probe with: the count itself when it is alone, else the last exchanged sum."""
    return st.leaf[j, 0].count if lim.leaves == 1 else st.cell[j].shared


@inlined
def error_rate(st, lim, j, now):  # type: ignore[no-untyped-def]
    """``e_j``: share of errors among recent outcomes, which fades without traffic."""
    if st.cell[j].errors <= 0.0:
        return 0.0
    fade = math.exp(-LN2 * (now - st.cell[j].outcome_time) / lim.idle_half_life)
    return st.cell[j].errors / st.cell[j].outcomes * fade


@kernel
def snapshot(st, lim, now):  # type: ignore[no-untyped-def]
    """Record what a probe answers at ``now``."""
    st.ints[SNAPSHOT] += 1
    row = st.ints[SNAPSHOT] & (st.snap.shape[0] - 1)
    for j in range(lim.cells):
        rif, replicas = float(reported(st, lim, j)), float(st.cell[j].replicas)
        st.snap[row, j].rif = rif
        st.snap[row, j].replicas = replicas
        st.snap[row, j].error = error_rate(st, lim, j, now)
        if lim.latencies:
            st.snap[row, j].latency = cell_cost(st, LATENCY, j, rif, replicas)
        if lim.gradients:
            st.snap[row, j].gradient = cell_cost(st, GRADIENT, j, rif, replicas)


@kernel
def row_seen(st, lim, net, i, root, j, now):  # type: ignore[no-untyped-def]
    """Row of the snapshots that a root of source ``i`` sees of cell ``j``."""
    index = math.floor((now - net.latency[i, j]) / lim.probe_period)
    if index > st.ints[SNAPSHOT]:
        index = st.ints[SNAPSHOT]
    if not lim.shared_probes:  # roots of a source take turns, and each keeps what it saw
        index -= (index - root % lim.roots) % lim.roots
    return max(index, 0) & (st.snap.shape[0] - 1)


@inlined
def seen_rif(st, lim, net, i, root, j, now):  # type: ignore[no-untyped-def]
    if lim.current:
        return float(st.cell[j].rif)
    return st.snap[row_seen(st, lim, net, i, root, j, now), j].rif


@inlined
def seen_replicas(st, lim, net, i, root, j, now):  # type: ignore[no-untyped-def]
    if lim.current:
        return float(st.cell[j].replicas)
    return st.snap[row_seen(st, lim, net, i, root, j, now), j].replicas


@inlined
def seen_error(st, lim, net, i, root, j, now):  # type: ignore[no-untyped-def]
    if lim.current:
        return error_rate(st, lim, j, now)
    return st.snap[row_seen(st, lim, net, i, root, j, now), j].error


@inlined
def seen_cost(st, lim, net, cost, i, root, j, now):  # type: ignore[no-untyped-def]
    """``ĉ_ij``: the cost seen plus the round trip, which the RIF cost leaves out."""
    if lim.current:
        seen = float(cell_cost(st, cost, j, float(st.cell[j].rif), float(st.cell[j].replicas)))
    else:
        row = row_seen(st, lim, net, i, root, j, now)
        if cost == RIF:
            seen = st.snap[row, j].rif / st.snap[row, j].replicas
        elif cost == LATENCY:
            seen = st.snap[row, j].latency
        else:
            seen = st.snap[row, j].gradient
    return seen if cost == RIF else seen + 2.0 * net.latency[i, j]


@kernel
def seen_latency(st, lim, net, i, root, j, now):  # type: ignore[no-untyped-def]
    """Expected latency as seen, round trip included, seconds."""
    return float(seen_cost(st, lim, net, LATENCY, i, root, j, now))
