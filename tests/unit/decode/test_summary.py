"""Every metric of a summary against a direct formula on the records."""

import numpy as np
import pytest

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.decode.comparison import compare
from lbtheory.decode.engine import simulate
from lbtheory.decode.policies import make_policy
from lbtheory.decode.records import Run
from lbtheory.decode.stream import RequestStream, request_stream
from lbtheory.decode.summary import summarise, weighted_quantiles
from lbtheory.decode.timing import StepTime
from lbtheory.decode.traces import at_iterations, bursts, saturated

TIMING = StepTime(t_fixed=0.05, t_token=1e-3, t_mean=2e-4)


def stream(n: int = 120) -> RequestStream:
    """Bursts with empty iterations between them."""
    rng = np.random.default_rng(4)
    releases = bursts(n, sizes=[30, 20, 70], gaps=[25, 40, 1])
    return request_stream(rng.integers(1, 20, n), rng.geometric(0.2, n), releases, seed=1)


@pytest.fixture(scope="module")
def run() -> Run:
    """Three workers of four slots."""
    return simulate(stream(), make_policy("br0"), workers=3, slots=4, timing=TIMING, keep_loads=True)


def test_iteration_metrics(run: Run) -> None:
    """Means over iterations with a request active, from the loads themselves."""
    found = summarise(run, TIMING)
    its = run.iterations
    assert its.loads is not None
    loads = its.loads[its.active > 0].astype(float)
    assert 0 < len(loads) < len(its), "some iterations are empty"
    top, total = loads.max(axis=1), loads.sum(axis=1)
    time = TIMING.t_fixed + TIMING.t_token * top + TIMING.t_mean * loads.mean(axis=1)
    assert found.imbalance_sum.mean == pytest.approx((3 * top - total).mean())
    assert found.imbalance_range.mean == pytest.approx((top - loads.min(axis=1)).mean())
    assert found.barrier_idle == pytest.approx((1 - total / (3 * top)).mean())
    assert found.balance_ratio == pytest.approx((total / (3 * top)).mean())
    assert found.barrier_idle_time == pytest.approx(TIMING.t_token * (3 * top - total).sum() / (3 * time.sum()))
    assert found.jain == pytest.approx((total**2 / (3 * (loads**2).sum(axis=1))).mean())
    assert found.coefficient_of_variation == pytest.approx((loads.std(axis=1) / loads.mean(axis=1)).mean())
    busy = loads.min(axis=1) > 0
    assert found.max_min_ratio == pytest.approx((top[busy] / loads.min(axis=1)[busy]).mean())
    assert found.throughput == pytest.approx(its.active.sum() / time.sum())
    assert found.occupancy == pytest.approx(its.active[its.active > 0].mean() / 12)
    assert found.occupancy_max == its.fullest.max() <= 4


def test_request_metrics(run: Run) -> None:
    """Latencies from the times of the requests; inter-token latencies from every token."""
    found, requests, its = summarise(run, TIMING), run.requests, run.iterations
    assert found.finished == 120 and found.tokens == requests.outputs.sum()
    end = its.end
    first, last = end[requests.admission_iteration - 1], end[requests.finish_iteration - 1]
    start = its.start[requests.admission_iteration - 1]
    several = requests.outputs > 1
    tpot = ((last - first) / np.maximum(requests.outputs - 1, 1))[several]
    assert found.tpot.mean == pytest.approx(tpot.mean()) and found.tpot.p95 == pytest.approx(np.quantile(tpot, 0.95))
    assert found.tpot.undefined == (~several).sum() and found.tpot_iteration.undefined == 0
    assert found.tpot_iteration.p99 == pytest.approx(np.quantile((last - start) / requests.outputs, 0.99))
    release = its.start[requests.release_iteration - 1]
    assert found.ttft.mean == pytest.approx((first - release).mean()) and found.ttft_admission.mean == pytest.approx(
        (first - start).mean()
    )
    assert found.e2e.p50 == pytest.approx(np.median(last - release))
    assert found.wait.maximum == pytest.approx((start - release).max())
    assert found.wait_iterations.mean == pytest.approx((requests.admission_iteration - requests.release_iteration).mean())
    gaps = [np.diff(end[x - 1 : f]) for x, f in zip(requests.admission_iteration, requests.finish_iteration, strict=True)]
    pooled = np.concatenate(gaps)
    assert found.itl.count == len(pooled) and found.itl.mean == pytest.approx(pooled.mean())
    assert found.itl.p95 == pytest.approx(np.quantile(pooled, 0.95, method="inverted_cdf"))


