"""One row a scenario, pattern of arrivals, loop, period and policy; trials are averaged."""

from lbtheory.cells.tables import KEYS, MEANS, over_trials

ROWS = KEYS | {"label": "arrivals"}
AVERAGED = MEANS | {"probes_per_second": "probes a second"}
COLUMNS = ROWS | AVERAGED


def table(records):
    """Means over trials."""
    return over_trials(records, ROWS, AVERAGED)
