"""One row a cell and point, with the model fitted to the points of its kind."""

import pandas as pd

COLUMNS = {
    "cell": "cell",
    "kind": "kind",
    "load": "RIF per replica",
    "latency": "latency, s",
    "count": "samples",
    "a": "a, s",
    "b": "b, s",
    "k": "k",
    "w": "w",
    "ratio": "a/(bk), free fit",
    "relative_error": "relative error",
}


def table(records):
    """Records in the order of the sweep."""
    return pd.DataFrame(records)[list(COLUMNS)]
