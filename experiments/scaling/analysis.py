"""One row a system and policy."""

import pandas as pd

COLUMNS = {
    "p": "p",
    "prompts": "prompts",
    "workers": "G",
    "slots": "B",
    "policy": "policy",
    "iterations": "iterations",
    "imbalance": "Ī",
    "low": "low",
    "high": "high",
    "exact": "FCFS, exact",
    "diffusion": "diffusion law",
    "renewed": "renewed slots",
}


def table(records):
    """Records in the order of the sweep."""
    return pd.DataFrame(records)[list(COLUMNS)]
