"""One row a system, size and trial (distances), and one a size and time (paths, which have no distance)."""

import pandas as pd

COLUMNS = {
    "system": "system",
    "size": "m (0: fluid)",
    "trial": "trial",
    "greatest": "greatest distance, requests/slot",
    "rms": "r.m.s. distance, requests/slot",
    "error": "error of the integration",
    "time": "time, s",
    "load": "first cell, requests/slot",
}


def table(records):
    """Records in the order of the sweep; the trial is the seed."""
    return pd.DataFrame(records).rename(columns={"seed": "trial"}).reindex(columns=[*COLUMNS])
