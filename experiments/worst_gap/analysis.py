"""One row a system and rule: the worst of its groups of restarts."""

import pandas as pd

COLUMNS = {
    "system": "system",
    "workers": "G",
    "slots": "free slots",
    "largest": "s",
    "queue": "waiting",
    "policy": "policy",
    "gap": "worst gap found, tokens",
    "sizes": "in largest sizes s",
    "unit": "÷ (G − 1) s",
    "share": "÷ largest gap of any assignment",
    "mean": "mean gap of random instances, tokens",
    "bound": "largest gap of any assignment, tokens",
    "imbalance": "I of the rule",
    "optimum": "I*",
    "ratio": "I ÷ I*",
    "status": "status of I*",
    "evaluations": "instances",
    "solved": "given to IO_0",
    "unproved": "unproved, not counted",
    "instance": "instance",
}


def table(records):
    """Counts are added over the groups, means of random instances averaged; the ratio is missing where ``I* = 0``."""
    data = pd.DataFrame(records)
    groups = data.groupby(["system", "policy"], sort=False)
    worst = data.loc[groups["gap"].idxmax()].reset_index(drop=True)
    for name in ("evaluations", "solved", "unproved"):
        worst[name] = groups[name].sum().to_numpy()
    worst["mean"] = groups["mean"].mean().to_numpy()
    worst["sizes"] = worst["gap"] / worst["largest"]
    worst["unit"] = worst["sizes"] / (worst["workers"] - 1)
    worst["share"] = worst["gap"] / worst["bound"]
    worst["ratio"] = (worst["imbalance"] / worst["optimum"]).where(worst["optimum"] > 0)
    return worst[list(COLUMNS)]
