"""Mean latency over all variations, and the paper's statements tried."""

import pandas as pd

from lbtheory.cells.intervals import STATEMENT_COLUMNS, direction
from lbtheory.plots.cells import ORDER, all_variations, by_scenario

TITLE = "Figure 10: mean latency over all variations"
REFERENCE = "DLB paper, Figure 10 and appendix B"
TABLES = ("dlb-fig10", "dlb-fig6")

DLB = list(ORDER[2:])
COLUMNS = STATEMENT_COLUMNS


def draw(tables):
    """Conditions, utilisation, lengths."""
    return all_variations(tables["dlb-fig10"], tables["dlb-fig6"], "mean_ratio")


def compare(tables):
    """Statements of a direction, each with the quantity that decides it."""
    equal, short = _wide(tables, "spread", 0.0, "mean_ratio"), _wide(tables, "length_scale", 10.0, "mean_ratio")
    burst, outage = (_wide(tables, "disruption", kind, "mean_ratio") for kind in ("burst", "outage"))
    rest = [name for name in DLB if name != "flow-grad"]
    gain = {kind: part["mnlb"] - part[DLB].mean(axis=1) for kind, part in (("burst", burst), ("outage", outage))}
    rows = [
        direction(
            "equal hardware: nobody drastically better than random",
            "best DLB policy / rand",
            equal[DLB].min(axis=1),
            0.9,
            below=False,
        ),
        direction(
            "y = 10: RIF performs poorly", "disc-rif − flow-grad", short["disc-rif"] - short["flow-grad"], 0.0, below=False
        ),
        direction("y = 10: Flow-Grad beats MNLB", "flow-grad − mnlb", short["flow-grad"] - short["mnlb"], 0.0),
        direction(
            "y = 10: only Flow-Grad beats MNLB",
            "mean of the other DLB policies − mnlb",
            short[rest].mean(axis=1) - short["mnlb"],
            0.0,
            below=False,
        ),
        *(
            direction(f"y = {y:g}: DLB beats MNLB", "worst DLB policy − mnlb", _worst(tables, y), 0.0)
            for y in (0.1, 0.25, 0.5, 1.0)
        ),
        direction("burst: MNLB slower than DLB", "mnlb − DLB", gain["burst"], 0.0, below=False),
        direction("outage: MNLB slower than DLB", "mnlb − DLB", gain["outage"], 0.0, below=False),
        direction(
            "advantage over MNLB narrower in the outage",
            "(mnlb − DLB) burst − outage",
            gain["burst"] - gain["outage"],
            0.0,
            below=False,
        ),
    ]
    return pd.DataFrame([row.as_row() for row in rows])


def _wide(tables, vary, value, metric):
    return by_scenario(tables["dlb-fig10"], vary, value, metric)


def _worst(tables, y):
    part = _wide(tables, "length_scale", y, "mean_ratio")
    return part[DLB].max(axis=1) - part["mnlb"]


def numbers(tables):
    """Numbers of the caption."""
    equal, short = _wide(tables, "spread", 0.0, "mean_ratio"), _wide(tables, "length_scale", 10.0, "mean_ratio")
    burst, outage = (_wide(tables, "disruption", kind, "mean_ratio") for kind in ("burst", "outage"))
    return {
        "scenarios": len(equal),
        "equal_low": equal[DLB].mean().min(),
        "equal_high": equal[DLB].mean().max(),
        "short_grad": short["flow-grad"].mean(),
        "short_rif": short["disc-rif"].mean(),
        "short_mnlb": short["mnlb"].mean(),
        "burst_dlb": burst[DLB].mean().mean(),
        "burst_mnlb": burst["mnlb"].mean(),
        "outage_dlb": outage[DLB].mean().mean(),
        "outage_mnlb": outage["mnlb"].mean(),
    }
