"""Latency and errors against the period of what the roots go by."""

import pandas as pd

from lbtheory.cells.intervals import bootstrap
from lbtheory.plots.cells import period_curves

TITLE = "Latency and errors against how often roots look"
REFERENCE = "DLB paper, sections 3.1 and 5.4; the figure is ours"

COLUMNS = {
    "loop": "period of",
    "period": "period, s",
    "policy": "policy",
    "arrivals": "arrivals",
    "mean": "mean / rand",
    "low": "low",
    "high": "high",
    "errors": "errors",
    "probes": "probes a second",
}
LOOPS = {"probe_period": "probes", "flow_period": "flow updates", "plan_period": "the loop of MNLB"}


def draw(tables):
    """Latency over errors; a column a loop."""
    return period_curves(tables["staleness"], LOOPS)


def compare(tables):
    """One row a loop, period, policy and pattern of arrivals."""
    data = tables["staleness"]
    rows = []
    for (vary, value, policy, label), part in data.groupby(["vary", "value", "policy", "label"], sort=False):
        if policy == "rand":
            continue
        found = bootstrap(part["mean_ratio"])
        rows.append(
            {
                "loop": LOOPS[vary],
                "period": value,
                "policy": policy,
                "arrivals": label,
                "mean": found.mean,
                "low": found.low,
                "high": found.high,
                "errors": part["error_rate"].mean(),
                "probes": part["probes_per_second"].mean(),
            }
        )
    return pd.DataFrame(rows)


def numbers(tables):
    """Numbers of the caption."""
    rows = compare(tables)
    rows = rows[rows["arrivals"] == "steady"].set_index(["loop", "policy", "period"])["mean"]
    found = {}
    for policy in ("disc-rif", "disc-grad", "flow-grad"):
        for period, name in ((0.01, "fast"), (1.0, "second"), (10.0, "slow")):
            found[f"{policy.replace('-', '_')}_{name}"] = rows["probes", policy, period]
    return found | {"mnlb_fast": rows["the loop of MNLB", "mnlb", 1.0], "mnlb_slow": rows["the loop of MNLB", "mnlb", 30.0]}
