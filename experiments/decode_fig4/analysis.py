"""One row a policy and iteration."""

import pandas as pd


def table(records):
    """Loads by worker."""
    data = pd.DataFrame(records)
    return data[["policy", "iteration", *[c for c in data.columns if c.startswith("worker_")]]]
