"""One row a part, workload, number of workers, policy and iteration."""

import pandas as pd

KEYS = ["part", "workload", "workers", "policy", "iteration"]


def table(records):
    """Loads by worker; blank beyond the number of workers."""
    data = pd.DataFrame(records)
    loads = sorted((c for c in data.columns if c.startswith("worker_")), key=lambda c: int(c.removeprefix("worker_")))
    return data[[*KEYS, *loads]].astype({c: "Int64" for c in loads})
