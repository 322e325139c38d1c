"""Times and imbalances of small runs worked out by hand, and the files they are written to."""

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lbtheory.core import ParameterError
from lbtheory.decode.engine import simulate
from lbtheory.decode.policies import make_policy
from lbtheory.decode.records import Run
from lbtheory.decode.stream import request_stream
from lbtheory.decode.timing import StepTime
from lbtheory.decode.traces.releases import Releases, at_iterations, at_times, bursts, saturated
from tests.reference import decode as plain

TIMING = StepTime(t_fixed=1.0, t_token=0.5, t_mean=0.25)
ENGINES = pytest.mark.parametrize("engine", ["compiled", "plain"])


def three(releases: Releases, workers: int, engine: str, keep_loads: bool = True) -> Run:
    """``S = (4, 2, 3)``, ``O = (2, 1, 3)`` on workers with one slot, Count-JSQ, ``1 + M/2 + mean/4`` seconds a step."""
    requests = request_stream(np.array([4, 2, 3]), np.array([2, 1, 3]), releases)
    policy = make_policy("jsq")
    return simulate(requests, policy, workers=workers, slots=1, timing=TIMING, engine=engine, keep_loads=keep_loads)


@ENGINES
def test_two_workers(engine: str) -> None:
    """Releases at 0, 0 and 20 s; two workers.

    k = 1: requests 0 and 1 start, loads (4, 2), step 1 + 2 + 0.75 = 3.75, from 0 to 3.75; request 1 finishes.
    k = 2: loads (5, 0), step 1 + 2.5 + 0.625 = 4.125, to 7.875; request 0 finishes. Nothing is left: the clock jumps to 20.
    k = 3, 4, 5: request 2 alone, loads 3, 4, 5, steps 2.875, 3.5, 4.125: to 22.875, 26.375, 30.5.
    """
    made = three(at_times([0.0, 0.0, 20.0]), 2, engine)
    rows, records = made.iterations, made.requests
    assert made.stopped == "drained" and made.engine == engine
    assert rows.loads is not None
    assert rows.loads.tolist() == [[4, 2], [5, 0], [3, 0], [4, 0], [5, 0]]
    assert rows.imbalance_sum.tolist() == [2, 5, 3, 4, 5]
    assert rows.imbalance_range.tolist() == [2, 5, 3, 4, 5]
    assert rows.barrier_idle.tolist() == [0.25, 0.5, 0.5, 0.5, 0.5]
    assert rows.start.tolist() == [0, 3.75, 20, 22.875, 26.375]
    assert rows.end.tolist() == [3.75, 7.875, 22.875, 26.375, 30.5]
    assert rows.active.tolist() == [2, 1, 1, 1, 1] and rows.admitted.tolist() == [2, 0, 1, 0, 0]
    assert rows.waiting.tolist() == [0] * 5 and rows.fullest.tolist() == [1] * 5
    assert records.worker.tolist() == [0, 1, 0]
    assert records.release_iteration.tolist() == records.admission_iteration.tolist() == [1, 1, 3]
    assert records.finish_iteration.tolist() == [2, 1, 5] and records.finished.all()
    assert records.release.tolist() == records.admission.tolist() == [0, 0, 20]
    assert records.ttft.tolist() == records.ttft_admission.tolist() == [3.75, 3.75, 2.875]
    assert records.finish.tolist() == [7.875, 3.75, 30.5]
    assert records.tpot[0] == 4.125 and np.isnan(records.tpot[1]) and records.tpot[2] == (30.5 - 22.875) / 2
    assert records.tpot_iteration.tolist() == [7.875 / 2, 3.75, 10.5 / 3]
    assert records.wait.tolist() == [0, 0, 0] and records.wait_iterations.tolist() == [0, 0, 0]


@ENGINES
def test_one_worker_with_a_wait(engine: str) -> None:
    """Releases at 0, 1 and 100 s; one worker, so M and the mean are the same load.

    k = 1: load 4, step 1 + 2 + 1 = 4, to 4. k = 2: load 5, step 4.75, to 8.75; request 1 joined at its start, 4 s, and waits.
    k = 3: request 1, load 2, step 2.5, to 11.25: it waited 8.75 − 1 s, one iteration. The clock jumps to 100.
    k = 4, 5, 6: request 2, loads 3, 4, 5, steps 3.25, 4, 4.75: to 103.25, 107.25, 112.
    """
    made = three(at_times([0.0, 1.0, 100.0]), 1, engine)
    rows, records = made.iterations, made.requests
    assert rows.start.tolist() == [0, 4, 8.75, 100, 103.25, 107.25] and rows.end[-1] == 112
    assert rows.waiting.tolist() == [0, 1, 0, 0, 0, 0]
    assert rows.imbalance_sum.tolist() == [0] * 6 and rows.barrier_idle.tolist() == [0] * 6
    assert records.release.tolist() == [0, 1, 100] and records.admission.tolist() == [0, 8.75, 100]
    assert records.release_iteration.tolist() == [1, 2, 4]
    assert records.wait.tolist() == [0, 7.75, 0] and records.wait_iterations.tolist() == [0, 1, 0]
    assert records.ttft.tolist() == [4, 10.25, 3.25] and records.ttft_admission.tolist() == [4, 2.5, 3.25]
    assert records.tpot[[0, 2]].tolist() == [4.75, 4.375] and np.isnan(records.tpot[1])
    assert records.tpot_iteration.tolist() == [8.75 / 2, 2.5, 4.0]


