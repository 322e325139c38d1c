"""One row a run, cell and time step."""

import pandas as pd

COLUMNS = {
    "policy": "policy",
    "aversion": "aversion",
    "cell": "cell",
    "time": "time, s",
    "load": "RIF per replica",
    "latency": "mean latency, s",
    "errors": "errors",
    "sent": "requests sent, 1/s",
}


def table(records):
    """Records in the order of the sweep."""
    return pd.DataFrame(records)[list(COLUMNS)]
