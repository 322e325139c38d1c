"""One iteration without its policy: departures, releases, admission of one request, the synchronised step.

Order within iteration ``k`` (decode paper, section 2.2): requests that finished in ``k − 1`` leave; survivors grow by a token;
new requests join the queue; the policy admits ``U`` of them; the step runs and costs are read.
"""

from lbtheory.core.jit import inlined, kernel
from lbtheory.decode.kernels import pausing, sizes
from lbtheory.decode.kernels.state import (
    ACTIVE,
    ADMITTED,
    BY_ITERATION,
    DRAINED,
    EXHAUSTED,
    FINISHED,
    HEAD,
    ITERATION,
    NEVER,
    NOW,
    ORACLE,
    RELEASED,
    RELEASED_SUM,
    RUNNING,
    SATURATED,
    TABLE,
    TAIL,
    WAITING,
    WAITING_SUM,
)
from lbtheory.decode.predictors.base import ONE


@kernel
def begin(stream, limits, state):  # type: ignore[no-untyped-def]
    """Departures, growth and releases of the next iteration. Returns (why it cannot run, admissions ``U``)."""
    ints = state.ints
    _depart(stream, limits, state, ints[ITERATION] + 1)
    free = limits.workers * limits.slots - ints[ACTIVE]
    stop = _release(stream, limits, state, ints[ITERATION] + 1, free)
    if stop != RUNNING:
        return stop, 0
    ints[ITERATION] += 1
    k = ints[ITERATION]
    for g in range(limits.workers):
        state.worker[g].load = state.worker[g].base + k * state.worker[g].count
    return RUNNING, min(free, ints[WAITING])


@kernel
def _depart(stream, limits, state, k):  # type: ignore[no-untyped-def]
    slot = k & (len(state.head) - 1)
    i = state.head[slot]
    state.head[slot] = -1
    while i >= 0:
        g = state.request[i].worker
        base = state.request[i].prompt - state.request[i].admitted
        state.worker[g].count -= 1
        state.worker[g].base -= base
        state.worker[g].entered -= state.request[i].admitted
        state.ints[ACTIVE] -= 1
        state.ints[FINISHED] += 1
        if limits.listed:
            if state.request[i].leaves != NEVER:
                if state.request[i].leaves >= k:
                    row = state.request[i].leaves & (state.ring_count.shape[1] - 1)
                    state.ring_count[g, row] -= 1
                    state.ring_base[g, row] -= base
                else:
                    state.worker[g].late_count -= 1
                    state.worker[g].late_base -= base
            last = state.members[state.ints[ACTIVE]]
            state.members[state.request[i].place] = last
            state.request[last].place = state.request[i].place
        i = state.request[i].chain
    if limits.forecast != 0:
        row = k & (state.ring_count.shape[1] - 1)
        for g in range(limits.workers):
            if limits.forecast == TABLE:
                state.worker[g].late_count += state.ring_count[g, row]
                state.worker[g].late_base += state.ring_base[g, row]
            state.ring_count[g, row] = 0
            state.ring_base[g, row] = 0


@kernel
def _release(stream, limits, state, k, free):  # type: ignore[no-untyped-def]
    ints = state.ints
    n = len(state.request)
    if limits.release == SATURATED:
        want = limits.queue + free
        if ints[WAITING] + n - ints[RELEASED] < want:
            return EXHAUSTED
        while ints[WAITING] < want:
            _join(stream, limits, state, k)
        return RUNNING
    if ints[FINISHED] == n:
        return DRAINED
    if limits.release == BY_ITERATION:
        while ints[RELEASED] < n and state.request[ints[RELEASED]].release_iteration <= k:
            _join(stream, limits, state, k)
        return RUNNING
    if ints[ACTIVE] == 0 and ints[WAITING] == 0 and state.request[ints[RELEASED]].release_time > state.floats[NOW]:
        state.floats[NOW] = state.request[ints[RELEASED]].release_time  # nothing to do: the clock jumps to the next release
    while ints[RELEASED] < n and state.request[ints[RELEASED]].release_time <= state.floats[NOW]:
        _join(stream, limits, state, k)
    return RUNNING


