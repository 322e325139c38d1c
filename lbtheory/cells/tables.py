"""Tidy tables of simulated scenarios: one row a scenario, value and policy, trials averaged."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

KEYS = {"vary": "varied", "value": "value", "scenario": "scenario", "cells": "cells", "policy": "policy"}
"""Columns that name a row, with their headings."""

MEANS = {
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
"""Columns that are averaged over trials, with their headings."""


def over_trials(
    records: Sequence[Mapping[str, Any]], keys: Mapping[str, str] = KEYS, means: Mapping[str, str] = MEANS
) -> "pd.DataFrame":
    """Means over the trials of equal ``keys``, in order of first appearance."""
    import pandas as pd

    return pd.DataFrame(records).groupby(list(keys), sort=False, as_index=False)[list(means)].mean()
