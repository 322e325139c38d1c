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
    """Systems as in the sweep. Counts add up over the groups, means of random instances are averaged; no ratio at `I* = 0`."""
    data = pd.DataFrame(records)
    data["system"] = [
        f"G = {g}, {slots} free, s = {s}, {r} wait" + (", all seen" if "window" in policy else "")
        for g, slots, s, r, policy in zip(*(data[c] for c in ("workers", "slots", "largest", "queue", "policy")), strict=True)
    ]
    groups = data.groupby(["system", "policy"], sort=False)
    worst = data.loc[groups["gap"].idxmax()].reset_index(drop=True)
    for name in ("evaluations", "solved", "unproved"):
        worst[name] = groups[name].sum().to_numpy()
    worst["mean"] = groups["mean"].mean().to_numpy()
    worst["sizes"] = worst["gap"] / worst["largest"]
    worst["unit"] = worst["sizes"] / (worst["workers"] - 1)
    worst["share"] = worst["gap"] / worst["bound"]
    worst["ratio"] = (worst["imbalance"] / worst["optimum"]).where(worst["optimum"] > 0)
    order = {name: k for k, name in enumerate(dict.fromkeys(data["system"]))}
    return worst.sort_values("system", key=lambda s: s.map(order), kind="stable", ignore_index=True)[list(COLUMNS)]
