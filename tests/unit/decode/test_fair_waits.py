"""Caps on waits, the bonus on waits, and tenants."""

from typing import Any

import numpy as np
import pytest

from lbtheory.core import ParameterError
from lbtheory.decode import comparison, tasks
from lbtheory.decode.engine import simulate
from lbtheory.decode.policies import Policy, make_policy
from lbtheory.decode.records import Run
from lbtheory.decode.stream import RequestStream, request_stream
from lbtheory.decode.summary import summarise
from lbtheory.decode.timing import StepTime
from lbtheory.decode.traces.releases import saturated
from lbtheory.decode.workload import Source, make_workload


def stream(weights: np.ndarray | None = None, n: int = 900) -> RequestStream:
    """A saturated stream of spread sizes."""
    rng = np.random.default_rng(7)
    return request_stream(rng.integers(1, 300, n), rng.geometric(0.1, n), saturated(20), weights=weights)


def longest(text: str, requests: RequestStream) -> int:
    """Longest wait of an admitted request, iterations."""
    made = simulate(requests, make_policy(text), workers=4, slots=2).requests
    entered = made.admission_iteration > 0
    return int((made.admission_iteration - made.release_iteration)[entered].max())


def test_patience_bounds_waits() -> None:
    """Below the waits of FCFS the rule is FCFS; above, the longest wait ends soon after the cap."""
    requests = stream()
    fcfs = longest("jsq", requests)
    assert longest("br0:greedy=0,patience=0", requests) == fcfs
    assert longest("br0:greedy=0", requests) > 4 * fcfs
    for name in ("br0:greedy=0", "level-plus:overtake=none"):
        patience = 2 * fcfs
        got = longest(f"{name},patience={patience}", requests)
        assert patience <= got <= patience + fcfs


def test_bonus_shortens_waits() -> None:
    """More tokens an iteration, shorter longest waits; a huge bonus is FCFS admission. Without one the compiled rule runs."""
    requests = stream()
    waits = [longest(f"br0:greedy=0,bonus={bonus}", requests) for bonus in (0.0, 1.0, 20.0, 1e6)]
    assert waits[0] > waits[1] > waits[2] >= waits[3] == longest("jsq", requests)
    assert make_policy("br0:bonus=1").compiled(2) is None and make_policy("br0").compiled(2) is not None
    with pytest.raises(ParameterError, match="bonus"):
        make_policy("br0:bonus=-1")
    with pytest.raises(ParameterError, match="enumeration"):
        make_policy("br0:bonus=1,search=reachable-sums")
    with pytest.raises(ParameterError, match="patience"):
        make_policy("level-plus:patience=-2")


def test_heavier_tenants_wait_less() -> None:
    """The bonus is times the weight; without it weights change nothing."""
    n = 900
    weights = np.where(np.arange(n) % 2 == 0, 1, 5)
    made = simulate(stream(weights), make_policy("br0:greedy=0,bonus=5"), workers=4, slots=2).requests
    wait, entered = made.admission_iteration - made.release_iteration, made.admission_iteration > 0
    assert wait[entered & (weights == 5)].mean() < 0.6 * wait[entered & (weights == 1)].mean()
    runs = [simulate(stream(w), make_policy("br0"), workers=4, slots=2) for w in (None, weights)]
    assert np.array_equal(runs[0].requests.worker, runs[1].requests.worker)
    with pytest.raises(ParameterError, match="one weight a request"):
        stream(weights[:5])


def test_results_by_tenant() -> None:
    """Tenants of a workload get their shares and weights; a task's records hold the waits of the lightest and the heaviest."""
    source = {"p": "1/10", "prompts": "uniform:50", "tenants": "1:0.75,6:0.25"}
    work = make_workload(Source(**source), workers=3, slots=2, queue=16, steps=400)
    assert work.stream.tenants is not None and work.stream.weights is not None
    assert np.array_equal(work.stream.weights, np.where(work.stream.tenants == 1, 6, 1))
    assert work.stream.tenants.mean() == pytest.approx(0.25, abs=0.1)
    made = simulate(work.stream, make_policy("br0:bonus=3,greedy=0"), workers=3, slots=2, steps=400)
    light, heavy = summarise(made, StepTime(), warmup=20).tenants
    assert (light.weight, heavy.weight) == (1, 6) and 0 < heavy.admitted <= 1
    mine = (work.stream.tenants == 1) & (made.requests.release_iteration > 20)
    waits = made.requests.wait_iterations[mine & (made.requests.admission_iteration > 0)]
    assert heavy.released == mine.sum() and heavy.wait_iterations.mean == pytest.approx(waits.mean())
    jsq, bonus = tasks.versus(
        seed=0,
        workload="w",
        source=source,
        policies=["jsq", "br0:bonus=3,greedy=0"],
        workers=3,
        slots=2,
        overtake=None,
        queue=16,
        steps=400,
        warmup=20,
    )
    assert jsq["wait_light"] == pytest.approx(jsq["wait_heavy"], rel=0.2)
    assert bonus["wait_heavy"] < 0.7 * bonus["wait_light"] and 0 < bonus["admitted_light"] <= 1


@pytest.mark.parametrize("text", ["0,1", "1,x", "1:0.5,2", "1:0.4,2:0.5", "1:-1,2:2", "", "1.5,2"])
def test_wrong_tenants_are_refused(text: str) -> None:
    """Weights are whole numbers from 1, shares positive with sum 1, for all or for none."""
    with pytest.raises(ParameterError, match="tenants"):
        make_workload(Source(p="1/10", prompts="uniform:50", tenants=text), workers=1, slots=1, steps=5)


def test_exact_policy_takes_the_dear_ones() -> None:
    """IO_0 with a bonus: heavier tenants wait less, a bonus alone shortens the longest wait, and wrong options are refused."""
    source = Source(p="1/10", prompts="uniform:50", tenants="1,6")
    work = make_workload(source, workers=3, slots=2, queue=12, steps=150)
    waits = {}
    for text in ("io", "io:bonus=2"):
        made = simulate(work.stream, make_policy(text), workers=3, slots=2, steps=150)
        waits[text] = summarise(made, StepTime())
    light, heavy = waits["io:bonus=2"].tenants
    assert heavy.wait_iterations.mean < 0.7 * light.wait_iterations.mean
    assert waits["io:bonus=2"].wait_iterations.maximum < waits["io"].wait_iterations.maximum
    assert waits["io"].imbalance_sum.mean < waits["io:bonus=2"].imbalance_sum.mean
    with pytest.raises(ParameterError, match="bonus"):
        make_policy("io:bonus=1,tie=lexicographic")
    with pytest.raises(ParameterError, match="bonus"):
        make_policy("io:bonus=-1")


def test_an_interrupt_stops_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between two policies of a cell is not lost: the comparison keeps what it has, the task passes the interrupt on."""

    def stop(stream: RequestStream, policy: Policy, **options: Any) -> Run:
        if policy.name == "br0":
            raise KeyboardInterrupt
        return simulate(stream, policy, **options)

    monkeypatch.setattr(comparison, "simulate", stop)
    source = {"p": "1/10", "prompts": "uniform:50"}
    with pytest.raises(KeyboardInterrupt):
        tasks.versus(
            seed=0, workload="w", source=source, policies=["jsq", "br0"], workers=2, slots=2, overtake=None, queue=4, steps=50
        )
