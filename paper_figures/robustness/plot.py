"""Ratios to JSQ against correlation, load, spread of hazards, and dependence of releases on sizes."""

from lbtheory.plots.sweeps import curves

TITLE = "Robustness: other laws of requests and releases"
REFERENCE = "lbtheory; the decode paper's conclusion lists it as open"

BRH = "brh:beta=14.67,gamma=0.64"
LABELS = {
    BRH: "BR-H oracle",
    f"{BRH},predictor=class": "BR-H, class known",
    f"{BRH},predictor=survival": "BR-H Survival",
    "level-plus:phi=0": "LEVEL+, φ = 0",
    "level-h:predictor=class": "LEVEL-H+, class known",
}
PANELS = ("prompt-output correlation", "load", "long ÷ short mean output", "gaps ∝ size^power, load 0.9")


def draw(tables):
    """A panel a factor."""
    rows = tables["robustness"]
    rows = rows[rows["factor"].isin(PANELS) & (rows["policy"] != "jsq") & ~rows["policy"].str.startswith("separate")].copy()
    rows["policy"] = rows["policy"].str.replace(r"exact-match(/key=prompt)?", "class", regex=True)
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
        height=2.5,
        sharey=False,
    )


def numbers(tables):
    """Ratios at the ends."""
    rows = tables["robustness"].set_index(["factor", "value", "policy"])["ratio"]
    names = {"br0": "br0", "brh": BRH, "plus": "level-plus", "zero": "level-plus:phi=0", "token": "token-jsq"}
    found = {}
    for key, policy in names.items():
        for text, panel, value in (
            ("minus", 0, -0.9),
            ("indep", 0, 0.0),
            ("plus", 0, 0.9),
            ("low", 1, 0.6),
            ("nine", 1, 0.9),
            ("full", 1, 1.0),
            ("one", 2, 1.0),
            ("thirty", 2, 30.0),
            ("free", 3, 0.0),
            ("paced", 3, 1.0),
        ):
            if (PANELS[panel], value, policy) in rows.index:
                found[f"{key}_{text}"] = rows[(PANELS[panel], value, policy)]
    for key, policy in (("survival", f"{BRH},predictor=survival"), ("class", f"{BRH},predictor=exact-match")):
        found |= {f"{key}_{text}": rows[(PANELS[2], value, policy)] for text, value in (("one", 1.0), ("thirty", 30.0))}
    return found
