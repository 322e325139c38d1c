"""Latency and errors against utilisation, and the paper's statements tried."""

import numpy as np
import pandas as pd

from lbtheory.cells.intervals import STATEMENT_COLUMNS, bootstrap, direction
from lbtheory.plots.cells import ORDER, policy_curves

TITLE = "Figure 6: latency and errors against utilisation"
REFERENCE = "DLB paper, Figure 6 and section 5.4"

DLB = ORDER[2:]
COLUMNS = STATEMENT_COLUMNS


def draw(tables):
    """Three panels: mean and p90 over those of random routing, and error rate."""
    return policy_curves(tables["dlb-fig6"], "Target utilisation", policies=ORDER, percent=True)


def compare(tables):
    """Statements of a direction, each with the quantity that decides it."""
    data = tables["dlb-fig6"]
    mean, errors = _wide(data, "mean_ratio"), _wide(data, "error_rate")
    dlb = {u: mean[u][list(DLB)].mean(axis=1) for u in mean}
    best_other = min((name for name in DLB if name != "flow-grad"), key=lambda name: mean[0.8][name].mean())
    rif = {u: (mean[u]["disc-rif"] + mean[u]["flow-rif"]) / 2 for u in mean}
    best = {u: mean[u][list(DLB)].min(axis=1) for u in mean}
    rows = [
        direction("DLB beats random at 80 %", "mean of the six DLB policies / rand, 80 %", dlb[0.8], 1.0),
        direction(
            "Flow-Grad performs best at 80 %",
            f"flow-grad − {best_other} (best of the others), 80 %",
            mean[0.8]["flow-grad"] - mean[0.8][best_other],
            0.0,
        ),
        direction(
            "improvements are smaller at low utilisation", "DLB / rand, 50 % − 80 %", dlb[0.5] - dlb[0.8], 0.0, below=False
        ),
        direction("RIF is sub-optimal at low load", "RIF − best DLB policy, 50 %", rif[0.5] - best[0.5], 0.01, below=False),
        direction("RIF is competitive at high load", "RIF − best DLB policy, 90 %", rif[0.9] - best[0.9], 0.05),
        direction(
            "MNLB has higher latency at high utilisation",
            "mnlb / rand − DLB / rand, 90 %",
            mean[0.9]["mnlb"] - dlb[0.9],
            0.0,
            below=False,
        ),
        *(
            direction(
                f"{name} has more errors at high utilisation",
                f"errors of {name} − DLB, 90 %",
                errors[0.9][name] - errors[0.9][list(DLB)].mean(axis=1),
                0.0,
                below=False,
            )
            for name in ("rand", "mnlb")
        ),
        *(
            direction(
                f"{name} can run hotter than MNLB",
                "load at which it meets MNLB's latency and errors at 80 %, over 80 %, − 1",
                _hotter(data, name) - 1,
                0.0,
                below=False,
            )
            for name in DLB
        ),
    ]
    return pd.DataFrame([row.as_row() for row in rows])


def statements(tables):
    """Statements with a number."""
    data = tables["dlb-fig6"]
    mean = _wide(data, "mean_ratio")[0.8][list(DLB)].mean(axis=1)
    dlb, hotter = bootstrap(mean), bootstrap(_hotter(data, "flow-grad") - 1)
    return [
        {
            "text": "most DLB policies improve mean latency by around 20 % over random routing at 80 %: ratio",
            "published": 0.8,
            "reproduced": dlb.mean,
            "low": dlb.low,
            "high": dlb.high,
        },
        {
            "text": "DLB runs 20 % hotter (production): load at which Flow-Grad meets MNLB's latency and errors at 80 %, gain",
            "published": 0.2,
            "reproduced": hotter.mean,
            "low": hotter.low,
            "high": hotter.high,
        },
    ]


def numbers(tables):
    """Numbers of the caption."""
    data = tables["dlb-fig6"]
    mean, errors = _wide(data, "mean_ratio"), _wide(data, "error_rate")
    order = mean[0.8][list(DLB)].mean().sort_values()
    hotter = {name: _hotter(data, name).mean() for name in DLB}
    return {
        "scenarios": data["scenario"].nunique(),
        "best": order.index[0],
        "best_ratio": order.iloc[0],
        "worst_ratio": order.iloc[-1],
        "mnlb_ratio": mean[0.8]["mnlb"].mean(),
        "mnlb_low": mean[0.5]["mnlb"].mean(),
        "mnlb_errors": errors[0.8]["mnlb"].mean(),
        "rand_errors": errors[0.95]["rand"].mean(),
        "dlb_errors": errors[0.95][list(DLB)].mean().mean(),
        "hotter_low": min(hotter.values()) - 1,
        "hotter_high": max(hotter.values()) - 1,
    }


def _wide(data, metric):
    """By value: a row a scenario, a column a policy."""
    return {value: part.pivot(index="scenario", columns="policy", values=metric) for value, part in data.groupby("value")}


def _hotter(data, policy):
    """By scenario: the utilisation up to which a policy has at most MNLB's mean latency and errors at 80 %, over 80 %.

    Linear between the utilisations; the highest simulated one where it is never exceeded.
    """
    found = {}
    for scenario, part in data.groupby("scenario"):
        limit = part[(part["policy"] == "mnlb") & (part["value"] == 0.8)].iloc[0]
        mine = part[part["policy"] == policy].sort_values("value")
        reach = [_crossing(mine["value"].to_numpy(), mine[name].to_numpy(), limit[name]) for name in ("mean", "error_rate")]
        found[scenario] = min(reach) / 0.8
    return pd.Series(found)


def _crossing(x, y, limit):
    """Where a piecewise linear curve first exceeds a limit."""
    above = np.nonzero(y > limit)[0]
    if not len(above):
        return x[-1]
    k = above[0]
    return x[0] if k == 0 else x[k - 1] + (limit - y[k - 1]) / (y[k] - y[k - 1]) * (x[k] - x[k - 1])
