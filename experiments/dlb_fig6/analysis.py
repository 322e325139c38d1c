"""One row a scenario, value and policy; trials are averaged."""

import pandas as pd

COLUMNS = {
    "vary": "varied",
    "value": "value",
    "scenario": "scenario",
    "cells": "cells",
    "policy": "policy",
    "mean": "mean latency, s",
    "p90": "p90 latency, s",
    "error_rate": "errors",
    "goodput": "goodput, 1/s",
    "remote": "routed remotely",
    "network": "network, s",
    "spread": "spread of utilisation",
    "mean_ratio": "mean / rand",
    "p90_ratio": "p90 / rand",
}


def table(records):
    """Means over trials."""
    keys = ["vary", "value", "scenario", "cells", "policy"]
    rest = [name for name in COLUMNS if name not in keys]
    return pd.DataFrame(records).groupby(keys, sort=False, as_index=False)[rest].mean()
