"""Imbalance against the longest wait, by overtaking cap."""

from lbtheory.plots.sweeps import curves

TITLE = "The price of fairness: imbalance against the longest wait"
REFERENCE = "lbtheory; BalanceRoute as in the decode paper"
TABLES = ("level",)

LABELS = {"brh:beta=43,gamma=0.86": "BR-H oracle", "level-h": "LEVEL-H+ oracle"}
COLUMNS = {
    "workload": "workload",
    "overtake": "cap D",
    "method": "method",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait, iterations",
}


def compare(tables):
    """One row a workload, cap and rule."""
    rows = _rows(tables)
    rows["method"] = rows["policy"].map(lambda name: LABELS.get(name, name))
    return rows[list(COLUMNS)]


def draw(tables):
    """A panel a workload; marks from left to right are caps 0, 4, 16, 64, 256, 1024, none."""
    rows = _rows(tables)
    rows["low"], rows["high"] = rows["ratio"] - rows["ratio_half"], rows["ratio"] + rows["ratio_half"]
    return curves(
        rows.sort_values("wait_max", kind="stable"),
        x="wait_max",
        y="ratio",
        series="policy",
        panel="workload",
        labels=LABELS,
        xlabel="longest wait, iterations",
        ylabel="imbalance of JSQ ÷",
        xlog=10,
        across=2,
        sharey=False,
    )


def _rows(tables):
    rows = tables["level"]
    return rows[(rows["factor"] == "frontier") & (rows["policy"] != "jsq")].copy()
