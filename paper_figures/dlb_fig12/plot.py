"""Error rates over all variations."""

import pandas as pd

from lbtheory.cells.intervals import STATEMENT_COLUMNS, direction
from lbtheory.plots.cells import ORDER, all_variations, by_scenario

TITLE = "Figure 12: error rates over all variations"
REFERENCE = "DLB paper, Figure 12 and appendix B"
TABLES = ("dlb-fig10", "dlb-fig6")

COLUMNS = STATEMENT_COLUMNS
DLB = list(ORDER[2:])


def draw(tables):
    """Conditions, utilisation, lengths."""
    return all_variations(tables["dlb-fig10"], tables["dlb-fig6"], "error_rate")


def compare(tables):
    """Rand and MNLB have more errors under both disruptions."""
    rows = []
    for kind in ("burst", "outage"):
        part = by_scenario(tables["dlb-fig10"], "disruption", kind, "error_rate")
        dlb = part[DLB].mean(axis=1)
        rows += [
            direction(f"{kind}: {name} has more errors", f"error rate: {name} − DLB", part[name] - dlb, 0.0, below=False)
            for name in ("rand", "mnlb")
        ]
    return pd.DataFrame([row.as_row() for row in rows])


def numbers(tables):
    """Numbers of the caption."""
    found = {}
    for kind in ("burst", "outage"):
        part = by_scenario(tables["dlb-fig10"], "disruption", kind, "error_rate")
        found |= {
            f"{kind}_dlb": part[DLB].mean().mean(),
            f"{kind}_mnlb": part["mnlb"].mean(),
            f"{kind}_rand": part["rand"].mean(),
        }
    return found
