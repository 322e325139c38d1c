"""One row a scenario, rule of the projection, noise and policy; trials are averaged."""

from lbtheory.cells.tables import KEYS, MEANS, over_trials

ROWS = KEYS | {"projected": "projected"}
COLUMNS = ROWS | MEANS


def table(records):
    """Means over trials."""
    return over_trials(records, ROWS, MEANS)
