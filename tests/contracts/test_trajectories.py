"""What holds for every run of every policy: two engines and one trajectory, conservation, capacity, maximality, fairness."""

import dataclasses

import numpy as np
import pytest

from lbtheory.decode.engine import simulate
from lbtheory.decode.policies import known_policies
from lbtheory.decode.records import Run
from lbtheory.decode.stream import RequestStream, request_stream
from lbtheory.decode.traces.releases import at_iterations
from tests.contracts.cases import COMPILED, EXACT, FCFS, KINDS, SEPARATE, SHAPES, SIZED, TINY, policy, run, stream

ALL_RUNS = [(text, kind) for text in COMPILED for kind in KINDS]


def assert_same(a: Run, b: Run) -> None:
    """Every record of two runs is equal, bit for bit."""
    assert a.stopped == b.stopped
    for one, other in ((a.iterations, b.iterations), (a.requests, b.requests)):
        for field in dataclasses.fields(one):
            x, y = getattr(one, field.name), getattr(other, field.name)
            if isinstance(x, np.ndarray):
                assert np.array_equal(x, y, equal_nan=x.dtype.kind == "f"), field.name
                assert x.dtype == y.dtype, field.name
            else:
                assert x == y, field.name


def assert_lawful(made: Run, requests: RequestStream) -> None:
    """Recompute a run from its request records alone and check the conservation laws."""
    records, rows = made.requests, made.iterations
    k = np.arange(1, len(rows) + 1)[:, None]
    entered, worker = records.admission_iteration, records.worker
    leaves = entered + requests.outputs - 1
    active = (entered > 0) & (entered <= k) & (k <= leaves)
    on = worker[None, :] == np.arange(made.workers)[:, None]
    counts = active.astype(int) @ on.T
    loads = np.where(active, requests.prompts + k - entered, 0) @ on.T
    assert np.array_equal(rows.loads, loads)
    assert np.array_equal(rows.fullest, counts.max(axis=1)) and counts.max(initial=0) <= made.slots
    assert np.array_equal(rows.active, counts.sum(axis=1))
    released = ((records.release_iteration > 0) & (records.release_iteration <= k)).sum(axis=1)
    admitted = np.array([(entered == j).sum() for j in k[:, 0]], int)
    before = np.concatenate([[0], np.cumsum(admitted)[:-1]]).astype(int) if len(k) else np.zeros(0, int)
    free = made.workers * made.slots - (counts.sum(axis=1) - admitted)
    assert np.array_equal(rows.admitted, np.minimum(released - before, free)), "maximality"
    assert np.array_equal(rows.admitted, admitted) and np.array_equal(rows.waiting, released - before - admitted)
    assert (records.release_iteration[entered > 0] <= entered[entered > 0]).all()
    done = records.finish_iteration > 0
    assert np.array_equal(done, (entered > 0) & (leaves <= len(rows)))
    assert np.array_equal(records.finish_iteration[done], leaves[done])
    if made.stopped == "drained":
        assert done.all() and rows.active.sum() == requests.outputs.sum()
    if requests.releases.kind == "saturated":
        assert (rows.waiting == requests.releases.queue).all() and (rows.active == made.workers * made.slots).all()
    else:
        assert made.stopped == "drained"
    assert (rows.start[1:] >= rows.end[:-1]).all() and (rows.duration > 0).all()


def overtaken(made: Run) -> np.ndarray:
    """For each admitted request, how many later ones were admitted in earlier iterations."""
    entered = made.requests.admission_iteration
    times = entered[entered > 0] if (entered > 0).all() else np.where(entered > 0, entered, np.iinfo(np.int64).max)
    return np.array([(times[i + 1 :] < times[i]).sum() for i in range(len(times))], int)


def test_every_policy_has_cases() -> None:
    """A new policy cannot come without contracts."""
    assert {text.partition(":")[0] for text in (*COMPILED, *TINY, *SEPARATE)} == set(known_policies())
    assert {text.partition(":")[0] for text in SIZED} | set(EXACT) == {n for n, c in known_policies().items() if c.sized}


@pytest.mark.parametrize(("text", "kind"), ALL_RUNS)
def test_engines_agree(text: str, kind: str) -> None:
    """The compiled and the plain engine give the same trajectory, bit for bit."""
    for workers, slots in SHAPES:
        a, b = (run(text, kind, workers, slots, engine) for engine in ("compiled", "plain"))
        assert (a.engine, b.engine) == ("compiled", "plain")
        assert_same(a, b)


@pytest.mark.parametrize(("text", "kind"), ALL_RUNS)
def test_conservation(text: str, kind: str) -> None:
    """Every request finishes once, tokens are conserved, occupancy stays within ``B``, admission is maximal."""
    for workers, slots in SHAPES:
        made = run(text, kind, workers, slots, "compiled")
        if kind != "saturated" or workers * slots < 20:
            assert len(made.iterations) > 0
        assert_lawful(made, stream(kind))


