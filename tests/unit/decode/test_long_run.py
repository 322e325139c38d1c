"""Long runs of exact rules: who is left waiting, by hand and in a record."""

import math

import numpy as np

from lbtheory.decode.engine import simulate
from lbtheory.decode.long_run import long_run, oldest_waiting, waiting_sizes
from lbtheory.decode.policies import make_policy
from lbtheory.decode.workload import Source, make_workload


def test_sizes_left_waiting_are_those_of_the_queue() -> None:
    work = make_workload(Source(p="1/3", prompts="uniform:9"), workers=2, slots=2, queue=5, steps=40, seed=1)
    run = simulate(work.stream, make_policy("io"), workers=2, slots=2, steps=40)
    sizes = waiting_sizes(run)
    released, admitted = run.requests.release_iteration, run.requests.admission_iteration
    for k in range(1, 41):
        there = (released > 0) & (released <= k) & ((admitted == 0) | (admitted > k))
        assert there.sum() == 5
        assert math.isclose(sizes[k - 1], run.requests.prompts[there].mean())
    left = (released > 0) & (admitted == 0)
    assert oldest_waiting(run) == 40 - released[left].min()


def test_an_empty_queue_has_no_mean_size() -> None:
    work = make_workload(Source(p="1/2", prompts="uniform:3"), workers=2, slots=1, queue=0, steps=10, seed=1)
    run = simulate(work.stream, make_policy("jsq"), workers=2, slots=1, steps=10)
    assert np.isnan(waiting_sizes(run)).all() and oldest_waiting(run) == 0


def test_records_are_paired_with_the_first() -> None:
    rows = long_run(
        seed=0,
        workers=3,
        slots=4,
        p="1/5",
        prompts="uniform:20",
        queue=12,
        policies=["io:fallback=best", "jsq", "level"],
        iterations=200,
        warmup=40,
    )
    assert [row["policy"] for row in rows] == ["io:fallback=best", "jsq", "level"]
    assert rows[0]["over_first"] == 0 and rows[1]["decisions"] is rows[1]["unproved"] is rows[1]["gap"] is None
    assert 0 <= rows[0]["unproved"] <= rows[0]["decisions"] and rows[0]["gap"] >= rows[0]["unproved"]
    for row in rows[1:]:
        assert math.isclose(row["over_first"], row["imbalance"] - rows[0]["imbalance"], rel_tol=1e-6)
        assert row["over_first_low"] <= row["over_first"] <= row["over_first_high"]
    assert rows[0]["waiting_last"] < rows[1]["waiting_last"]
    for row in rows:
        tenths = [row[f"waiting_{j}"] for j in range(10)]
        assert math.isclose(np.mean(tenths[:2]), row["waiting_first"]) and math.isclose(
            np.mean(tenths[8:]), row["waiting_last"]
        )
        assert abs(row["offered"] - 10.5) < 1.5
