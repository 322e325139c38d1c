"""A relaxed barrier, compiled: heavy workers leave requests out of a step. Rule and oracle: ``PlainSystem.relax``."""

from lbtheory.core.jit import kernel
from lbtheory.decode.kernels.state import ACTIVE, ITERATION


@kernel
def relax(limits, state):  # type: ignore[no-untyped-def]
    """Pause requests of every worker above its limit; their tokens leave ``load`` for this step. Returns how many."""
    total = 0
    for g in range(limits.workers):
        total += state.worker[g].load
    limit = (1.0 + limits.pause) * (total / limits.workers)
    paused = 0
    for g in range(limits.workers):
        running = state.worker[g].count
        while running > 1 and state.worker[g].load > limit:
            i = _choose(state, g, state.worker[g].load - limit)
            if i < 0:
                break
            _pause(state, i, g)
            running -= 1
            paused += 1
    return paused


@kernel
def _choose(state, g, excess):  # type: ignore[no-untyped-def]
    """The smallest request of ``g`` that covers the excess, else its largest (ties: earliest released); −1 for none."""
    k = state.ints[ITERATION]
    best, best_load = -1, 0
    for j in range(state.ints[ACTIVE]):
        i = state.members[j]
        request = state.request[i]
        if request.worker != g or request.admitted == k or (request.paused_at > 0 and request.paused_at >= k - 1):
            continue
        load = request.prompt + k - request.admitted
        if best >= 0:
            if load == best_load:
                better = i < best
            elif best_load >= excess:
                better = excess <= load < best_load
            else:
                better = load > best_load
        if best < 0 or better:
            best, best_load = i, load
    return best


@kernel
def _pause(state, i, g):  # type: ignore[no-untyped-def]
    """Request ``i`` stands still in this iteration: it leaves one iteration later, and its age lags by one."""
    k = state.ints[ITERATION]
    state.worker[g].load -= state.request[i].prompt + k - state.request[i].admitted
    state.worker[g].base -= 1
    state.worker[g].entered += 1
    mask = len(state.head) - 1
    end = state.request[i].admitted + state.request[i].output
    if state.head[end & mask] == i:
        state.head[end & mask] = state.request[i].chain
    else:
        j = state.head[end & mask]
        while state.request[j].chain != i:
            j = state.request[j].chain
        state.request[j].chain = state.request[i].chain
    state.request[i].chain = state.head[(end + 1) & mask]
    state.head[(end + 1) & mask] = i
    state.request[i].admitted += 1
    state.request[i].paused += 1
    state.request[i].paused_at = k
