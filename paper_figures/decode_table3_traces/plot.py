"""The methods of Table 3 on public traces: ratios of mean imbalance to JSQ's at an overtaking cap."""

import numpy as np
import pandas as pd

from lbtheory.decode.traces.public import left_out
from lbtheory.plots.methods import BRH, METHODS
from lbtheory.plots.sweeps import matrix

TITLE = "Table 3's methods on public traces"
REFERENCE = "methods of the decode paper, Table 3; public traces"
TABLES = ("decode-table3",)

NAMED = {
    "token-jsq": "token-JSQ",
    "br0": "BR-0",
    BRH: "oracle BR-H (14.67, 0.64)",
    "brh:beta=43,gamma=0.86": "oracle BR-H (43, 0.86)",
    f"{BRH},predictor=survival": "BR-H with Survival",
    "level-plus": "LEVEL+",
    "level-h": "oracle LEVEL-H+",
}
COLUMNS = {
    "workload": "trace",
    "method": "method",
    "overtake": "cap D",
    "imbalance": "I",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "tpot": "P95 ms",
    "throughput": "tok/s",
    "barrier_idle": "idle, token work",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait, iterations",
}


def compare(tables):
    """One row a trace, cap and method; None where no trace is at hand."""
    rows = _rows(tables)
    if len(rows) == 0:
        return None
    rows["method"] = rows["policy"].map(lambda name: METHODS.get(name, name))
    rows["tpot"] = 1000 * rows["tpot_p95"]
    return rows[list(COLUMNS)]


def draw(tables):
    """A row a trace, a column a method; no figure where no trace is at hand."""
    ratios = _wide(tables)
    if len(ratios) == 0:
        return None
    ratios.loc["geometric mean"] = np.exp(np.log(ratios.astype(float)).mean())
    return matrix(
        ratios,
        labels=METHODS,
        quantity="mean imbalance of JSQ ÷ that of the method, cap 64; blue is better than JSQ, the best of a row is bold",
    )


def numbers(tables):
    """Geometric means, who is best, and what was left out."""
    ratios = _wide(tables)
    if len(ratios) == 0:
        return {"found": f"No public trace was replayed. {left_out(())}"}
    means = np.exp(np.log(ratios.astype(float)).mean())
    texts = [f"{name} {means[policy]:.2f}" for policy, name in NAMED.items()]
    behind = ratios.index[ratios["level-plus"] <= ratios["br0"]]
    behind_h = ratios.index[ratios["level-h"] <= ratios[["brh:beta=43,gamma=0.86", BRH]].max(axis=1)]
    return {
        "found": " ".join(
            (
                f"Geometric means over {len(ratios)} traces: {', '.join(texts)}.",
                f"LEVEL+ is behind BR-0 on: {_listed(behind)}; oracle LEVEL-H+ behind an oracle BR-H on: {_listed(behind_h)}.",
                _waits(tables),
                _exact_match(ratios),
                left_out(ratios.index),
            )
        )
    }


def _listed(names):
    return "; ".join(names) or "none"


def _waits(tables):
    """Longest waits over that of JSQ at the cap, on average over the traces."""
    rows = _rows(tables)
    rows = rows[rows["overtake"].astype(str) == "64"].pivot(index="workload", columns="policy", values="wait_max")
    over = rows.div(rows["jsq"], axis=0).mean()
    return (
        f"Longest waits are {over['br0']:.2f} (BR-0) and {over['level-plus']:.2f} (LEVEL+) times those of Count-JSQ on average."
    )


def _exact_match(ratios):
    """Where ExactMatch is not Survival to the last digit."""
    differs = [
        name
        for name, row in ratios.iterrows()
        if any(row[f"{rule}predictor=exact-match"] != row[f"{rule}predictor=survival"] for rule in (f"{BRH},", "level-h:"))
    ]
    return (
        f"ExactMatch differs from Survival on: {_listed(differs)}; elsewhere no prompt recurs often enough in the history, or "
        "the file has no prompt keys, and it falls back to Survival exactly."
    )


def _rows(tables):
    rows = tables["decode-table3"]
    return rows[rows["part"] == "public trace"].copy()


def _wide(tables):
    rows = _rows(tables)
    rows = rows[(rows["overtake"].astype(str) == "64") & (rows["policy"] != "jsq")]
    wide = rows.pivot(index="workload", columns="policy", values="ratio")
    return pd.DataFrame(wide.loc[list(dict.fromkeys(rows["workload"])), list(dict.fromkeys(rows["policy"]))])