@kernel
def _join(stream, limits, state, k):  # type: ignore[no-untyped-def]
    """The next request of the stream joins the end of the queue."""
    ints = state.ints
    i = ints[RELEASED]
    ints[RELEASED] += 1
    state.request[i].released = k
    state.request[i].before = ints[TAIL]
    state.request[i].after = -1
    if ints[TAIL] >= 0:
        state.request[ints[TAIL]].after = i
    else:
        ints[HEAD] = i
    ints[TAIL] = i
    ints[WAITING] += 1
    ints[WAITING_SUM] += state.request[i].prompt
    ints[RELEASED_SUM] += state.request[i].prompt
    if limits.indexed:
        sizes.enter(stream, state, i)


@kernel
def admit(stream, limits, state, i, g):  # type: ignore[no-untyped-def]
    """Request ``i`` leaves the queue and starts on worker ``g``."""
    ints = state.ints
    k = ints[ITERATION]
    before, after = state.request[i].before, state.request[i].after
    if before >= 0:
        state.request[before].after = after
    else:
        ints[HEAD] = after
    if after >= 0:
        state.request[after].before = before
    else:
        ints[TAIL] = before
    size = state.request[i].prompt
    ints[WAITING] -= 1
    ints[WAITING_SUM] -= size
    ints[ADMITTED] += 1
    if limits.indexed:
        sizes.leave(stream, state, i)
    state.request[i].admitted = k
    state.request[i].worker = g
    state.worker[g].count += 1
    state.worker[g].base += size - k
    state.worker[g].entered += k
    state.worker[g].load += size
    end = k + state.request[i].output
    slot = end & (len(state.head) - 1)
    state.request[i].chain = state.head[slot]
    state.head[slot] = i
    if limits.forecast == ORACLE and limits.refresh_each and state.request[i].output <= limits.horizon:
        row = end & (state.ring_count.shape[1] - 1)
        state.ring_count[g, row] += 1
        state.ring_base[g, row] += size - k
    elif limits.listed:
        state.request[i].leaves = NEVER
        state.members[ints[ACTIVE]] = i
        state.request[i].place = ints[ACTIVE]
    ints[ACTIVE] += 1


@inlined
def overdue(limits, state):  # type: ignore[no-untyped-def]
    """Whether the oldest waiting request has been overtaken ``D`` times or waited too long, and must go next."""
    ints = state.ints
    if ints[WAITING] == 0:
        return False
    if limits.overtake >= 0 and ints[ADMITTED] - ints[HEAD] >= limits.overtake:
        return True
    return limits.patience >= 0 and ints[ITERATION] - state.request[ints[HEAD]].released >= limits.patience


@kernel
def list_free(limits, state):  # type: ignore[no-untyped-def]
    """Write the workers with a free slot into ``state.free``, ascending; return how many there are."""
    found = 0
    for g in range(limits.workers):
        if state.worker[g].count < limits.slots:
            state.free[found] = g
            found += 1
    return found


@inlined
def drop_if_full(limits, state, free, position):  # type: ignore[no-untyped-def]
    """Take the worker at ``position`` out of the free list when it has no slot left; return the list's length."""
    if state.worker[state.free[position]].count < limits.slots:
        return free
    for j in range(position, free - 1):
        state.free[j] = state.free[j + 1]
    return free - 1


@kernel
def finish(limits, state, records, row, admissions):  # type: ignore[no-untyped-def]
    """The synchronised step: read the loads, advance the clock, write row ``row`` of the records."""
    worker = state.worker
    paused = pausing.relax(limits, state) if limits.pause >= 0.0 else 0
    maximum = minimum = total = worker[0].load
    fullest = worker[0].count
    square = float(worker[0].load) * worker[0].load
    for g in range(1, limits.workers):
        load = worker[g].load
        maximum = max(maximum, load)
        minimum = min(minimum, load)
        total += load
        square += float(load) * load
        fullest = max(fullest, worker[g].count)
    duration = limits.t_fixed + limits.t_token * maximum + limits.t_mean * (total / limits.workers)
    record = records.row[row]
    record.maximum = maximum
    record.minimum = minimum
    record.total = total
    record.square = square
    record.admitted = admissions
    record.waiting = state.ints[WAITING]
    record.active = state.ints[ACTIVE]
    record.fullest = fullest
    record.start = state.floats[NOW]
    record.duration = duration
    record.paused = paused
    if len(records.loads) > 0:
        for g in range(limits.workers):
            records.loads[row, g] = worker[g].load
    state.floats[NOW] += duration


