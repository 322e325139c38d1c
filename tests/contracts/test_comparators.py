"""Separate queues and the relaxed barrier: two engines and one trajectory, and the laws that replace the usual ones."""

import dataclasses
from collections import deque

import numpy as np
import pytest

from lbtheory.core import ParameterError
from lbtheory.decode.engine import simulate
from lbtheory.decode.policies import make_policy
from lbtheory.decode.records import Run
from lbtheory.decode.stream import RequestStream, request_stream
from lbtheory.decode.summary import summarise
from lbtheory.decode.timing import StepTime
from lbtheory.decode.traces.releases import at_iterations
from tests.contracts.cases import KINDS, PAUSED, SEPARATE, SHAPES, policy, run, stream
from tests.contracts.test_trajectories import assert_same


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", [*SEPARATE, *PAUSED])
def test_engines_agree(text: str, kind: str) -> None:
    """The compiled and the plain engine give the same trajectory, bit for bit; a policy object keeps nothing between runs."""
    for workers, slots in SHAPES:
        a, b = (run(text, kind, workers, slots, engine) for engine in ("compiled", "plain"))
        assert (a.engine, b.engine) == ("compiled", "plain")
        assert_same(a, b)
    chosen = policy(text)
    for engine in ("compiled", "plain"):
        first, again = (simulate(stream(kind), chosen, workers=3, slots=3, engine=engine, keep_loads=True) for _ in range(2))
        assert_same(first, again)


def bound_by_hand(made: Run, requests: RequestStream, bind: str) -> list[int]:
    """The worker that each released request is bound to, and a check that each queue is served in order while slots are free.

    Written from the definition: at every iteration survivors are counted from the records, released requests are bound one by
    one, and each worker admits from the front of its queue.
    """
    records, workers = made.requests, made.workers
    queues: list[deque[int]] = [deque() for _ in range(workers)]
    where = [-1] * len(requests)
    for k in range(1, len(made.iterations) + 1):
        flight = [
            [
                i
                for i in range(len(requests))
                if records.worker[i] == g
                and records.admission_iteration[i] < k <= records.admission_iteration[i] + requests.outputs[i] - 1
            ]
            for g in range(workers)
        ]
        for i in np.flatnonzero(records.release_iteration == k).tolist():
            if bind == "rr":
                g = i % workers
            elif bind == "tokens":
                scores = [
                    sum(int(requests.prompts[j]) + k - int(records.admission_iteration[j]) for j in flight[g])
                    + sum(int(requests.prompts[j]) for j in queues[g])
                    for g in range(workers)
                ]
                g = scores.index(min(scores))
            else:
                counts = [len(flight[g]) + len(queues[g]) for g in range(workers)]
                g = counts.index(min(counts))
            queues[g].append(i)
            where[i] = g
        for g in range(workers):
            free = made.slots - len(flight[g])
            going = [queues[g].popleft() for _ in range(min(free, len(queues[g])))]
            entered = np.flatnonzero((records.admission_iteration == k) & (records.worker == g)).tolist()
            assert going == entered, (k, g)
    return where


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", SEPARATE)
def test_separate_queues_by_hand(text: str, kind: str) -> None:
    """Bindings and admissions follow the definition, rebuilt from the records of the run; every request finishes."""
    for workers, slots in ((1, 3), (3, 2), (5, 1)):
        made, requests = run(text, kind, workers, slots, "compiled"), stream(kind)
        where = bound_by_hand(made, requests, text.partition("bind=")[2] or "jsq")
        entered = made.requests.admission_iteration > 0
        assert np.array_equal(made.requests.worker[entered], np.array(where)[entered])
        if kind != "saturated":
            assert made.stopped == "drained" and entered.all() and made.iterations.active.sum() == requests.outputs.sum()
    if text == "separate:bind=rr":
        idle = [(m.iterations.waiting > 0) & (m.iterations.active < 6) for m in [run(text, "iteration", 3, 2, "compiled")]]
        assert any(rows.any() for rows in idle), "slots stand empty while requests wait elsewhere"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", PAUSED)
def test_pausing_conserves(text: str, kind: str) -> None:
    """Tokens, slots and ages are conserved: each request takes ``O_i`` iterations and those in which it was paused."""
    requests = stream(kind)
    for workers, slots in SHAPES:
        made = run(text, kind, workers, slots, "plain")
        records, rows = made.requests, made.iterations
        done = records.finish_iteration > 0
        spent = records.finish_iteration - records.admission_iteration + 1
        assert np.array_equal(spent[done], (requests.outputs + records.paused)[done])
        if made.stopped == "drained":
            assert done.all() and (rows.active - rows.paused).sum() == requests.outputs.sum()
            assert rows.paused.sum() == records.paused.sum()
        assert (records.paused[done] <= requests.outputs[done] - 1).all(), "never at admission and never twice running"
        assert (rows.active <= workers * slots).all() and (rows.paused <= rows.active).all()
        table = summarise(made, StepTime()) if len(rows) else None
        if table is not None and made.stopped == "drained":
            assert table.tokens == requests.outputs.sum()
            assert table.itl.count == requests.outputs.sum() - len(requests)


def test_pausing_by_hand() -> None:
    """Two workers, loads 12 and 3 with ``δ = 0``: the 10 stands still every other iteration, the others go on."""
    requests = request_stream(np.array([10, 2, 1]), np.array([3, 6, 6]), at_iterations([1, 1, 1]))
    made = simulate(requests, make_policy("rr:pause=0"), workers=2, slots=2, keep_loads=True)
    # k = 1: 11 and 2, all new. k = 2: (11, 2) and 3; mean 8, excess 5: the 11 pauses. k = 3: it goes on, the 3 pauses. …
    assert made.requests.worker.tolist() == [0, 1, 0]
    assert made.iterations.loads is not None
    assert made.iterations.loads[:3].tolist() == [[11, 2], [2, 3], [11, 4]]
    assert made.iterations.paused[:3].tolist() == [0, 1, 1]
    assert made.requests.finish_iteration[0] == 1 + 3 - 1 + made.requests.paused[0]
    free = simulate(requests, make_policy("rr"), workers=2, slots=2)
    assert made.iterations.duration[1] < free.iterations.duration[1] and free.iterations.paused.sum() == 0
    assert summarise(made, StepTime()).tpot.maximum > summarise(free, StepTime()).tpot.maximum


def test_a_high_threshold_pauses_nobody() -> None:
    """With a limit above every load the run is that without pausing."""
    made, free = (
        simulate(stream("clock"), make_policy(text), workers=3, slots=3, keep_loads=True) for text in ("jsq:pause=2", "jsq")
    )
    assert_same(dataclasses.replace(made, engine=free.engine), free)


def test_refused() -> None:
    """Pausing needs a policy without forecasts and a number from 0; unknown bindings are named."""
    for text in ("jsq:pause=-1", "br0:pause=nan", "level-plus:pause=inf"):
        with pytest.raises(ParameterError, match="pause"):
            make_policy(text)
    with pytest.raises(ParameterError, match="bind"):
        make_policy("separate:bind=random")
    chosen = make_policy("brh:horizon=4")
    chosen.pause = 0.1
    with pytest.raises(ParameterError, match="forecasts"):
        simulate(stream("clock"), chosen, workers=2, slots=2)
