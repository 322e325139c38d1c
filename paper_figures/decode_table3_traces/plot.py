"""The methods of Table 3 on public traces: ratios of mean imbalance to JSQ's at an overtaking cap."""

import numpy as np
import pandas as pd

from lbtheory.decode.traces.public import left_out
from lbtheory.plots.sweeps import matrix

TITLE = "Table 3's methods on public traces"
REFERENCE = "methods of the decode paper, Table 3; public traces"
TABLES = ("decode-table3",)

BRH = "brh:beta=14.67,gamma=0.64"
LABELS = {
    "brh:beta=43,gamma=0.86": "BR-H (43, 0.86)",
    BRH: "BR-H (14.67, 0.64)",
    f"{BRH},predictor=survival": "BR-H Survival",
    f"{BRH},predictor=survival,projection=hazard": "BR-H Survival, hazard",
    f"{BRH},predictor=exact-match": "BR-H ExactMatch",
    "level-h:predictor=survival": "LEVEL-H+ Survival",
    "level-h:predictor=exact-match": "LEVEL-H+ ExactMatch",
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
    rows["method"] = rows["policy"].map(lambda name: LABELS.get(name, name))
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
        labels=LABELS,
        quantity="mean imbalance of JSQ ÷ that of the method, overtaking cap 64; blue is better than JSQ, the best of a row is bold",
    )


def numbers(tables):
    """Geometric means, who is best, and what was left out."""
    rows, ratios = _rows(tables), _wide(tables)
    if len(ratios) == 0:
        return {"found": f"No public trace was replayed. {left_out(())}"}
    means = np.exp(np.log(ratios.astype(float)).mean())
    same = f"{BRH},predictor=exact-match", f"{BRH},predictor=survival"
    repeats = [name for name, row in ratios.iterrows() if row[same[0]] != row[same[1]]]
    wins = int((ratios["level-plus"] > ratios["br0"]).sum())
    wins_h = int((ratios["level-h"] > ratios[["brh:beta=43,gamma=0.86", BRH]].max(axis=1)).sum())
    loses = ", ".join(ratios.index[ratios["level-plus"] <= ratios["br0"]]) or "none"
    longest = rows[(rows["overtake"] == "64")].groupby("policy")["wait_max"].max()
    return {
        "found": (
            f"Geometric means over {len(ratios)} traces: BR-0 {means['br0']:.2f}, oracle BR-H {means[BRH]:.2f} and "
            f"{means['brh:beta=43,gamma=0.86']:.2f}, BR-H with Survival {means[same[1]]:.2f}, LEVEL+ {means['level-plus']:.2f}, oracle "
            f"LEVEL-H+ {means['level-h']:.2f}, token-JSQ {means['token-jsq']:.2f}. LEVEL+ is ahead of BR-0 on {wins} (not on: {loses}), oracle "
            f"LEVEL-H+ ahead of both oracle BR-H on {wins_h}. Longest waits, iterations: BR-0 {longest['br0']:,.0f}, LEVEL+ "
            f"{longest['level-plus']:,.0f}. ExactMatch differs from Survival on: {', '.join(repeats) or 'none'} (elsewhere no prompt recurs in the "
            f"history, or the file has no prompt keys, and the run is the same to the last bit). {left_out(ratios.index)}"
        )
    }


def _rows(tables):
    rows = tables["decode-table3"]
    return rows[rows["part"] == "public trace"].copy()


def _wide(tables):
    rows = _rows(tables)
    rows = rows[(rows["overtake"].astype(str) == "64") & (rows["policy"] != "jsq")]
    wide = rows.pivot(index="workload", columns="policy", values="ratio")
    return pd.DataFrame(wide.loc[list(dict.fromkeys(rows["workload"])), list(dict.fromkeys(rows["policy"]))])
