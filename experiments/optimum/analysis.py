"""One row a system."""

import pandas as pd

MEASURED = ["seconds", "peak_gigabytes"]
COLUMNS = {
    "workers": "G",
    "slots": "B",
    "p": "p",
    "sizes": "sizes",
    "queue": "queue",
    "look": "H",
    "cap": "cap",
    "states": "states",
    "outcomes": "outcomes",
    "gigabytes": "tables, GB",
    "optimum": "optimum",
    "span": "span",
    "below": "truncation below",
    "above": "truncation above",
    "io": "IO_0, best ties",
    "io_worst": "IO_0, worst ties",
    "spread": "SpreadLex",
    "spread_worst": "SpreadLex, worst ties",
    "io_h": "IO_H",
    "io_h_worst": "IO_H, worst ties",
    "level": "LEVEL",
    "level_gap": "LEVEL, worst step",
    "level_plus": "LEVEL+",
    "level_plus_gap": "LEVEL+, worst step",
    "br0": "BR-0",
    "br0_gap": "BR-0, worst step",
    "first_come": "FCFS",
    "differs": "states where IO_0 errs",
    "where": "smallest such state",
    "seconds": "seconds",
    "peak_gigabytes": "peak of the process, GB",
}


def table(records):
    """Records in the order of the sweep."""
    return pd.DataFrame(records)[list(COLUMNS)]
