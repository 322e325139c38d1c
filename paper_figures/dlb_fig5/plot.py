"""A day of demand with an autoscaler, and the paper's statements tried."""

import pandas as pd

from lbtheory.cells.intervals import STATEMENT_COLUMNS, bootstrap, direction
from lbtheory.plots.daily import daily_figure, elasticities

TITLE = "Figure 5: daily demand, replicas, requests in flight and latency"
REFERENCE = "DLB paper, Figure 5 (production traffic); ours is the simulator with an autoscaler"

COLUMNS = STATEMENT_COLUMNS
SMALL = 0.1
"""An elasticity below this counts as flat (ours)."""


def draw(tables):
    """Demand, replicas and RIF; latency with the autoscaler and without."""
    return daily_figure(tables["dlb-fig5"])


def compare(tables):
    """Statements of the paper, and what fixed replicas would do."""
    found = elasticities(tables["dlb-fig5"])
    of = {arm: part.set_index("scenario") for arm, part in found.groupby("arm")}
    scaled, fixed = of["autoscaler"], of["fixed"]
    rows = [
        direction("replicas follow the demand", "elasticity of replicas", scaled["replicas"], 0.5, below=False),
        direction("RIF is proportional to the rate", "|elasticity of RIF − 1|", (scaled["rif"] - 1).abs(), SMALL),
        direction("mean latency is flat", "|elasticity of mean latency|", scaled["mean"].abs(), SMALL),
        direction("P90 follows the load", "elasticity of P90", scaled["p90"], SMALL, below=False),
        direction(
            "P90 follows it more than the mean", "elasticity of P90 − of mean", scaled["p90"] - scaled["mean"], 0.0, below=False
        ),
        direction("(ours) fixed replicas: mean latency is flat", "|elasticity of mean latency|", fixed["mean"].abs(), SMALL),
    ]
    return pd.DataFrame([row.as_row() for row in rows])


def numbers(tables):
    """Numbers of the caption."""
    found = elasticities(tables["dlb-fig5"])
    scaled = found[found["arm"] == "autoscaler"]
    numbers = {"scenarios": found["scenario"].nunique()}
    for name in ("replicas", "rif", "mean", "p90"):
        interval = bootstrap(scaled[name])
        numbers |= {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return numbers | {"fixed": found[found["arm"] == "fixed"]["mean"].mean()}
