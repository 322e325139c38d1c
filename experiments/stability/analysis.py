"""One row a cost and load (``what`` is load), or a cost, stepsize and start (``what`` is cycle)."""

import pandas as pd

COLUMNS = {
    "what": "what",
    "cost": "cost",
    "load": "load",
    "critical": "critical η",
    "frequency": "ω, rad/s",
    "sufficient": "(S)",
    "eta_s3": "Theorem 3",
    "eta0": "Theorem 1",
    "eta2": "Theorem 2",
    "ratio": "η ÷ critical",
    "start": "start",
    "amplitude": "amplitude, requests",
    "period": "period, s",
    "cycles": "limit cycle",
}


def table(records):
    """Records in the order of the sweep; columns that do not belong to a row are empty."""
    data = pd.DataFrame(records).reindex(columns=[*COLUMNS][1:])
    data.insert(0, "what", data["start"].isna().map({True: "load", False: "cycle"}))
    return data