@pytest.mark.parametrize("text", FCFS)
def test_fcfs_admits_in_release_order(text: str) -> None:
    """Rules of the benchmark class never admit a later request in an earlier iteration."""
    for kind in KINDS:
        for workers, slots in SHAPES:
            assert overtaken(run(text, kind, workers, slots, "compiled")).max(initial=0) == 0


@pytest.mark.parametrize("text", SIZED)
def test_overtaking_cap(text: str) -> None:
    """No request is overtaken by more than ``D`` later ones; ``D = 0`` is FCFS admission."""
    cap = policy(text).overtake
    most = max(overtaken(run(text, kind, g, b, "compiled")).max(initial=0) for kind in KINDS for g, b in SHAPES)
    if cap is not None:
        assert most <= cap
    elif text.partition(":")[0] != "brh" and policy(text).patience is None:
        assert most > 0, "without a cap a rule that chooses by size overtakes somewhere"


@pytest.mark.parametrize("text", [t for t in SIZED if t in ("br0", "level", "level-plus", "level-h:horizon=12")])
def test_cap_binds(text: str) -> None:
    """On a long saturated stream the cap is reached: it is neither slack nor off by one."""
    requests = stream("saturated", 600, 3)
    for cap in (1, 4, 9):
        chosen = dataclasses.replace(policy(text), overtake=cap)
        made = simulate(requests, chosen, workers=3, slots=1, keep_loads=True)
        assert overtaken(made).max() == cap


@pytest.mark.parametrize("text", [t for t in (*SIZED, *TINY) if policy(t).patience is not None])
def test_patience(text: str) -> None:
    """Nobody later goes before a request that has waited as long as the cap says, and the cap is not slack."""
    patience = policy(text).patience
    assert patience is not None
    longest = -1
    for kind in KINDS:
        made = run(text, kind, 3, 1, "plain" if text in TINY else "compiled")
        entered, released = made.requests.admission_iteration, made.requests.release_iteration
        for j in np.flatnonzero(entered > 0):
            passed = np.flatnonzero((released[:j] > 0) & ((entered[:j] == 0) | (entered[:j] > entered[j])))
            longest = max(longest, int((entered[j] - released[passed]).max(initial=-1)))
    assert longest < patience
    if policy(text).overtake is None and patience > 0:
        assert longest == patience - 1, "on these streams somebody is passed one iteration before the cap"


@pytest.mark.parametrize("engine", ["compiled", "plain"])
def test_starvation_and_its_cure(engine: str) -> None:
    """Beside a heavy survivor BR-0 leaves the one small prompt for last; a cap ``D`` bounds its wait by exactly ``D`` turns."""
    prompts, outputs = np.array([1000, 1] + [9] * 60), np.array([200] + [1] * 61)
    requests = request_stream(prompts, outputs, at_iterations([1] + [2] * 61))
    waits = {}
    for cap in (None, 10, 0):
        chosen = dataclasses.replace(policy("br0"), overtake=cap)
        made = simulate(requests, chosen, workers=2, slots=1, engine=engine)
        waits[cap] = int(made.requests.wait_iterations[1])
    assert waits == {None: 60, 10: 10, 0: 0}


@pytest.mark.parametrize("text", TINY)
@pytest.mark.parametrize("kind", KINDS)
def test_exact_policies(text: str, kind: str) -> None:
    """The exact policies run in the plain engine under the same laws."""
    requests = stream(kind, 16, 1)
    for workers, slots in ((1, 2), (2, 2), (3, 1)):
        made = simulate(requests, policy(text), workers=workers, slots=slots, keep_loads=True)
        assert made.engine == "plain"
        assert_lawful(made, requests)
        cap = policy(text).overtake
        assert cap is None or overtaken(made).max(initial=0) <= cap


@pytest.mark.parametrize("text", COMPILED)
def test_runs_are_repeatable(text: str) -> None:
    """A policy object keeps nothing between runs, and a run cut after K steps is the beginning of the full one."""
    chosen = policy(text)
    for engine in ("compiled", "plain"):
        first, again = (
            simulate(stream("iteration"), chosen, workers=3, slots=3, engine=engine, keep_loads=True) for _ in range(2)
        )
        assert_same(first, again)
        cut = simulate(stream("iteration"), chosen, workers=3, slots=3, engine=engine, keep_loads=True, steps=9)
        assert cut.stopped == "steps" and len(cut.iterations) == 9
        assert np.array_equal(cut.iterations.loads, first.iterations.loads[:9])
        assert np.array_equal(cut.iterations.start, first.iterations.start[:9])
        seen = np.where(first.requests.admission_iteration <= 9, first.requests.admission_iteration, 0)
        assert np.array_equal(cut.requests.admission_iteration, seen)
        assert (cut.requests.finish_iteration <= 9).all()
