"""Ratios to JSQ, one factor at a time."""

from lbtheory.plots.sweeps import curves

TITLE = "What could make the published ratio of 9.1 possible"
REFERENCE = "decode paper, Table 3, first workload"

LABELS = {
    "br0": "BR-0",
    "brh:beta=14.67,gamma=0.64": "BR-H oracle",
    "br0:greedy=0": "BR-0, S_greedy = 0",
    "brh:beta=14.67,gamma=0.64,greedy=0": "BR-H oracle, S_greedy = 0",
    "level-plus": "LEVEL+",
}


def draw(tables):
    """A panel a factor."""
    data = tables["decode-causes"]
    data = data[~data["policy"].isin(["jsq", "random"])].copy()
    data["low"], data["high"] = data["ratio"] - data["ratio_half"], data["ratio"] + data["ratio_half"]
    return curves(
        data,
        x="value",
        y="ratio",
        series="policy",
        panel="factor",
        labels=LABELS,
        ylabel="imbalance of JSQ ÷",
        xlog=2,
        ylog=True,
        reference=9.12,
        height=2.1,
    )


def numbers(tables):
    """The base, and the largest ratio of BR-H within each factor."""
    data = tables["decode-causes"]
    rows = data.set_index(["factor", "value", "policy"])["ratio"]
    small, limit = "brh:beta=14.67,gamma=0.64", "batch limit B"
    at_eight = data[(data["factor"] != limit) | (data["value"] == 8)]
    spare = data[data["factor"] == "slots B, 64 in flight"]
    spread = rows.loc["output CV"]
    published_load = data[(data["factor"] == limit) & (data["policy"] == "jsq")].set_index("value")["imbalance"]
    return {
        "base_br0": rows[(limit, 8, "br0")],
        "base_brh": rows[(limit, 8, small)],
        "base_greedy": rows[(limit, 8, f"{small},greedy=0")],
        "best_eight": at_eight[at_eight["policy"].str.startswith("br")]["ratio"].max(),
        "narrow": spread[(0.05, f"{small},greedy=0")],
        "shape_low": data[(data["factor"] == "prompt CV") & (data["policy"] == "br0")]["ratio"].min(),
        "shape_high": data[(data["factor"] == "prompt CV") & (data["policy"] == "br0")]["ratio"].max(),
        "spare_br": spare[spare["policy"].str.startswith("br")]["ratio"].max(),
        "spare_plus": spare[spare["policy"] == "level-plus"]["ratio"].max(),
        "spare_random": spare[spare["policy"] == "random"]["ratio"].min(),
        "br0_64": rows[(limit, 64, "br0")],
        "brh_64": rows[(limit, 64, small)],
        "brh_64_greedy": rows[(limit, 64, f"{small},greedy=0")],
        "jsq_64": published_load[64],
    }
