"""One row a system and policy."""

import pandas as pd

COLUMNS = {
    "workers": "G",
    "slots": "B",
    "p": "p",
    "prompts": "sizes",
    "queue": "queue",
    "policy": "policy",
    "iterations": "iterations",
    "imbalance": "imbalance",
    "imbalance_low": "low",
    "imbalance_high": "high",
    "over_first": "above IO_0",
    "over_first_low": "above IO_0, low",
    "over_first_high": "above IO_0, high",
    "waiting_first": "mean size waiting, first fifth",
    "waiting_last": "mean size waiting, last fifth",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait of the admitted",
    "oldest": "oldest still waiting",
    "decisions": "decisions",
    "unproved": "decisions unproved",
    "gap": "their gaps, sum",
    "offered": "mean size offered",
    **{f"waiting_{j}": f"mean size waiting, tenth {j + 1}" for j in range(10)},
}


def table(records):
    """Records in the order of the sweep."""
    return pd.DataFrame(records)[list(COLUMNS)]
