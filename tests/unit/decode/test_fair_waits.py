"""Caps on waits, the bonus on waits, and tenants."""

import numpy as np
import pytest

from lbtheory.core import ParameterError
from lbtheory.decode import tasks
from lbtheory.decode.engine import simulate
from lbtheory.decode.policies import make_policy
from lbtheory.decode.stream import RequestStream, request_stream
from lbtheory.decode.traces.releases import saturated


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


def test_tenants_task() -> None:
    """Waits by tenant are those of the run."""
    records = tasks.tenants(
        seed=0,
        workload="w",
        source={"p": "1/10", "prompts": "uniform:50"},
        policies=["jsq", "br0:bonus=3,greedy=0"],
        workers=3,
        slots=2,
        overtake=None,
        queue=16,
        steps=400,
        warmup=20,
        weights=[1, 6],
        factor="bonus",
        value=3.0,
    )
    jsq, bonus = records
    assert jsq["wait_light"] == pytest.approx(jsq["wait_heavy"], rel=0.1)
    assert bonus["wait_heavy"] < 0.7 * bonus["wait_light"] and 0 < bonus["admitted_light"] <= 1
