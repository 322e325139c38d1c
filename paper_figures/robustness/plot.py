"""Ratios to JSQ against correlation and load."""

from lbtheory.plots.sweeps import curves

TITLE = "Robustness: correlated outputs, and load below saturation"
REFERENCE = "lbtheory; the decode paper's conclusion lists it as open"

BRH = "brh:beta=14.67,gamma=0.64"
LABELS = {
    BRH: "BR-H oracle",
    f"{BRH},predictor=exact-match/key=prompt": "BR-H, prompt class",
    "level-plus:phi=0": "LEVEL+, φ = 0",
    "level-h:predictor=exact-match/key=prompt": "LEVEL-H+, prompt class",
}


def draw(tables):
    """A panel a factor."""
    rows = tables["robustness"]
    rows = rows[rows["policy"] != "jsq"].copy()
    rows["low"], rows["high"] = rows["ratio"] - rows["ratio_half"], rows["ratio"] + rows["ratio_half"]
    return curves(
        rows,
        x="value",
        y="ratio",
        series="policy",
        panel="factor",
        labels=LABELS,
        ylabel="imbalance of JSQ ÷",
        reference=1.0,
        across=2,
        height=3.0,
    )


def numbers(tables):
    """Ratios at the ends."""
    rows = tables["robustness"].set_index(["factor", "value", "policy"])["ratio"]
    names = {"br0": "br0", "brh": BRH, "plus": "level-plus", "zero": "level-plus:phi=0", "token": "token-jsq"}
    found = {}
    for key, policy in names.items():
        for text, factor, value in (
            ("minus", "prompt-output correlation", -0.9),
            ("indep", "prompt-output correlation", 0.0),
            ("plus", "prompt-output correlation", 0.9),
            ("low", "load", 0.6),
            ("nine", "load", 0.9),
            ("full", "load", 1.0),
        ):
            found[f"{key}_{text}"] = rows[(factor, value, policy)]
    return found
