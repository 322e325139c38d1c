"""Ratios of mean imbalance to JSQ's against the number of workers, published beside reproduced."""

from lbtheory.plots.methods import BRH, METHODS
from lbtheory.plots.sweeps import curves
from lbtheory.study.statements import published_ratios

TITLE = "Table 4: 4, 8 and 16 workers"
REFERENCE = "decode paper, Table 4"

SHOWN = ("br0", BRH, "level-plus", "level-h")
BASELINES = ("random", "rr", "p2c", "jsq")
COLUMNS = {
    "workers": "G",
    "method": "method",
    "overtake": "cap D",
    "published_imbalance": "I published",
    "imbalance": "I",
    "published_ratio": "JSQ ÷ published",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "published_tpot": "P95 ms published",
    "tpot": "P95 ms",
    "published_throughput": "tok/s published",
    "throughput": "tok/s",
    "published_gain": "% over best baseline, published",
    "gain": "% over best baseline",
    "barrier_idle": "idle, token work",
    "wait_max": "longest wait, iterations",
}


def compare(tables):
    """One row a number of workers, cap and method."""
    data = _joined(tables)
    data["method"] = data["policy"].map(lambda name: METHODS.get(name, name))
    data["tpot"] = 1000 * data["tpot_p95"]
    return data[list(COLUMNS)]


def draw(tables):
    """A panel a cap; dotted lines with hollow marks are published (they had no cap)."""
    data = _joined(tables)
    data = data[data["policy"].isin(SHOWN)].copy()
    data["low"], data["high"] = data["ratio"] - data["ratio_half"], data["ratio"] + data["ratio_half"]
    data["published"] = data["published_ratio"].where(data["overtake"] == "none")
    data["panel"] = data["overtake"].map(lambda cap: "no cap" if cap == "none" else f"overtaking cap {cap}")
    return curves(
        data,
        x="workers",
        y="ratio",
        series="policy",
        panel="panel",
        labels=METHODS,
        xlabel="workers G",
        ylabel="mean imbalance of JSQ ÷ that of the method",
        xlog=2,
        ylog=True,
        across=2,
        height=3.0,
    )


def numbers(tables):
    """Ratios and gains for the caption."""
    data = _joined(tables).set_index(["workers", "overtake", "policy"])
    found = {}
    for g in (4, 8, 16):
        for name, policy in (("br0", "br0"), ("brh", BRH), ("level", "level-plus"), ("levelh", "level-h")):
            for cap in ("none", "64"):
                found[f"{name}_{g}_{cap}"] = data.loc[(g, cap, policy), "ratio"]
            found[f"{name}_gain_{g}"] = data.loc[(g, "none", policy), "gain"]
        speeds = [data.loc[(g, "none", policy), "throughput"] for policy in (BRH, "br0")]
        found[f"between_{g}"] = 100 * (speeds[0] / speeds[1] - 1)
    return found


def statements(tables):
    """Ratios to JSQ that the paper's Table 4 gives, without a cap."""
    data = _joined(tables)
    data = data[(data["overtake"] == "none") & (data["policy"] != "jsq")]
    return published_ratios(data, lambda row: f"G = {row.workers}, {METHODS.get(row.policy, row.policy)}")


def _joined(tables):
    published = tables["published"].copy()
    jsq = published[published["policy"] == "jsq"].set_index("workers")["imbalance"]
    best = published[published["policy"].isin(BASELINES)].groupby("workers")["throughput"].max()
    published["published_ratio"] = published["workers"].map(jsq) / published["imbalance"]
    published["published_gain"] = 100 * (published["throughput"] / published["workers"].map(best) - 1)
    renamed = published.rename(
        columns={"imbalance": "published_imbalance", "tpot_p95_ms": "published_tpot", "throughput": "published_throughput"}
    )
    data = tables["decode-table4"]
    data = data[data["part"] == "calibrated"].copy()
    data["overtake"] = data["overtake"].astype(str)
    return data.merge(renamed, on=["workers", "policy"], how="left")
