"""Traffic of a cell that was slow for a minute, and mean latency, by variant of the estimation."""

import pandas as pd

from lbtheory.cells.intervals import bootstrap
from lbtheory.plots.cell_runs import estimation_panels

TITLE = "Latency models estimated in the loop: censoring and starvation"
REFERENCE = "DLB paper, sections 3.3 and 6; the figure is ours"

COLUMNS = {
    "policy": "policy",
    "variant": "variant",
    "slow": "mean latency while slow, s",
    "after": "share of cell 0 from 1 to 3 minutes after",
    "low": "low",
    "high": "high",
    "latency": "mean latency then, s",
}
SLOW, AFTER = (60, 120), (180, 300)


def draw(tables):
    """Share of the cell over its servers, and mean latency; a column a policy."""
    return estimation_panels(tables["starvation"], SLOW)


def compare(tables):
    """One row a policy and variant."""
    rows = []
    for (policy, variant), part in tables["starvation"].groupby(["policy", "variant"], sort=False):
        slow, after = (
            part[(part["time"] > a) & (part["time"] < b)].groupby("scenario").mean(numeric_only=True) for a, b in (SLOW, AFTER)
        )
        share = bootstrap(after["share"])
        rows.append(
            {
                "policy": policy,
                "variant": variant,
                "slow": slow["latency"].mean(),
                "after": share.mean,
                "low": share.low,
                "high": share.high,
                "latency": after["latency"].mean(),
            }
        )
    return pd.DataFrame(rows)


def numbers(tables):
    """Numbers of the caption."""
    rows = compare(tables).set_index(["policy", "variant"])
    keys = {
        "plain": "plain",
        "prior pull": "pull",
        "dithering": "dither",
        "probing": "probe",
        "all four": "all",
        "in flight counted": "aged",
    }
    found = {}
    for policy in ("disc_lat", "flow_lat", "disc_grad", "flow_grad"):
        for variant, short in keys.items():
            row = rows.loc[(policy.replace("_", "-"), variant)]
            found |= {f"{policy}_{short}_after": row["after"], f"{policy}_{short}_slow": row["slow"]}
    return found
