"""Mean imbalance against each parameter."""

import pandas as pd

from lbtheory.plots.sweeps import FORECASTS, curves

TITLE = "Sensitivity of BR-H"
REFERENCE = "decode paper, section 6.4 and EC.9"

COLUMNS = {
    "factor": "swept",
    "workers": "G",
    "value": "value",
    "policy": "policy",
    "series": "forecast or γ",
    "imbalance": "mean imbalance",
    "imbalance_half": "±",
    "ratio": "JSQ ÷",
    "ratio_half": "±",
    "tpot": "P95 ms",
    "throughput": "tok/s",
    "wait_max": "longest wait, iterations",
}
LEARNED = "learned/every=128/samples=20000"
TINTS = {**FORECASTS, "noisy/error=0.5": FORECASTS["noisy"], LEARNED: FORECASTS["learned"]}
MAP = {"0.5": "#c6dbef", "0.7": "#6baed6", "0.9": "#2171b5", "1.0": "#08306b"}


def compare(tables):
    """Every point."""
    rows = tables["sensitivity"].copy()
    rows["tpot"] = 1e3 * rows["tpot_p95"]
    return rows[list(COLUMNS)]


def draw(tables):
    """A panel a parameter at eight workers, and H at sixteen; the map has a line a discount."""
    rows = tables["sensitivity"]
    rows = rows[rows["value"].notna()].copy()
    names = {"published β": "β (γ = 0.9)", "published γ": "γ (β = 48)", "map": "β by γ"}
    rows["panel"] = [
        names.get(f, f) + ("" if g == 8 else ", G = 16") for f, g in zip(rows["factor"], rows["workers"], strict=True)
    ]
    rows = rows[(rows["workers"] == 8) | (rows["factor"] == "H")]
    rows["ratio_low"], rows["ratio_high"] = rows["ratio"] - rows["ratio_half"], rows["ratio"] + rows["ratio_half"]
    rows = rows.rename(columns={"ratio_low": "low", "ratio_high": "high"})
    rows["series"] = rows["series"].astype(str)
    order = ["β (γ = 0.9)", "γ (β = 48)", "β by γ", "H", "H, G = 16", "S_greedy", "R_max"]
    rows = pd.concat([rows[rows["panel"] == name] for name in order])
    return curves(
        rows,
        x="value",
        y="ratio",
        series="series",
        panel="panel",
        labels={name: f"γ = {name}" for name in MAP}
        | {
            "oracle": "oracle",
            "exact-match": "ExactMatch",
            "survival": "Survival",
            "noisy/error=0.5": "oracle, error 0.5",
            LEARNED: "learned",
        },
        tints=TINTS | MAP,
        ylabel="imbalance of JSQ ÷",
        xlog=2,
        height=1.9,
        sharey=False,
    )


def numbers(tables):
    """Ranges over the seven published configurations at eight workers, and over H."""
    rows = tables["sensitivity"]
    seven = rows[(rows["workers"] == 8) & rows["factor"].str.startswith("published") & rows["value"].notna()]
    jsq = rows[(rows["workers"] == 8) & (rows["policy"] == "jsq")].iloc[0]
    window = rows[(rows["factor"] == "H") & (rows["series"] == "oracle")]
    spread = {g: window[window["workers"] == g]["ratio"] for g in (8, 16)}
    blind = rows[(rows["factor"] == "H") & (rows["series"] == "survival") & (rows["workers"] == 8)].set_index("value")["ratio"]
    greedy = rows[(rows["factor"] == "S_greedy") & (rows["workers"] == 8)].set_index("value")["ratio"]
    capped = rows[rows["factor"] == "methods, cap 64"].set_index(["workers", "policy"])["ratio"]
    names = {"br0": "br0", "brh": "brh:beta=48,gamma=0.9", "plus": "level-plus", "h": "level-h"}
    window_size = rows[(rows["factor"] == "R_max") & (rows["workers"] == 8)].set_index("value")["ratio"]
    return {
        "low": seven["throughput"].min(),
        "high": seven["throughput"].max(),
        "tpot_low": 1e3 * seven["tpot_p95"].min(),
        "tpot_high": 1e3 * seven["tpot_p95"].max(),
        "jsq": jsq["throughput"],
        "jsq_tpot": 1e3 * jsq["tpot_p95"],
        "ratio_low": seven["ratio"].min(),
        "ratio_high": seven["ratio"].max(),
        "h_low_8": spread[8].min(),
        "h_high_8": spread[8].max(),
        "h_low_16": spread[16].min(),
        "h_high_16": spread[16].max(),
        "survival_10": blind[10.0],
        "survival_80": blind[80.0],
        "greedy_0": greedy[0.0],
        "greedy_4": greedy[4.0],
        "window_1": window_size[1.0],
        "window_4": window_size[4.0],
        "window_12": window_size[12.0],
        **{f"{key}_cap": capped[(8, policy)] for key, policy in names.items()},
        **{f"{key}_cap_16": capped[(16, policy)] for key, policy in names.items()},
    }
