"""Latency and errors against noise in the latency models, and the paper's statements tried."""

import pandas as pd

from lbtheory.cells.intervals import STATEMENT_COLUMNS, bootstrap, direction
from lbtheory.plots.cells import ORDER, policy_curves

TITLE = "Figure 7: latency and errors against noise in the latency models"
REFERENCE = "DLB paper, Figure 7 and section 5.4"

MODEL = ("disc-lat", "flow-lat", "disc-grad", "flow-grad")
COLUMNS = STATEMENT_COLUMNS


def draw(tables):
    """Three panels, models projected again after the noise."""
    data = tables["dlb-fig7"]
    return policy_curves(data[data["projected"]], "Noise ε", policies=ORDER)


def compare(tables):
    """Statements of a direction, and what the projection changes."""
    data = tables["dlb-fig7"]
    mean, raw = _wide(data[data["projected"]]), _wide(data[~data["projected"]])
    rows = [
        *(
            direction(
                f"{name} is immune to noise", f"largest change of {name} / rand", abs(mean[0.5][name] - mean[0.0][name]), 1e-9
            )
            for name in ("disc-rif", "flow-rif", "mnlb")
        ),
        *(
            direction(
                f"{name} declines as noise grows",
                f"{name} / rand, ε = 0.5 − 0",
                mean[0.5][name] - mean[0.0][name],
                0.0,
                below=False,
            )
            for name in MODEL
        ),
        *(
            direction(f"{name} stays competitive under noise", f"{name} / rand, ε = 0.5", mean[0.5][name], 1.0)
            for name in MODEL
        ),
        *(
            direction(
                f"(ours) without projection {name} is worse",
                f"{name} / rand, not projected − projected, ε = 0.3",
                raw[0.3][name] - mean[0.3][name],
                0.0,
                below=False,
            )
            for name in MODEL
        ),
    ]
    return pd.DataFrame([row.as_row() for row in rows])


def numbers(tables):
    """Numbers of the caption."""
    data = tables["dlb-fig7"]
    mean, raw = _wide(data[data["projected"]]), _wide(data[~data["projected"]])
    found = {"scenarios": data["scenario"].nunique()}
    for name in MODEL:
        key = name.replace("-", "_")
        found |= {f"{key}_0": mean[0.0][name].mean(), f"{key}_5": mean[0.5][name].mean(), f"{key}_raw": raw[0.3][name].mean()}
        found[f"{key}_3"] = mean[0.3][name].mean()
        found[f"{key}_half"] = bootstrap(mean[0.5][name]).high - mean[0.5][name].mean()
    return found


def _wide(data):
    """By noise: a row a scenario, a column a policy."""
    return {value: part.pivot(index="scenario", columns="policy", values="mean_ratio") for value, part in data.groupby("value")}
