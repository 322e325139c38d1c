"""Streams from what a user names, and the calibration on the published JSQ rows."""

import numpy as np
import pytest

from lbtheory.decode.calibration import JsqRow, calibrate
from lbtheory.decode.engine import simulate
from lbtheory.decode.policies import make_policy
from lbtheory.decode.statistics import batch_means
from lbtheory.decode.summary import summarise
from lbtheory.decode.workload import Source, Workload, make_workload

ROWS = {
    "proprietary-like": JsqRow(imbalance=215_110, throughput=843, tpot_p95=0.0832),
    "azure2024-like": JsqRow(imbalance=104_737, throughput=785, tpot_p95=0.0893),
}


def laws(seed: int, **more: int) -> Workload:
    """Two workers of three slots, 500 iterations."""
    return make_workload(Source(p="1/3", prompts="uniform:5"), workers=2, slots=3, steps=500, seed=seed, queue=4, **more)


@pytest.mark.parametrize("seed", range(8))
def test_a_stream_from_laws_lasts(seed: int) -> None:
    """Long enough for its steps, and not many times too long."""
    work = laws(seed)
    run = simulate(work.stream, make_policy("jsq"), workers=2, slots=3, steps=500)
    assert run.stopped == "steps" and len(run.iterations) == 500
    assert (run.iterations.waiting == 4).all() and (run.iterations.active == 6).all()
    assert len(work.stream) < 1.6 * run.iterations.admitted.sum()


def test_streams_depend_on_their_seed_only() -> None:
    """Equal seeds, equal streams; the history is another draw; a longer stream begins with the shorter."""
    a, b, c = laws(0), laws(0), laws(1)
    assert np.array_equal(a.stream.prompts, b.stream.prompts) and np.array_equal(a.stream.outputs, b.stream.outputs)
    assert not np.array_equal(a.stream.prompts[:500], c.stream.prompts[:500])
    assert not np.array_equal(a.stream.outputs[:500], a.history.outputs[:500])
    longer = make_workload(Source(p="1/3", prompts="uniform:5"), workers=2, slots=3, steps=900, queue=4)
    assert np.array_equal(longer.stream.prompts[: len(a.stream)], a.stream.prompts)


def test_prefill_reorders_requests() -> None:
    """A long prompt is released after shorter ones that arrived later; requests are indexed in release order."""
    source = Source(p="1/3", prompts="uniform:1000", requests=200)
    plain, pooled = (
        make_workload(source, workers=2, slots=3, release="poisson-clock:50", prefill=prefill)
        for prefill in (None, "4:1:0.01:1e-3")
    )
    assert sorted(plain.stream.prompts) == sorted(pooled.stream.prompts)
    assert not np.array_equal(plain.stream.prompts, pooled.stream.prompts)
    times = pooled.stream.releases.times
    assert times is not None and (np.diff(times) >= 0).all()
    assert plain.stream.releases.times is not None and times.mean() > plain.stream.releases.times.mean()


@pytest.mark.parametrize(("workload", "cv"), [("proprietary-like", 1.77), ("azure2024-like", 0.63)])
def test_calibration_reproduces_the_jsq_row(workload: str, cv: float) -> None:
    """Throughput and P95 exactly, the imbalance within the 99 % interval of the run (batch means, warm-up 4,000)."""
    row = ROWS[workload]
    found = calibrate(row, workload, workers=8, slots=8, warmup=4_000)
    assert found.prompt_cv == pytest.approx(cv, abs=0.05)
    source = Source(trace=workload, prompt_cv=found.prompt_cv)
    work = make_workload(source, workers=8, slots=8, release="saturated", start="residual")
    run = simulate(work.stream, make_policy("jsq"), workers=8, slots=8, timing=found.timing)
    summary = summarise(run, found.timing, warmup=4_000)
    assert summary.throughput == pytest.approx(row.throughput, rel=1e-9)
    assert summary.tpot_iteration.p95 == pytest.approx(row.tpot_p95, rel=1e-9)
    interval = batch_means(run.iterations.imbalance_sum[4_000:], 0.99)
    assert interval.low is not None and interval.high is not None and interval.low < row.imbalance < interval.high
