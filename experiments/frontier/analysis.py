"""One row a system and certificate."""

import pandas as pd

COLUMNS = {
    "p": "p",
    "s": "s",
    "workers": "G",
    "certificate": "certificate",
    "target": "FCFS ÷ bound",
    "slots": "smallest B",
}


def table(records):
    """Records in the order of the sweep, ``s`` as a number."""
    data = pd.DataFrame(records)
    data["s"] = data["prompts"].str.removeprefix("uniform:").astype(int)
    data["slots"] = data["slots"].astype("Int64")
    return data[list(COLUMNS)]