@inlined
def look_up(stream, state, i, age):  # type: ignore[no-untyped-def]
    """``ĉ`` of request ``i`` at this age: its own entry, or the one that is common to all."""
    place = age - state.request[i].table_first
    if 0 <= place < state.request[i].table_length:
        return stream.table[state.request[i].table_start + place]
    return stream.table[min(age, stream.common - 1)]


@kernel
def expected(stream, limits, state, reach, projected):  # type: ignore[no-untyped-def]
    """Hazard projection: expected loads ``Σ_i (W_i + h) P̂(r_i > h)`` into ``projected``, rounded to whole tokens.

    Expected departures between ``h − 1`` and ``h`` go into ``state.ring_count[g, h]``, in units of ``1/ONE``.
    """
    k = state.ints[ITERATION]
    departures = state.ring_count
    for g in range(limits.workers):
        for h in range(reach + 1):
            projected[g, h] = 0
            departures[g, h] = 0
    for j in range(state.ints[ACTIVE]):
        i = state.members[j]
        g, age = state.request[i].worker, k - state.request[i].admitted
        start, last = 0, stream.common - 1
        if age < state.request[i].table_length:
            start, last = state.request[i].table_start, state.request[i].table_last
        now, load = stream.alive[start + min(age, last)], state.request[i].prompt + age
        before = ONE
        unit = ONE / now if now > 0 else 0.0
        projected[g, 0] += load * ONE
        for h in range(1, reach + 1):
            stays = int(stream.alive[start + min(age + h, last)] * unit + 0.5)
            projected[g, h] += (load + h) * stays
            departures[g, h] += before - stays
            before = stays
    for g in range(limits.workers):
        for h in range(reach + 1):
            projected[g, h] = (projected[g, h] + ONE // 2) // ONE


@kernel
def oracle_window(stream, limits, state):  # type: ignore[no-untyped-def]
    """With forecasts refreshed every iteration: departures at ``k + H`` come into view."""
    _show(stream, limits, state, state.ints[ITERATION] + limits.horizon)


@kernel
def _show(stream, limits, state, time):  # type: ignore[no-untyped-def]
    row = time & (state.ring_count.shape[1] - 1)
    i = state.head[time & (len(state.head) - 1)]
    while i >= 0:
        if state.request[i].admitted + state.request[i].output == time:
            g = state.request[i].worker
            state.ring_count[g, row] += 1
            state.ring_base[g, row] += state.request[i].prompt - state.request[i].admitted
        i = state.request[i].chain


@kernel
def refresh(stream, limits, state):  # type: ignore[no-untyped-def]
    """Make new forecasts for every request in flight; they hold for the next ``H`` iterations."""
    k = state.ints[ITERATION]
    for row in range(state.ring_count.shape[1]):
        for g in range(limits.workers):
            state.ring_count[g, row] = 0
            state.ring_base[g, row] = 0
    if limits.forecast == ORACLE:
        for time in range(k + 1, k + min(limits.horizon, len(state.head) - 1) + 1):
            _show(stream, limits, state, time)
        return
    for g in range(limits.workers):
        state.worker[g].late_count = 0
        state.worker[g].late_base = 0
    for j in range(state.ints[ACTIVE]):
        i = state.members[j]
        forecast = look_up(stream, state, i, k - state.request[i].admitted)
        state.request[i].leaves = NEVER
        if forecast < limits.cap:
            away = max(1, int(forecast) + (1 if forecast > int(forecast) else 0))
            if away <= limits.horizon:
                g = state.request[i].worker
                row = (k + away) & (state.ring_count.shape[1] - 1)
                state.request[i].leaves = k + away
                state.ring_count[g, row] += 1
                state.ring_base[g, row] += state.request[i].prompt - state.request[i].admitted
