"""Quantiles of the time of a decision, milliseconds, and the share of its parts."""

import pandas as pd

KEYS = ["workers", "slots", "horizon", "window", "greedy"]
STEP = 60.0
"""An engine step in milliseconds, the paper's."""
COLUMNS = {
    "workers": "G",
    "slots": "B",
    "horizon": "H",
    "window": "R_max",
    "greedy": "S_greedy",
    "decisions": "decisions",
    "median": "median ms",
    "mean": "mean ms",
    "p99": "P99 ms",
    "look": "share of forecasts and projection",
    "stage1": "share of stage 1",
    "stage2": "share of stage 2",
    "search2": "stage 2 of both stages",
    "per_step": "60 ms step ÷ median",
    "compiled": "compiled, mean ms",
}
MEASURED = tuple(name for name in COLUMNS if name not in (*KEYS, "decisions"))


def table(records):
    """One row a point."""
    rows = []
    for keys, part in pd.DataFrame(records).groupby(KEYS, sort=False):
        total = part["total"]
        stages = part["stage1"].sum() + part["stage2"].sum()
        rows.append(
            {
                **dict(zip(KEYS, keys, strict=True)),
                "decisions": len(part),
                "median": 1e3 * total.median(),
                "mean": 1e3 * total.mean(),
                "p99": 1e3 * total.quantile(0.99),
                **{name: part[name].sum() / total.sum() for name in ("look", "stage1", "stage2")},
                "search2": part["stage2"].sum() / stages if stages else float("nan"),
                "per_step": STEP / (1e3 * total.median()),
                "compiled": 1e3 * part["compiled"].iloc[0],
            }
        )
    return pd.DataFrame(rows)[list(COLUMNS)]
