"""One row a kind of request, delay and routing."""

import pandas as pd

COLUMNS = {
    "kind": "requests",
    "service": "idle latency, s",
    "delay": "delay, s",
    "routing": "routing",
    "gain": "gain",
    "even": "N*",
    "amplitude": "amplitude",
    "period": "period, s",
    "bound": "2 λ τ",
    "excess": "excess in cells",
}


def table(records):
    """Records in the order of the sweep, kinds named."""
    rows = pd.DataFrame(records)
    rows["kind"] = ["sand" if service < 1 else "boulders" for service in rows["service"]]
    return rows[list(COLUMNS)]
