"""One row a scenario, utilisation, share of hot sessions and rule."""

import pandas as pd

COLUMNS = {
    "utilisation": "utilisation without reuse",
    "hot": "hot",
    "affinity": "affinity",
    "scenario": "scenario",
    "hit": "prefix met",
    "saved": "prefill saved",
    "hottest": "hottest server / mean",
    "mean": "mean latency, s",
    "p90": "p90 latency, s",
    "errors": "errors",
}


def table(records):
    """Records in the order of the sweep."""
    return pd.DataFrame(records)[list(COLUMNS)]