def test_goodput(run: Run) -> None:
    """Requests that meet all objectives, a second of time with work."""
    requests, its = run.requests, run.iterations
    seconds = its.duration[its.active > 0].sum()
    good = (requests.ttft <= 0.5) & ~(requests.tpot > 0.1)
    assert 0 < good.sum() < 120
    assert summarise(run, TIMING, objectives={"ttft": 0.5, "tpot": 0.1}).goodput == pytest.approx(good.sum() / seconds)
    assert summarise(run, TIMING, objectives={"e2e": 1e9}).goodput == pytest.approx(120 / seconds)
    with pytest.raises(UnknownNameError, match="'speed'"):
        summarise(run, TIMING, objectives={"speed": 1})


def test_warmup_leaves_out_iterations_and_requests(run: Run) -> None:
    """Iterations up to the warm-up, and requests admitted in them."""
    found, its = summarise(run, TIMING, warmup=20), run.iterations
    kept = its.active[20:] > 0
    assert found.imbalance_sum.mean == pytest.approx(its.imbalance_sum[20:][kept].mean())
    late = run.requests.admission_iteration > 20
    assert found.wait_iterations.mean == pytest.approx(run.requests.wait_iterations[late].mean())
    with pytest.raises(ParameterError, match="`warmup`"):
        summarise(run, TIMING, warmup=len(its))


def test_longest_wait_includes_those_who_still_wait() -> None:
    """A rule without a cap starves a request: its wait so far is the longest."""
    prompts = np.array([50] + [1] * 200)
    requests = request_stream(prompts, np.full(201, 2), saturated(5))
    run = simulate(requests, make_policy("level:overtake=none"), workers=1, slots=2, steps=40)
    found = summarise(run, StepTime())
    waiting = (run.requests.release_iteration > 0) & (run.requests.admission_iteration == 0)
    assert waiting.any()
    ages = len(run.iterations) - run.requests.release_iteration[waiting]
    assert found.wait_iterations.maximum == max(ages.max(), run.requests.wait_iterations.max())


def test_weighted_quantiles_repeat_values() -> None:
    """The same as repeating each value by its weight."""
    rng = np.random.default_rng(5)
    values, weights = rng.random(50), rng.integers(0, 9, 50)
    found, plain = weighted_quantiles(values, weights), np.repeat(values, weights)
    assert found.count == len(plain) and found.mean == pytest.approx(plain.mean()) and found.maximum == plain.max()
    for got, q in ((found.p50, 0.5), (found.p95, 0.95), (found.p99, 0.99)):
        assert got == np.quantile(plain, q, method="inverted_cdf")
    assert weighted_quantiles(values, 0 * weights).count == 0


def test_nothing_undefined_reaches_json() -> None:
    """One-token outputs have no TPOT and no inter-token latency: null, counted."""
    requests = request_stream(np.array([3, 4]), np.array([1, 1]), at_iterations([1, 1]), refused=2)
    out = compare(requests, {"jsq": make_policy("jsq"), "rr": make_policy("rr")}, workers=1, slots=2).as_json()
    metrics = out["policies"]["jsq"]
    assert metrics["tpot"] == {"mean": None, "p50": None, "p95": None, "p99": None, "undefined": 2}
    assert metrics["itl"]["mean"] is None and metrics["imbalance_sum"] == {"mean": 0.0, "ci": None} and metrics["refused"] == 2
    assert out["paired"]["rr"]["imbalance_sum_ratio"]["mean"] is None and "0" in out["notes"]["paired.rr.imbalance_sum_ratio"]


def test_interrupt_keeps_what_was_finished() -> None:
    """Ctrl-C during the second policy returns the first; during the first it is passed on."""
    policies = {name: make_policy(name) for name in ("jsq", "rr", "br0")}

    def stop(name: str, done: int, finished: int) -> None:
        if name == "rr":
            raise KeyboardInterrupt

    found = compare(stream(), policies, workers=3, slots=4, progress=stop)
    assert (
        list(found.summaries) == ["jsq"]
        and found.left_out == ("rr", "br0")
        and "rr, br0" in found.as_json()["notes"]["policies"]
    )
    with pytest.raises(KeyboardInterrupt):
        compare(stream(), {"rr": make_policy("rr")}, workers=3, slots=4, progress=stop)
