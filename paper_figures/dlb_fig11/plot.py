"""p90 latency over all variations."""

import pandas as pd

from lbtheory.cells.intervals import STATEMENT_COLUMNS, direction
from lbtheory.plots.cells import ORDER, all_variations, by_scenario

TITLE = "Figure 11: p90 latency over all variations"
REFERENCE = "DLB paper, Figure 11 and appendix B"
TABLES = ("dlb-fig10", "dlb-fig6")

COLUMNS = STATEMENT_COLUMNS
DLB = list(ORDER[2:])


def draw(tables):
    """Conditions, utilisation, lengths."""
    return all_variations(tables["dlb-fig10"], tables["dlb-fig6"], "p90_ratio")


def compare(tables):
    """Rand and MNLB have higher tail latencies under both disruptions."""
    rows = []
    for kind in ("burst", "outage"):
        part = by_scenario(tables["dlb-fig10"], "disruption", kind, "p90_ratio")
        dlb = part[DLB].mean(axis=1)
        rows += [
            direction(f"{kind}: {name} has a longer tail", f"p90 / rand: {name} − DLB", part[name] - dlb, 0.0, below=False)
            for name in ("rand", "mnlb")
        ]
    return pd.DataFrame([row.as_row() for row in rows])


def numbers(tables):
    """Numbers of the caption."""
    parts = {kind: by_scenario(tables["dlb-fig10"], "disruption", kind, "p90_ratio") for kind in ("none", "burst", "outage")}
    found = {f"{kind}_dlb": part[DLB].mean().mean() for kind, part in parts.items()}
    return found | {f"{kind}_mnlb": part["mnlb"].mean() for kind, part in parts.items()}