@ENGINES
def test_empty_iterations(engine: str) -> None:
    """By iteration the clock does not jump: iterations 2 to 4 are empty, cost ``t_fixed`` and have no imbalance."""
    requests = request_stream(np.array([4, 2, 3]), np.array([1, 1, 2]), at_iterations([1, 5, 5]))
    made = simulate(requests, make_policy("jsq"), workers=2, slots=1, timing=TIMING, engine=engine, keep_loads=True)
    rows = made.iterations
    assert rows.loads is not None and rows.loads.tolist() == [[4, 0], [0, 0], [0, 0], [0, 0], [2, 3], [0, 4]]
    assert rows.imbalance_sum.tolist() == [4, 0, 0, 0, 1, 4] and rows.imbalance_range.tolist() == [4, 0, 0, 0, 1, 4]
    assert rows.barrier_idle.tolist() == [0.5, 0, 0, 0, 1 / 6, 0.5]
    assert rows.duration.tolist() == [3.5, 1, 1, 1, 1 + 1.5 + 0.625, 3.5]
    assert np.array_equal(rows.start[1:], rows.end[:-1])
    assert made.requests.release.tolist() == [0, 6.5, 6.5], "released by iteration: at the start of it"
    assert rows.maximum.tolist() == [4, 0, 0, 0, 3, 4] and rows.total.tolist() == [4, 0, 0, 0, 5, 4]


@ENGINES
def test_bursts_with_empty_iterations(engine: str) -> None:
    """A burst above capacity queues up, and the gap after the last departure stays empty."""
    requests = request_stream(np.full(10, 5), np.ones(10, int), bursts(10, sizes=[5, 1], gaps=[6, 2]))
    made = simulate(requests, make_policy("jsq"), workers=2, slots=1, engine=engine)
    assert made.requests.release_iteration.tolist() == [1] * 5 + [7] + [9] * 4
    assert made.requests.admission_iteration.tolist() == [1, 1, 2, 2, 3, 7, 9, 9, 10, 10]
    assert made.iterations.active.tolist() == [2, 2, 1, 0, 0, 0, 1, 0, 2, 2]
    assert made.iterations.waiting.tolist() == [3, 1, 0, 0, 0, 0, 0, 0, 2, 0]
    assert made.iterations.barrier_idle.tolist() == [0, 0, 0.5, 0, 0, 0, 0.5, 0, 0, 0]


@ENGINES
def test_unfinished_requests(engine: str) -> None:
    """Cut after two iterations: what did not happen is 0, −1 or NaN, the rest is as in the whole run."""
    requests = request_stream(np.array([4, 2, 3]), np.array([2, 5, 3]), at_times([0.0, 1.0, 100.0]))
    made = simulate(requests, make_policy("jsq"), workers=1, slots=2, steps=2, timing=TIMING, engine=engine)
    records = made.requests
    assert made.stopped == "steps" and records.finished.tolist() == [True, False, False]
    assert records.finish_iteration.tolist() == [2, 0, 0] and records.worker.tolist() == [0, 0, -1]
    assert records.admission_iteration.tolist() == [1, 2, 0] and records.release_iteration.tolist() == [1, 2, 0]
    assert np.isnan(records.finish).tolist() == [False, True, True]
    assert np.isnan(records.tpot_iteration).tolist() == [False, True, True]
    assert np.isnan(records.ttft).tolist() == [False, False, True] and np.isnan(records.wait).tolist() == [False, False, True]
    assert records.wait_iterations.tolist() == [0, 0, -1]


@ENGINES
def test_a_stream_that_cannot_fill_the_queue(engine: str) -> None:
    """Saturated releases stop when the queue cannot be kept at its length; nothing is made up."""
    requests = request_stream(np.full(9, 2), np.full(9, 1), saturated(3))
    made = simulate(requests, make_policy("jsq"), workers=2, slots=1, engine=engine)
    assert made.stopped == "exhausted" and len(made.iterations) == 3
    assert made.iterations.waiting.tolist() == [3, 3, 3] and made.requests.finished.sum() == 6
    short = simulate(
        request_stream(np.full(4, 2), np.full(4, 1), saturated(3)), make_policy("jsq"), workers=2, slots=1, engine=engine
    )
    assert short.stopped == "exhausted" and len(short.iterations) == 0 and len(short.requests) == 4
    assert short.iterations.imbalance_sum.tolist() == [] and not short.requests.finished.any()


