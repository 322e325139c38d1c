"""Regret: what each forecast costs in imbalance against the oracle."""

from lbtheory.plots.sweeps import dots

TITLE = "What each forecast costs against the oracle"
REFERENCE = "decode paper, section 6.2 (order of its gains)"

LABELS = {
    "oracle": "oracle",
    "noisy/error=0.3": "oracle, error 0.3",
    "noisy/error=1": "oracle, error 1",
    "exact-match/minimum=1": "ExactMatch, hash",
    "exact-match": "ExactMatch, 3 matches",
    "exact-match/key=prompt": "ExactMatch, prompt size",
    "learned/every=64/samples=20000": "learned trees",
    "survival": "Survival",
    "oracle,refresh=iteration,cap=1": "oracle, every iteration",
    "survival,refresh=iteration,cap=1": "Survival, every iteration",
    "survival,horizon=20": "Survival, H = 20",
    "survival,horizon=20,projection=hazard": "Survival, hazard, H = 20",
    "exact-match/minimum=1,horizon=20,projection=hazard": "ExactMatch, hazard, H = 20",
    "none": "none",
}
COLUMNS = {
    "workload": "workload",
    "family": "rule",
    "method": "forecast",
    "imbalance": "mean imbalance",
    "imbalance_half": "±",
    "excess": "less the oracle's",
    "excess_half": "±",
    "percent": "%",
    "wait_max": "longest wait, iterations",
    "nanoseconds": "ns a forecast",
}


def compare(tables):
    """The regret table."""
    data = tables["predictors"]
    cost = data[data["what"] == "cost"].set_index("forecast")["nanoseconds"]
    cost = cost.rename(lambda name: name.replace("+hazard", ",horizon=20,projection=hazard"))
    rows = _regret(tables)
    rows["method"] = rows["forecast"].map(LABELS)
    rows["nanoseconds"] = rows["forecast"].map(cost)
    return rows[list(COLUMNS)]


def draw(tables):
    """Regret as a percentage of the oracle's imbalance, a panel a workload."""
    rows = _regret(tables)
    rows = rows[rows["forecast"] != "oracle"].copy()
    order = {name: place for place, name in enumerate(LABELS)}
    rows = rows.sort_values("forecast", key=lambda c: c.map(order), kind="stable")
    panels = list(dict.fromkeys(_regret(tables)["workload"]))
    rows = rows.sort_values("workload", key=lambda c: c.map(panels.index), kind="stable")
    rows["low"], rows["high"] = rows["percent"] - rows["half"], rows["percent"] + rows["half"]
    return dots(
        rows,
        row="forecast",
        value="percent",
        series="family",
        panel="workload",
        labels=LABELS,
        tints={"BR-H": "#0072b2", "LEVEL-H+": "#882255"},
        xlabel="mean imbalance above that with the oracle's forecasts, % (95 % intervals)",
    )


def numbers(tables):
    """Regrets of BR-H in per cent, with half-widths, for the caption."""
    rows = _regret(tables)
    found = {}
    short = {
        "match": "exact-match/minimum=1",
        "survival": "survival",
        "none": "none",
        "each": "survival,refresh=iteration,cap=1",
        "hazard": "survival,horizon=20,projection=hazard",
        "twenty": "survival,horizon=20",
        "noisy": "noisy/error=1",
        "learned": "learned/every=64/samples=20000",
    }
    for label, workload in (
        ("recur", "hashes recur"),
        ("once", "no hash recurs"),
        ("tail", "long tail"),
        ("geo", "memoryless"),
    ):
        part = rows[(rows["workload"] == workload) & (rows["family"] == "BR-H")].set_index("forecast")
        for name, forecast in short.items():
            if forecast in part.index:
                found[f"{label}_{name}"], found[f"{label}_{name}_half"] = part.loc[forecast, ["percent", "half"]]
    level = rows[(rows["family"] == "LEVEL-H+") & (rows["forecast"] == "none")].set_index("workload")["percent"]
    found["level_low"], found["level_high"] = level[:4].min(), level[:4].max()
    costs = tables["predictors"]
    costs = costs[costs["what"] == "cost"].set_index("forecast")["nanoseconds"]
    found["cost"] = costs[~costs.index.str.endswith("hazard")].max()
    found["cost_hazard"] = costs[costs.index.str.endswith("hazard")].max()
    return found


def _regret(tables):
    data = tables["predictors"]
    rows = data[data["what"] == "regret"].copy()
    oracle = rows[rows["forecast"] == "oracle"].set_index(["workload", "family"])["imbalance"]
    base = [oracle[(r.workload, r.family)] for r in rows.itertuples()]
    rows["percent"], rows["half"] = 100 * rows["excess"] / base, 100 * rows["excess_half"] / base
    return rows
