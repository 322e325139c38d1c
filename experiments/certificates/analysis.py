"""One row a system, number of slots, and certificate or policy."""

import pandas as pd

COLUMNS = {
    "p": "p",
    "prompts": "prompts",
    "workers": "G",
    "slots": "B",
    "what": "what",
    "name": "name",
    "imbalance": "Ī or bound",
    "low": "low",
    "high": "high",
    "exact": "FCFS, exact",
    "ratio": "FCFS ÷ it",
}


def table(records):
    """Records in the order of the sweep, with the ratio to the exact FCFS law."""
    data = pd.DataFrame(records)
    data["ratio"] = data["exact"] / data["imbalance"]
    return data[list(COLUMNS)]
