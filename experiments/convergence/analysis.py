"""One row a cost, stepsize, start and horizon."""

import pandas as pd

COLUMNS = {
    "cost": "cost",
    "stepsize": "stepsize",
    "start": "start",
    "eta": "η",
    "horizon": "T, s",
    "left": "time-average gap",
    "error": "error of the integral",
    "theorem1": "Theorem 1",
    "theorem1b": "Theorem 1b",
    "theorem2": "Theorem 2",
}


def table(records):
    """Records in the order of the sweep; the start is the seed that drew it."""
    return pd.DataFrame(records).rename(columns={"seed": "start"})[[*COLUMNS]]
