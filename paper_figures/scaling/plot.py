"""Imbalance against B and G, with laws drawn through the points, and fitted exponents."""

import numpy as np

from lbtheory.decode.statistics import fitted_exponent
from lbtheory.plots import label
from lbtheory.plots.theory import scaling

TITLE = "Is the scaling real?"
REFERENCE = "decode paper, Theorem 1"

LAWS = {"exact": "exact law of FCFS", "diffusion": "diffusion law", "renewed": "renewed slots"}
COLUMNS = {
    "against": "against",
    "policy": "policy",
    "exponent": "exponent",
    "low": "low",
    "high": "high",
    "misfit": "misfit",
    "stated": "Theorem 1's shape",
}
BLIND = ("jsq", "rr", "random", "p2c", "token-jsq")


def draw(tables):
    """Two panels: B at G = 8, G at B = 64."""
    return scaling(tables["scaling"], LAWS)


def compare(tables):
    """Fitted exponents in B and in log G, one row a policy."""
    import pandas as pd

    data, rows = tables["scaling"], []
    exact = data[data["policy"] == "jsq"]
    exact = exact.assign(policy="exact law", imbalance=exact["exact"], low=exact["exact"] * 0.99, high=exact["exact"] * 1.01)
    data = pd.concat([exact, data])
    for policy in dict.fromkeys(data["policy"]):
        part = data[data["policy"] == policy]
        for against in ("B", "log G"):
            chosen = part[part["workers"] == 8] if against == "B" else part[part["slots"] == 64]
            if len(chosen) < 3:
                continue
            size = chosen["slots"] if against == "B" else np.log(chosen["workers"])
            unit = 1.0 if against == "B" else chosen["workers"]
            found = fitted_exponent(size, chosen["imbalance"] / unit, chosen["low"] / unit, chosen["high"] / unit)
            rows.append(
                {
                    "against": against,
                    "policy": label(policy),
                    "exponent": found.slope,
                    "low": found.low,
                    "high": found.high,
                    "misfit": found.misfit,
                    "stated": 0.5 if policy in (*BLIND, "exact law") else None,
                }
            )
    return pd.DataFrame(rows)


def numbers(tables):
    """Exponents and gains that the caption speaks of."""
    fits = compare(tables).set_index(["against", "policy"])
    data = tables["scaling"]

    def at(policy, workers, slots):
        row = data[(data["policy"] == policy) & (data["workers"] == workers) & (data["slots"] == slots)].iloc[0]
        return row["exact"] / row["imbalance"]

    rows = {"jsq": "JSQ", "law": "exact law", "br0": "BR-0", "level": "LEVEL"}
    found = {}
    for key, name in rows.items():
        for short, against in (("b", "B"), ("g", "log G")):
            row = fits.loc[(against, name)]
            found |= {f"{key}_{short}": row["exponent"], f"{key}_{short}_low": row["low"], f"{key}_{short}_high": row["high"]}
    exact = data[data["policy"] == "jsq"]
    miss = ((exact["low"] <= exact["exact"]) & (exact["exact"] <= exact["high"])).mean()
    return found | {
        "covered": 100 * miss,
        "level_64": at("level", 8, 64),
        "level_1024": at("level", 8, 1024),
        "level_256": at("level", 256, 64),
    }


def statements(tables):
    """The paper's shape, tried on the exponents."""
    fits = compare(tables).set_index(["against", "policy"])
    return [
        {
            "text": f"exponent of Ī^JSQ in {against}",
            "published": 0.5,
            "reproduced": fits.loc[(against, "JSQ"), "exponent"],
            "low": fits.loc[(against, "JSQ"), "low"],
            "high": fits.loc[(against, "JSQ"), "high"],
        }
        for against in ("B", "log G")
    ]
