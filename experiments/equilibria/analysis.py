"""A row a cell and a row an arc with flow, for each cost."""

import pandas as pd

COLUMNS = {
    "cost": "cost",
    "kind": "row",
    "source": "from",
    "cell": "to",
    "flow": "flow, 1/s",
    "latency": "latency, s",
    "load": "load",
    "in_flight": "in flight",
    "arrival_rate": "arrivals, 1/s",
    "capacity": "capacity, 1/s",
    "latitude": "latitude",
    "longitude": "longitude",
    "side": "label",
    "mean_latency": "mean latency, s",
    "price": "price of anarchy",
    "worst": "worst price",
    "unique": "routing unique",
    "wardrop_gap": "Wardrop gap",
    "apart": "methods apart",
}


def table(records):
    """Records in order."""
    return pd.DataFrame(records)[list(COLUMNS)]