def test_times_against_the_plain_simulator() -> None:
    """TTFT, both TPOTs and waits of a random clocked run, from the oracle's iterations."""
    rng = np.random.default_rng(4)
    n = 80
    prompts, outputs, times = rng.integers(1, 30, n), rng.geometric(0.2, n), np.sort(rng.random(n) * 8)

    def step_time(loads: list[int]) -> float:
        return 0.05 + 0.003 * max(loads) + 0.001 * (sum(loads) / len(loads))

    want = plain.simulate(
        prompts.tolist(),
        outputs.tolist(),
        plain.token_jsq(),
        workers=3,
        slots=2,
        kind="clock",
        times=times.tolist(),
        step_time=step_time,
    )
    made = simulate(
        request_stream(prompts, outputs, at_times(times)),
        make_policy("token-jsq"),
        workers=3,
        slots=2,
        timing=StepTime(t_fixed=0.05, t_token=0.003, t_mean=0.001),
    )
    for i in range(n):
        x = want.admitted[i] - 1
        last = x + int(outputs[i]) - 1
        records = made.requests
        assert records.wait[i] == want.start[x] - times[i]
        assert records.wait_iterations[i] == want.admitted[i] - want.released[i]
        assert records.ttft[i] == want.end[x] - times[i] and records.ttft_admission[i] == want.end[x] - want.start[x]
        spent = sum(want.end[k] - want.start[k] for k in range(x, last + 1))
        assert records.tpot_iteration[i] == pytest.approx(spent / outputs[i], rel=1e-12)
        if outputs[i] == 1:
            assert np.isnan(records.tpot[i])
        else:
            assert records.tpot[i] == (want.end[last] - want.end[x]) / (outputs[i] - 1)


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_files_read_back_the_same(tmp_path: Path, file_format: str, keep: bool) -> None:
    """Both tables, value for value, from files with the names that `write` returns."""
    made = three(at_times([0.0, 1.0, 100.0]), 2, "compiled", keep)
    files = made.write(tmp_path / "new" / "folder", file_format=file_format)
    assert [f.name for f in files] == [f"iterations.{file_format}", f"requests.{file_format}"]
    for file, records in zip(files, (made.iterations, made.requests), strict=True):
        back = pd.read_parquet(file) if file_format == "parquet" else pd.read_csv(file)
        # Older pandas reads decimals to within a unit in the last place.
        pd.testing.assert_frame_equal(back, records.table(), check_exact=file_format == "parquet", rtol=1e-15, atol=0)
    iterations = made.iterations.table()
    assert iterations["iteration"].tolist() == list(range(1, len(iterations) + 1))
    assert [c for c in iterations if c.startswith("load_")] == (["load_0", "load_1"] if keep else [])
    assert made.requests.table()["tpot"].isna().tolist() == [False, True, False]


def test_an_unknown_file_format_is_refused(tmp_path: Path) -> None:
    """Named, and nothing is written."""
    with pytest.raises(ParameterError, match="parquet or csv; got 'json'"):
        three(at_times([0.0, 1.0, 2.0]), 1, "plain").write(tmp_path / "out", file_format="json")
    assert not (tmp_path / "out").exists()


@ENGINES
def test_loads_are_kept_on_request_only(engine: str) -> None:
    """``keep_loads`` changes nothing else."""
    with_loads, without = (three(at_iterations([1, 1, 2]), 2, engine, keep) for keep in (True, False))
    assert without.iterations.loads is None
    assert with_loads.iterations.loads is not None
    assert np.array_equal(with_loads.iterations.loads.max(axis=1), without.iterations.maximum)
    assert np.array_equal(with_loads.iterations.loads.min(axis=1), without.iterations.minimum)
    assert np.array_equal(with_loads.iterations.loads.sum(axis=1), without.iterations.total)
    assert np.array_equal(with_loads.requests.finish, without.requests.finish)


@ENGINES
@pytest.mark.parametrize("releases", [at_iterations([1, 1, 2]), saturated(1), at_times([0.0, 1.0, 2.0])])
def test_records_are_frozen(releases: Releases, engine: str) -> None:
    """No field can be set and no array written."""
    made = three(releases, 1, engine)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.workers = 3  # type: ignore[misc]
    for records in (made.iterations, made.requests):
        for field in dataclasses.fields(records):
            value = getattr(records, field.name)
            if isinstance(value, np.ndarray) and value.size:
                assert not value.flags.writeable, field.name
