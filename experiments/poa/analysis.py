"""A row a cost and setting: mean price over networks with its interval and the largest; the worst found by search."""

import numpy as np
import pandas as pd
from scipy import stats

COLUMNS = {
    "study": "study",
    "cost": "cost",
    "load": "load",
    "spread": "spread",
    "noise": "noise ε",
    "networks": "networks",
    "price": "price of anarchy",
    "low": "low",
    "high": "high",
    "most": "largest",
    "worst": "worst equilibrium",
    "broken": "models broken",
    "smallest": "least far capacity",
    "supremum": "supremum",
    "far_capacity": "far capacity",
    "far_half": "far half",
    "detour": "2τ to it",
}


def table(records):
    """Means over networks with 95 % Student intervals (networks are independent); searches as they are."""
    data = pd.DataFrame(records)
    search = data[data["searched"].notna()].assign(study="search")
    drawn = data[data["searched"].isna()].copy()
    drawn["study"] = np.where(drawn["noise"].notna(), "noise", "random")
    rows = []
    for (study, load, spread, noise, cost), part in drawn.groupby(
        ["study", "load", "spread", "noise", "cost"], sort=False, dropna=False
    ):
        count, mean = len(part), part["price"].mean()
        half = stats.t.ppf(0.975, count - 1) * part["price"].std(ddof=1) / np.sqrt(count)
        rows.append(
            {"study": study, "cost": cost, "load": load, "spread": spread, "noise": noise, "networks": count}
            | {"price": mean, "low": mean - half, "high": mean + half, "most": part["price"].max()}
            | {"worst": part["worst"].mean(), "broken": part["broken"].mean()}
        )
    return pd.concat([pd.DataFrame(rows), search])[list(COLUMNS)].reset_index(drop=True)
