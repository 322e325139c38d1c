"""Long-run imbalances of the specification's tables (simulated there by other code), and the public simulator's workload.

Saturated geometric streams, ``S ~ U{1..s}``, no overtaking cap. Values are means of finite runs, so each must lie within 4 % of
ours plus our own 99 % half-width (batch means, warm-up stated).
"""

import pytest

from lbtheory.decode.comparison import compare
from lbtheory.decode.policies import make_policy
from lbtheory.decode.workload import Source, make_workload

ROWS = [
    # G, B, p, s, queue, iterations, warm-up, values
    (8, 64, "1/20", 50, 64, 20_000, 1_000, {"jsq": 2_256, "br0:greedy=0": 470, "level:overtake=none": 326}),
    (8, 64, "1/20", 50, 256, 20_000, 1_000, {"level:overtake=none": 320}),
    (8, 64, "1/100", 100, 64, 60_000, 4_000, {"jsq": 9_769, "br0:greedy=0": 5_020, "level:overtake=none": 4_224}),
    (8, 256, "1/100", 100, 64, 40_000, 4_000, {"jsq": 19_215, "level:overtake=none": 4_117}),
]


@pytest.mark.statistical
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"G={row[0]},B={row[1]},p={row[2]},s={row[3]},queue={row[4]}")
def test_long_run_imbalance(row: tuple[int, int, str, int, int, int, int, dict[str, int]]) -> None:
    """Count-JSQ, BR-0 (stage 1 only) and LEVEL."""
    workers, slots, p, s, queue, steps, warmup, values = row
    source = Source(p=p, prompts=f"uniform:{s}")
    work = make_workload(source, workers=workers, slots=slots, queue=queue, steps=steps, seed=0)
    policies = {name: make_policy(name) for name in values}
    found = compare(work.stream, policies, workers=workers, slots=slots, steps=steps, warmup=warmup, level=0.99)
    for name, value in values.items():
        estimate = found.summaries[name].imbalance_sum
        assert estimate.high is not None
        assert abs(estimate.mean - value) <= 0.04 * value + (estimate.high - estimate.mean), (name, estimate)


@pytest.mark.statistical
@pytest.mark.parametrize(("workload", "value", "half"), [("azure2024-like", 3.96, 0.16), ("proprietary-like", 1.85, 0.12)])
def test_level_plus_on_the_synthetic_traces(workload: str, value: float, half: float) -> None:
    """``R = I(JSQ)/I(LEVEL+)`` of level.md at ``G = B = 8``, queue 64, ``D = 64``: 3.96 ± 0.16 and 1.85 ± 0.12."""
    work = make_workload(Source(trace=workload), workers=8, slots=8, release="saturated", start="residual", seed=0)
    policies = {name: make_policy(name, history=work.history) for name in ("jsq", "level-plus", "br0:overtake=64")}
    found = compare(work.stream, policies, workers=8, slots=8, warmup=4_000, level=0.99)
    ratio = found.paired["level-plus"].imbalance_sum_ratio
    other = found.paired["br0:overtake=64"].imbalance_sum_ratio
    assert ratio is not None and ratio.high is not None and other is not None
    assert abs(ratio.mean - value) <= half + (ratio.high - ratio.mean)
    assert ratio.mean > other.mean, "a rule without forecasts, ahead of BR-0 at the same cap"
