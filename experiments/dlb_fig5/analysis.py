"""One row a scenario, arm and bin of the day."""

import pandas as pd

COLUMNS = {
    "scenario": "scenario",
    "arm": "replicas are",
    "time": "time, days",
    "rate": "arrivals, 1/s",
    "replicas": "replicas",
    "rif": "requests in flight",
    "mean": "mean latency, s",
    "p90": "P90 latency, s",
    "errors": "errors",
}


def table(records):
    """Records in the order of the sweep; the seed is the scenario."""
    return pd.DataFrame(records).rename(columns={"seed": "scenario"})[[*COLUMNS]]
