"""One row a scenario, value and policy; trials are averaged."""

from lbtheory.cells.tables import KEYS, MEANS, over_trials

COLUMNS = KEYS | MEANS


def table(records):
    """Means over trials."""
    return over_trials(records)
