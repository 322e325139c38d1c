"""Imbalance against the longest wait, by control."""

from lbtheory.plots.methods import BRH
from lbtheory.plots.sweeps import curves

TITLE = "Fairness: imbalance against the longest wait"
REFERENCE = "lbtheory; the decode paper's conclusion lists it as open"

LABELS = {BRH: "BR-H oracle", "level-h": "LEVEL-H+ oracle", "br0:greedy=0": "BR-0, S_greedy = 0", "io": "IO_0 exact"}
COLUMNS = {
    "factor": "control",
    "value": "value",
    "method": "rule",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "wait_mean": "mean wait, iterations",
    "wait_max": "longest wait, iterations",
    "wait_light": "mean wait, weight 1",
    "wait_heavy": "mean wait, weight 4",
    "admitted_light": "admitted share, weight 1",
    "admitted_heavy": "admitted share, weight 4",
}


def compare(tables):
    """Every control and rule; a value of −1 is no cap."""
    rows = tables["fairness"].copy()
    rows["method"] = rows["rule"].map(lambda name: LABELS.get(name, name))
    return rows[list(COLUMNS)]


def draw(tables):
    """A panel a control; both together are in the table."""
    rows = tables["fairness"]
    rows = rows[(rows["rule"] != "jsq") & (rows["factor"] != "bonus and waiting cap")].copy()
    rows["low"], rows["high"] = rows["ratio"] - rows["ratio_half"], rows["ratio"] + rows["ratio_half"]
    return curves(
        rows.sort_values("wait_max", kind="stable"),
        x="wait_max",
        y="ratio",
        series="rule",
        panel="factor",
        labels=LABELS,
        xlabel="longest wait, iterations",
        ylabel="imbalance of JSQ ÷",
        xlog=10,
        height=2.8,
    )


def numbers(tables):
    """Ratios at about equal waits, and waits by tenant."""
    rows = tables["fairness"].set_index(["factor", "value", "rule"])
    jsq = rows.xs("jsq", level="rule")
    found = {"fcfs": jsq["wait_max"].max()}
    for name, key in (
        ("cap", ("overtaking cap", 64.0)),
        ("none", ("overtaking cap", -1.0)),
        ("patience", ("waiting cap", 100.0)),
    ):
        for rule, text in (("br0", "br0"), ("greedy", "br0:greedy=0"), ("plus", "level-plus")):
            found[f"{name}_{rule}"], found[f"{name}_{rule}_wait"] = rows.loc[(*key, text), ["ratio", "wait_max"]]
    for name, rule in (("brh", BRH), ("h", "level-h")):
        found[f"cap_{name}"], found[f"cap_{name}_wait"] = rows.loc[("overtaking cap", 64.0, rule), ["ratio", "wait_max"]]
    for name, key in (
        ("ten", ("bonus on waits", 10.0, "br0:greedy=0")),
        ("fifty", ("bonus on waits", 50.0, "br0:greedy=0")),
        ("io_ten", ("bonus on waits", 10.0, "io")),
        ("both", ("bonus and waiting cap", 10.0, "br0:greedy=0")),
        ("io_both", ("bonus and waiting cap", 10.0, "io")),
    ):
        found |= {f"{name}_{key_}": rows.loc[key][key_] for key_ in ("ratio", "wait_max", "wait_light", "wait_heavy")}
    return found
