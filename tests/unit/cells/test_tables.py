"""Tasks, intervals, verdicts, and what the panels draw."""

import numpy as np
import pandas as pd
import pytest

from lbtheory.cells.intervals import bootstrap, direction
from lbtheory.cells.tasks import affinities, estimation, latency_curves, timeline, variations
from lbtheory.core import ParameterError
from lbtheory.plots.cell_runs import timelines
from lbtheory.plots.cells import over_scenarios, policy_curves

SMALL = {"trials": 1, "duration": 40.0, "warmup": 10.0, "base": {"cells": 2, "servers": 3.0}}


def test_bootstrap():
    """The interval of a normal mean is about ± 1.96 s/√n; one value has no width; bad values are refused."""
    sample = np.random.default_rng(0).normal(5, 2, 400)
    found = bootstrap(sample)
    half = 1.96 * sample.std() / 20
    assert found.mean == pytest.approx(sample.mean())
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.1)
    assert bootstrap([3.0]) == bootstrap([3.0, 3.0]) and bootstrap(sample) == bootstrap(sample)
    for bad in ([], [np.nan], [[1.0]]):
        with pytest.raises(ParameterError, match="finite numbers"):
            bootstrap(bad)


@pytest.mark.parametrize(
    "values, below, verdict",
    [
        ([0.1, 0.2, 0.15], True, "agrees"),
        ([0.1, 0.2, 0.15], False, "disagrees"),
        ([1.4, 1.5, 1.6], True, "disagrees"),
        ([1.4, 1.5, 1.6], False, "agrees"),
        ([0.5, 1.5, 0.9], True, "inconclusive"),
        ([0.5, 1.5, 0.9], False, "inconclusive"),
    ],
)
def test_directions(values, below, verdict):
    row = direction("statement", "quantity", values, 1.0, below=below).as_row()
    assert row["verdict"] == verdict and row["wanted"] == ("< 1" if below else "> 1")


def test_variations():
    """One record a value, trial and policy; a scenario keeps its cells; ratios are to rand of the same trial."""
    records = pd.DataFrame(
        variations(seed=1, policies=["mnlb", "disc-grad"], vary="utilisation", values=[0.5, 0.8], **{**SMALL, "trials": 2})
    )
    assert len(records) == 2 * 2 * 3 and set(records["policy"]) == {"rand", "mnlb", "disc-grad"}
    assert (records[records["policy"] == "rand"][["mean_ratio", "p90_ratio"]] == 1).all().all()
    some = records[(records["value"] == 0.8) & (records["trial"] == 1)].set_index("policy")
    assert some.loc["mnlb", "mean_ratio"] == some.loc["mnlb", "mean"] / some.loc["rand", "mean"]
    assert (records["arrived"] == records["done"] + records["failed"] + records["in_flight"]).all()


def test_variations_of_every_kind():
    burst = pd.DataFrame(
        variations(seed=1, policies=["disc-rif"], vary="disruption", values=["none", "burst", "outage"], **SMALL)
    )
    arrived = burst[burst["policy"] == "rand"].set_index("value")["arrived"]
    assert arrived["burst"] > 1.05 * arrived["none"] == 1.05 * arrived["outage"]
    stale = pd.DataFrame(variations(seed=1, policies=["disc-rif"], vary="probe_period", values=[0.01, 5.0], **SMALL))
    assert stale["probes_per_second"].tolist()[::2] == [400.0, 0.8]
    noisy = pd.DataFrame(variations(seed=1, policies=["disc-rif", "disc-lat"], vary="noise", values=[0.0, 0.5], **SMALL))
    noisy = noisy.pivot(index="value", columns="policy", values="mean")
    assert noisy["disc-rif"].nunique() == 1 and noisy["disc-lat"].nunique() == 2


def test_timeline_and_its_panel():
    events = [{"kind": "unhealthy", "start": 10.0, "end": 20.0, "cell": 0, "share": 1.0}]
    shared = {"cells": 2, "duration": 30.0, "step": 5.0, "utilisation": 0.5, "events": events, "aversion": True}
    rows = pd.DataFrame(timeline(seed=1, policy="rand", **shared))
    assert len(rows) == 12
    bad = rows[(rows["cell"] == "cell-0") & (rows["time"] > 10) & (rows["time"] < 20)]
    assert (bad["errors"] == 1).all() and (rows[rows["cell"] == "cell-1"]["errors"] == 0).all()
    figure = timelines(rows, [(10, 20, "unhealthy")])
    assert len(figure.axes) == 3 and len(figure.axes[0].lines) == 2
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), rows[rows["cell"] == "cell-0"]["load"])


def test_curves_draw_the_means():
    table = pd.DataFrame(
        {
            "value": [0.5, 0.5, 0.8, 0.8],
            "policy": ["rand"] * 4,
            "scenario": [0, 1, 0, 1],
            "mean_ratio": [1.0, 2.0, 3.0, 5.0],
            "p90_ratio": 1.0,
            "error_rate": 0.0,
        }
    )
    figure = policy_curves(table, "x", policies=["rand"])
    assert figure.axes[0].lines[0].get_ydata().tolist() == [1.5, 4.0]
    assert over_scenarios(table, "mean_ratio")["low"].tolist() == [1.0, 3.0]


def test_affinity_task():
    """Sticky sessions meet nine prefixes in ten (sessions of ten), without affinity few do; what is saved is 45 % of those."""
    shared = {"policy": "flow-rif", "utilisations": [0.5], "hot": [0.0], "duration": 40.0, "warmup": 10.0}
    rows = pd.DataFrame(affinities(seed=1, kinds=["none", "sticky"], **shared)).set_index("affinity")
    assert rows.loc["sticky", "hit"] > 0.8 > 0.2 > rows.loc["none", "hit"]
    assert rows.loc["sticky", "saved"] == pytest.approx(0.65 * 0.45 * rows.loc["sticky", "hit"], rel=0.1)


def test_estimation_task():
    variants = {"calibrated": {}, "plain": {"pull": 0.0}}
    shared = {"cells": 2, "utilisation": 0.5, "duration": 40.0, "slow": [10.0, 20.0], "factor": 3.0, "step": 10.0}
    rows = pd.DataFrame(estimation(seed=1, policies=["disc-lat"], variants=variants, **shared))
    assert len(rows) == 8 and rows["share"].between(0, 2).all()
    slow = rows[(rows["variant"] == "calibrated") & (rows["time"] == 15.0)].iloc[0]
    assert slow["share"] < 0.9


def test_latency_curves_task():
    rows = pd.DataFrame(latency_curves(seed=1, cells=2, utilisation=0.5, wave=0.3, duration=60.0))
    assert set(rows["kind"]) == {"bin", "closed loop"} and (rows["a"] >= 1.0499 * rows["b"] * rows["k"]).all()
