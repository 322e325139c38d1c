"""One row a scenario, policy, variant and time step."""

import pandas as pd

COLUMNS = {
    "policy": "policy",
    "variant": "variant",
    "scenario": "scenario",
    "time": "time, s",
    "share": "share of cell 0 / its servers",
    "latency": "mean latency, s",
    "errors": "errors",
}


def table(records):
    """Records in the order of the sweep."""
    return pd.DataFrame(records)[list(COLUMNS)]
