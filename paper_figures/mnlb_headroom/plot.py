"""MNLB's free parameter."""

from lbtheory.cells.intervals import bootstrap
from lbtheory.plots.cells import policy_curves

TITLE = "MNLB against the share of capacity that it may fill"
REFERENCE = "DLB paper, section 1.1; the figure is ours"

COLUMNS = {"value": "u_max", "policy": "policy", "mean": "mean / rand", "low": "low", "high": "high", "errors": "errors"}


def draw(tables):
    """Three panels."""
    return policy_curves(
        tables["mnlb-headroom"],
        "u_max: share of a cell's nominal capacity",
        policies=("rand", "mnlb", "flow-grad"),
        percent=True,
    )


def compare(tables):
    """One row a share and policy."""
    import pandas as pd

    rows = []
    for (value, policy), part in tables["mnlb-headroom"].groupby(["value", "policy"], sort=False):
        found = bootstrap(part["mean_ratio"])
        row = {"value": value, "policy": policy, "mean": found.mean, "low": found.low, "high": found.high}
        rows.append({**row, "errors": part["error_rate"].mean()})
    return pd.DataFrame(rows)


def numbers(tables):
    """Numbers of the caption."""
    rows = compare(tables).set_index(["policy", "value"])["mean"]
    found = {f"at_{round(100 * share)}": rows["mnlb", share] for share in (0.82, 0.86, 0.9, 0.95)}
    return found | {"flow": rows["flow-grad", 0.9]}
