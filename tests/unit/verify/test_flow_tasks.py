"""Tasks of the stability experiment, and the figure made of them."""

import pandas as pd
import pytest

from lbtheory.plots.dynamics import stability_figure
from lbtheory.verify.flow_tasks import bistability, stepsizes


@pytest.mark.parametrize(
    ("ratio", "near", "far"), [(0.8, None, None), (0.9, None, 8.33), (1.1, 7.738, 7.738), (2.0, 6.239, 6.239)]
)
def test_limit_cycles(ratio: float, near: float | None, far: float | None) -> None:
    """Latency cost, load 0.8, τ = ½: at 0.9 η_c a start nearby settles and (10, 0) cycles; above η_c both do."""
    rows = bistability(seed=0, cost="latency", load=0.8, latency=0.5, ratio=ratio, far=10.0, starts=[0.05, 1.0], horizon=1500.0)
    for row, amplitude in zip(rows, (near, far), strict=True):
        assert row["cycles"] == (amplitude is not None)
        if amplitude is not None:
            assert row["amplitude"] == pytest.approx(amplitude, abs=3e-3)
    if ratio == 0.9:
        assert rows[1]["period"] == pytest.approx(33, abs=0.5)


def test_gradient_cycles_sooner() -> None:
    """Gradient cost, τ = 2: both starts converge at a gain of 0.1 and not at 0.2 (0.39 η_c)."""
    given = {"cost": "gradient", "load": 0.8, "latency": 2.0, "far": 10.0, "starts": [0.05, 1.0], "horizon": 3000.0}
    assert [row["cycles"] for row in bistability(seed=0, ratio=0.195, **given)] == [False, False]
    assert [row["cycles"] for row in bistability(seed=0, ratio=0.39, **given)] == [False, True]


def test_figure() -> None:
    """Every load and cycle of a small table is drawn."""
    loads = [row for load in (0.4, 0.8) for row in stepsizes(seed=0, cost="latency", load=load, latency=0.5, capacity=2.0)]
    assert loads[0]["eta_s3"] is not None and loads[1]["eta_s3"] is None and loads[0]["critical"] > loads[0]["sufficient"]
    cycles = [
        {"cost": cost, "ratio": 0.9, "start": start, "amplitude": 2.0 * start, "cycles": start > 0.5}
        for cost in ("latency", "gradient")
        for start in (0.1, 1.0)
    ]
    table = pd.DataFrame([{"what": "load", **row} for row in loads] + [{"what": "cycle", **row} for row in cycles])
    figure = stability_figure(table)
    assert len(figure.axes) == 3 and len(figure.axes[0].get_lines()) == 3
    assert figure.axes[1].collections[0].get_offsets().tolist() == [[0.9, 1.0]]
