"""Means over seeds by control, value and rule; waits by tenant."""

import pandas as pd

from lbtheory.study.means import over_seeds

MEANS = ["wait_mean", "wait_light", "wait_heavy", "admitted_light", "admitted_heavy", "mean_admitted", "mean_offered"]
COLUMNS = {
    "factor": "control",
    "value": "value",
    "rule": "rule",
    "imbalance": "mean imbalance",
    "imbalance_half": "±",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait, iterations",
    "wait_light": "mean wait, weight 1",
    "wait_heavy": "mean wait, weight 4",
    "admitted_light": "admitted share, weight 1",
    "admitted_heavy": "admitted share, weight 4",
    "mean_admitted": "mean admitted prompt",
    "mean_offered": "mean offered prompt",
}


def table(records):
    """One row a control, value and rule; a value of −1 is no cap. JSQ is kept once a control and value."""
    data = pd.DataFrame(records)
    data["rule"] = [_rule(name) for name in data["policy"]]
    return over_seeds(data, ["factor", "value", "rule"], MEANS, ["imbalance", "ratio"], ["wait_max"])[list(COLUMNS)]


def _rule(policy):
    name, _, options = policy.partition(":")
    kept = [item for item in options.split(",") if item and item.partition("=")[0] not in ("patience", "bonus", "tie")]
    return f"{name}:{','.join(kept)}" if kept else name
