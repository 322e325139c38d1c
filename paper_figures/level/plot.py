"""Ratios to JSQ by workload and rule; artefact `level-frontier` has the waits."""

import numpy as np
import pandas as pd

from lbtheory.plots.methods import METHODS
from lbtheory.plots.sweeps import matrix

TITLE = "LEVEL+ beside BalanceRoute at an overtaking cap of 64"
REFERENCE = "lbtheory; BalanceRoute as in the decode paper"

LABELS = METHODS | {
    "brh:beta=43,gamma=0.86,predictor=survival": "BR-H Survival",
    "level:window=32": "LEVEL, W 32",
    "level-plus:window=4,overtake=16": "LEVEL+, W 4, D 16",
}
BLIND = ("token-jsq", "br0", "level:window=32", "level-plus", "level-plus:window=4,overtake=16")
COLUMNS = {
    "workload": "workload",
    "workers": "G",
    "slots": "B",
    "method": "method",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "barrier_idle": "idle, token work",
    "tpot_p95": "TPOT P95 s",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait, iterations",
    "cheating": "mean admitted ÷ offered prompt",
}


def compare(tables):
    """The evidence, with waits."""
    rows = _evidence(tables).copy()
    rows["method"] = rows["policy"].map(lambda name: LABELS.get(name, name))
    rows["cheating"] = rows["mean_admitted"] / rows["mean_offered"]
    return rows[list(COLUMNS)]


def draw(tables):
    """A row a system, a column a rule; geometric means at the foot."""
    ratios, halves = (_wide(tables, column) for column in ("ratio", "ratio_half"))
    ratios.loc["geometric mean"] = np.exp(np.log(ratios.astype(float)).mean())
    notes = halves.map(lambda h: f"± {h:.2f}").reindex(ratios.index).fillna("")
    columns = [name for name in ratios.columns if name != "jsq"]
    return matrix(
        ratios[columns],
        labels=LABELS,
        notes=notes[columns] if len(ratios) <= 12 else None,
        quantity="mean imbalance of JSQ ÷ that of the rule; blue is better than JSQ, the best of a row is bold",
    )


def numbers(tables):
    """Geometric means, and where LEVEL+ loses."""
    ratios = _wide(tables, "ratio").astype(float)
    means = np.exp(np.log(ratios).mean())
    oracle = ratios[["brh:beta=14.67,gamma=0.64", "brh:beta=43,gamma=0.86"]].max(axis=1)
    return {
        "systems": len(ratios),
        **{name: means[policy] for name, policy in (("br0", "br0"), ("brh", "brh:beta=43,gamma=0.86"), ("token", "token-jsq"))},
        **{
            name: means[policy]
            for name, policy in (
                ("level", "level:window=32"),
                ("plus", "level-plus"),
                ("plus4", "level-plus:window=4,overtake=16"),
                ("h", "level-h"),
            )
        },
        "beats_br0": int((ratios["level-plus"] > ratios["br0"]).sum()),
        "beats_brh": int((ratios["level-plus"] > oracle).sum()),
        "losses": ", ".join(ratios.index[ratios["level-plus"] <= oracle]) or "none",
        "losses_br0": ", ".join(ratios.index[ratios["level-plus"] <= ratios["br0"]]) or "none",
        "losses_jsq": ", ".join(ratios.index[ratios["level:window=32"] < 1]) or "none",
    }


def _evidence(tables):
    rows = tables["level"]
    return rows[rows["factor"] == "evidence"]


def _wide(tables, column):
    rows = _evidence(tables).copy()
    rows["system"] = [f"{r.workload}, {r.workers} × {r.slots}" for r in rows.itertuples()]
    order = list(dict.fromkeys(rows["system"]))
    wide = rows.pivot(index="system", columns="policy", values=column)
    return pd.DataFrame(wide.loc[order, list(dict.fromkeys(rows["policy"]))])
