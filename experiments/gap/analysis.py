"""One row a window, state and policy."""

import pandas as pd

MEASURED = ["seconds"]
COLUMNS = {
    "horizon": "H",
    "state": "state",
    "free": "free slots",
    "policy": "policy",
    "objective": "objective",
    "exact": "exact",
    "gap": "gap",
    "status": "status",
    "seconds": "seconds",
}


def table(records):
    """Records in the order of the sweep."""
    return pd.DataFrame(records)[list(COLUMNS)]
